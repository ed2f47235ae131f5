#!/usr/bin/env python3
"""Runs the steps of the Containerfile in roots made by mmdebstrap, and what they make: it starts as
its own user, is healthy, learns, keeps its rows, and ends in order.

    tests/packages/container.py     as root, with WINDHOVER_LONG set; says Skipped, and why, where it
                                    cannot. WINDHOVER_CCACHE: a folder of ccache's to begin with
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
IMAGE = "debian:bookworm-slim"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Failed(Exception):
    """What is not so."""


def instructions(text: str) -> list[tuple[str, str]]:
    """Of a Containerfile: each instruction and what stands behind it."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n", " ", "\n".join(lines))
    found = [line.strip().split(None, 1) for line in whole.splitlines() if line.strip()]
    return [(words[0].upper(), words[1]) for words in found]


class Stage:
    """An image as a root, and how a container of it starts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = "/"
        self.user = "root"
        self.entrypoint: list[str] = []
        self.health: list[str] = []
        self.ports: list[str] = []

    def command(self, words: list[str]) -> list[str]:
        environment = ["env", "-i", f"PATH={PATH}", "DEBIAN_FRONTEND=noninteractive", "HOME=/root"]
        if (self.root / "ccache").is_dir():
            environment += ["CCACHE_DIR=/ccache", "CCACHE_BASEDIR=/src"]
        moved = ["sh", "-c", f'cd {shlex.quote(self.folder)} && exec "$@"', "sh", *words]
        who = f"--userspec={self.user}:{self.user}"
        return ["chroot", who, str(self.root), *environment, *moved]

    def run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(words), capture_output=True, text=True, check=False)

    def place(self, path: str) -> Path:
        return self.root / os.path.join(self.folder, path).lstrip("/")


def copy(source: Path, to: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, to, symlinks=True, dirs_exist_ok=True)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to)


def copy_tree(to: Path) -> None:
    """What .dockerignore leaves of a checkout: what git knows, or would."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=TREE, check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\0"):
        if name and (TREE / name).is_file():
            copy(TREE / name, to / name)


class Builder:
    """Takes the instructions one by one."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.stages: dict[str, Stage] = {}
        self.stage = Stage(work)

    def begin(self, what: str) -> None:
        words = what.split()
        if words[0] != IMAGE:
            raise Failed(f"the image {words[0]} is {IMAGE}")
        root = self.work / f"root{len(self.stages)}"
        subprocess.run(["cp", "-a", self.work / "slim", root], check=True)
        self.stage = Stage(root)
        name = words[2] if len(words) == 3 and words[1].upper() == "AS" else str(len(self.stages))
        self.stages[name] = self.stage

    def copy(self, what: str) -> None:
        words = what.split()
        if words[0].startswith("--from="):
            source = self.stages[words[0][len("--from=") :]].root / words[1].lstrip("/")
            copy(source, self.stage.place(words[2]))
        elif words == [".", "."]:
            copy_tree(self.stage.place("."))
            if ccache := os.environ.get("WINDHOVER_CCACHE"):
                copy(Path(ccache), self.stage.root / "ccache")
        else:
            copy(TREE / words[0], self.stage.place(words[1]))

    def step(self, name: str, what: str) -> None:
        stage = self.stage
        if name == "FROM":
            self.begin(what)
        elif name == "WORKDIR":
            stage.folder = what
            stage.place(".").mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            self.copy(what)
        elif name == "RUN":
            done = stage.run(["sh", "-c", what])
            if done.returncode:
                raise Failed(f"RUN {what} succeeds\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        elif name == "USER":
            stage.user = what
        elif name == "EXPOSE":
            stage.ports = what.split()
        elif name == "HEALTHCHECK":
            stage.health = json.loads(what[what.index("CMD ") + 4 :])
        elif name == "ENTRYPOINT":
            stage.entrypoint = json.loads(what)
        elif name != "VOLUME":
            raise Failed(f"{name} is an instruction that this test knows")


def check(stage: Stage, folder: Path) -> None:
    """What a user of the image has of it."""
    listens = (stage.root / "etc/windhover/windhoverd.toml").read_text()
    for port in stage.ports:
        if f"tcp_port = {port} " not in listens:
            raise Failed(f"it listens on {port}, which is exposed")
    # The image's own words to who says nothing: a model is missing, then who may come.
    given: list[tuple[str, list[str]]] = [("model", []), ("serve_anyone", ["--model.features=1"])]
    for word, flags in given:
        said = stage.run([*stage.entrypoint, *flags])
        if said.returncode != 2 or word not in said.stderr:
            raise Failed(f"with {flags} it says what is missing: {said.stderr}")
    if stage.run(stage.health).returncode == 0:
        raise Failed("nobody is healthy who is not there")
    awk = 'BEGIN { srand(1); for (i = 0; i < 3000; ++i) { x = rand(); print x "," 2 + 3 * x + sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) / 9 } }'
    rows = subprocess.run(["awk", awk], check=True, capture_output=True, text=True).stdout
    (stage.root / "tmp/line.csv").write_text("x,y\n" + rows)
    file, schema, to = "/tmp/line.csv", "/tmp/line.toml", "unix:/run/windhover/"
    columns = stage.run(["windhover", "schema", file, "--target", "y"]).stdout
    (stage.root / schema[1:]).write_text(columns)
    for turn in range(2):  # the second finds what the first has kept
        served = serve(stage, folder, schema)
        try:
            wait_for(stage, stage.health, "healthy")  # the process is, before its first rows, too
            if turn == 0:
                send = ["windhover", "send", file, "--schema", schema, "--to", f"{to}observe"]
                if (sent := stage.run(send)).returncode:
                    raise Failed(f"rows are sent: {sent.stderr}")
            wait_for(stage, ["windhover", "health", "--to", f"{to}query"], "ok")
            ask = ["windhover", "predict", "--schema", schema, "--set", "x=0.5"]
            answer = stage.run([*ask, "--to", f"{to}query"]).stdout
            if not re.search(r"mean 3\.(49|50)", answer) or "3000 rows" not in answer:
                raise Failed(f"it predicts 2 + 3 / 2: {answer}")
        finally:
            served.send_signal(signal.SIGTERM)
            code = served.wait()
        if code:
            raise Failed(f"it ends in order, not with {code}")


def serve(stage: Stage, folder: Path, schema: str) -> subprocess.Popen[bytes]:
    # Ports that nobody else has: the network is the machine's.
    ports = [f"--server.{name}.tcp_port=0" for name in ("observe", "query", "http")]
    command = [*stage.entrypoint, f"--model.schema={schema}", "--server.serve_anyone=true", *ports]
    said = folder / "said"
    with said.open("wb") as out:
        served = subprocess.Popen(stage.command(command), stdout=out, stderr=out)
    while b"\nready " not in b"\n" + said.read_bytes():
        if served.poll() is not None:
            raise Failed(f"it gets ready\n{said.read_text()}")
        time.sleep(0.1)
    if Path(f"/proc/{served.pid}").stat().st_uid != 7171:
        raise Failed("it runs as its own user")
    return served


def wait_for(stage: Stage, command: list[str], what: str) -> None:
    deadline = time.monotonic() + 60
    while (said := stage.run(command)).returncode:
        if time.monotonic() > deadline:
            raise Failed(f"it gets {what}: {said.stdout}{said.stderr}")
        time.sleep(0.2)


def reason_to_skip() -> str:
    if not os.environ.get("WINDHOVER_LONG"):
        return "it takes ten minutes; tools/test --long does it"
    if os.getuid() != 0:
        return "only root can make a root to build in"
    for program in ("mmdebstrap", "git", "chroot"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return ""


def main() -> int:
    if why := reason_to_skip():
        print(f"skipped, the Containerfile was not tried: {why}")
        return 77
    with tempfile.TemporaryDirectory(prefix="windhover_container_") as name:
        work = Path(name)
        work.chmod(0o755)  # or the image's user could not reach its root
        base = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "bookworm"]
        if subprocess.run([*base, work / "slim"], check=False).returncode:
            print("skipped, the Containerfile was not tried: no Debian could be had")
            return 77
        shutil.copy("/etc/resolv.conf", work / "slim/etc/resolv.conf")
        builder = Builder(work)
        try:
            for instruction, what in instructions((TREE / "Containerfile").read_text()):
                print(f"== {instruction} {what}", flush=True)
                builder.step(instruction, what)
            check(builder.stage, work)
        except Failed as failure:
            print(f"not so: {failure}")
            return 1
    print("all of it is so")
    return 0


if __name__ == "__main__":
    sys.exit(main())
