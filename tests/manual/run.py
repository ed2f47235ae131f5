"""Runs every block of the manual's pages and compares what comes with what the page shows.

    tests/manual/run.py WINDHOVERD WINDHOVER BUILD_FOLDER [PAGE...]

A page is one shell in one new folder that holds the pages' data; `windhover` and `windhoverd` are
those of the command line, and its ports are free ones. By the fence of a block:

    ```sh                       is run; it must end with 0, and so must each part of a pipe
    ```{ .sh .again }           is run until its output is the one shown, 30 s at most
    ```text                     after one of these: lines of its output, in order; `...` is anything
    ```{ .LANG title="NAME" }   is written to the file NAME of that folder
    ```{ .sh title="needs PROGRAM" }  is run where this one of NEEDED is there, or counted
    ```{ ... title="not run: WHY" }   is counted

Whole numbers of up to four digits must be equal, others within 5 %. Exit code 1: a block failed; 77: a
program is missing.
"""

from __future__ import annotations

import concurrent.futures
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pages import Block, blocks, missing_line

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/manual"))
PAGES = ROOT / "tools/manual/pages"
PORTS = ["7171", "7172", "7173", "7174", "9101"]
DEADLINE = 30.0
NEEDED = {
    "r-cran-rstan": ["Rscript", "-e", "library(rstan); library(BH)"],
    "python3-sklearn": ["python3", "-c", "import sklearn"],
}
SHELL = """
set -o pipefail
while read -r __script; do
  __failed=0
  trap '[[ $__failed != 0 ]] || __failed=$LINENO' ERR
  . "$__script" </dev/null
  trap - ERR
  echo "$__failed" >"$__script.end.new"
  mv "$__script.end.new" "$__script.end"
done
"""


def is_there(program: str) -> bool:
    """REQUIRES: it is one of NEEDED."""
    command = NEEDED[program]
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Failed(Exception):
    """What is wrong, with page and line."""


def free_ports() -> dict[str, str]:
    """A free port for each that pages name, below those that the system gives to connections."""
    chosen: dict[str, str] = {}
    while len(chosen) < len(PORTS):
        port = random.randrange(10_000, 30_000)
        with socket.socket() as attempt:
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
        if str(port) not in chosen.values():
            chosen[PORTS[len(chosen)]] = str(port)
    return chosen


class Page:
    """One page being run. Its shell, and all that it started, end with stop()."""

    def __init__(self, path: Path, programs: Path, environment: dict[str, str]) -> None:
        self.name = path.name
        self.blocks = blocks(path)
        self.ports = free_ports()
        self.folder = Path(tempfile.mkdtemp(prefix="windhover_manual_"))
        for file in (PAGES / "data").iterdir():
            if file.is_file():
                shutil.copy(file, self.folder)
        self.scripts = Path(tempfile.mkdtemp(prefix="windhover_manual_"))
        self.output = self.scripts / "output"
        self.read_so_far = 0
        path_list = f"{programs}:{os.environ['PATH']}"
        with self.output.open("wb") as output:
            self.shell = subprocess.Popen(
                ["bash", "--norc", "--noprofile", "-c", SHELL],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={**environment, "PATH": path_list, "LC_ALL": "C.UTF-8"},
                start_new_session=True,
                text=True,
            )

    def with_ports(self, text: str, back: bool = False) -> str:
        pairs = {v: k for k, v in self.ports.items()} if back else self.ports
        return re.sub(rf"\b({'|'.join(pairs)})\b", lambda match: pairs[match[0]], text)

    def said(self) -> str:
        """What has been written since the last block began, with the page's ports."""
        with self.output.open("rb") as output:
            output.seek(self.read_so_far)
            return self.with_ports(output.read().decode(errors="replace"), back=True)

    def run(self, block: Block) -> None:
        """Has the shell run a block to its end; fails where a command of it does."""
        self.read_so_far = self.output.stat().st_size
        script = self.scripts / f"{block.line}_{time.monotonic_ns()}.sh"
        script.write_text(self.with_ports(block.text))
        assert self.shell.stdin is not None
        self.shell.stdin.write(f"{script}\n")
        self.shell.stdin.flush()
        end = Path(f"{script}.end")
        deadline = time.monotonic() + 10 * DEADLINE  # one builds three programs
        while not end.exists():
            if self.shell.poll() is not None:
                raise Failed(f"{self.name}:{block.line}: the shell ended\n{self.said()}")
            if time.monotonic() > deadline:
                raise Failed(f"{self.name}:{block.line}: it does not end\n{self.said()}")
            time.sleep(0.01)
        failed = int(end.read_text())
        if failed:
            line = block.line + failed - 1
            raise Failed(f"{self.name}:{line}: this command failed\n{self.said()}")

    def run_as_shown(self, block: Block, shown: Block | None) -> None:
        """Runs a block; what comes of it, now or a little later, is what the page shows."""
        deadline = time.monotonic() + DEADLINE
        self.run(block)
        while shown is not None:
            line = missing_line(shown.text, self.said())
            if line is None:
                return
            if time.monotonic() > deadline or not (block.again or "&\n" in block.text):
                raise Failed(
                    f"{self.name}:{shown.line}: this line did not come: {line}\n"
                    f"what came:\n{self.said()}"
                )
            time.sleep(0.1)
            if block.again:
                self.run(block)

    def run_all(self) -> tuple[int, list[str]]:
        """How many blocks were run, and those that were not, each with its reason."""
        ran = 0
        left_out: list[str] = []
        before: Block | None = None
        for block, after in zip(self.blocks, [*self.blocks[1:], None], strict=True):
            shown = after if after is not None and after.language == "text" else None
            if block.not_run:
                left_out.append(f"{self.name}:{block.line}: {block.not_run}")
            elif block.needs and not is_there(block.needs):
                left_out.append(f"{self.name}:{block.line}: {block.needs} is not installed")
            elif block.title and not block.needs:
                # Imported here, so that the tests of this file need no MkDocs.
                import hooks

                (self.folder / block.title).write_text(
                    self.with_ports(hooks.with_files(block.text))
                )
                ran += 1
            elif block.language == "sh":
                self.run_as_shown(block, shown)
                ran += 1
            elif block.language == "text" and before is not None and before.language == "sh":
                pass  # looked at with it, or not run like it
            else:
                raise Failed(f"{self.name}:{block.line}: nothing says how to run this block")
            before = block
        return ran, left_out

    def stop(self) -> None:
        assert self.shell.stdin is not None
        self.shell.stdin.close()
        try:
            os.killpg(self.shell.pid, signal.SIGTERM)
            self.shell.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        for _ in range(100):  # daemons that the shell left behind
            try:
                os.killpg(self.shell.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.05)
        else:
            os.killpg(self.shell.pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.scripts, ignore_errors=True)


def run_page(path: Path, programs: Path, environment: dict[str, str]) -> tuple[int, list[str], str]:
    """Runs one page; the last of what comes back is what went wrong."""
    page = Page(path, programs, environment)
    began = time.monotonic()
    try:
        ran, left_out = page.run_all()
        if PAGES in path.parents:
            print(f"{path.name}: {ran} blocks in {time.monotonic() - began:.1f} s", flush=True)
        return ran, left_out, ""
    except Failed as failure:
        return 0, [], str(failure)
    finally:
        page.stop()


def node_modules() -> str:
    """Where npm's packages are looked for: NODE_PATH, where `tools/install check` puts them, and
    what npm has installed for all."""
    found = [os.environ.get("NODE_PATH", ""), str(ROOT / "build/npm/node_modules")]
    if shutil.which("npm") is not None:
        said = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False)
        found.append(said.stdout.strip())
    return ":".join(path for path in found if path)


def missing_programs(environment: dict[str, str]) -> dict[str, str]:
    """The pages that cannot be run here, each with the reason."""
    missing: dict[str, str] = {}
    command = ["node", "-e", "require('protobufjs')"]
    if shutil.which("node") is None:
        missing["protocol"] = "node is not installed"
    elif subprocess.run(command, capture_output=True, env=environment, check=False).returncode:
        missing["protocol"] = "protobufjs is not installed (npm install -g protobufjs)"
    return missing


def main() -> int:
    daemon, program, build = (Path(argument).resolve() for argument in sys.argv[1:4])
    chosen = sys.argv[4:]
    pages = [p for p in sorted(PAGES.glob("*.md")) if not chosen or p.stem in chosen]
    if unknown := set(chosen) - {page.stem for page in pages}:
        sys.exit(f"there is no page {', '.join(sorted(unknown))}; pages are named without .md")
    for name in [name for name in ("awk", "bash", "curl", "openssl") if shutil.which(name) is None]:
        print(f"skipped, the manual was not tried: {name} is not installed")
        return 77
    environment = {**os.environ, "WINDHOVER_SOURCE": str(ROOT), "WINDHOVER_BUILD": str(build)}
    environment["NODE_PATH"] = node_modules()
    for page, why in missing_programs(environment).items():
        if any(p.stem == page for p in pages):
            print(f"skipped: {page}.md: {why}")
            pages = [p for p in pages if p.stem != page]
    with tempfile.TemporaryDirectory(prefix="windhover_manual_") as programs:
        if any(page.stem == "embedding" for page in pages):
            environment["PREFIX"] = f"{programs}/prefix"
            install = ["cmake", "--install", str(build), "--prefix", environment["PREFIX"]]
            subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        for file in (daemon, program):
            (Path(programs) / file.name).symlink_to(file)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            results = list(pool.map(lambda p: run_page(p, Path(programs), environment), pages))
    ran = sum(result[0] for result in results)
    left_out = [line for result in results for line in result[1]]
    failures = [result[2] for result in results if result[2]]
    for line in left_out:
        print(f"not run: {line}")
    for failure in failures:
        print(f"failed: {failure}")
    print(
        f"{ran} blocks of {len(pages)} pages run, {len(left_out)} not run, {len(failures)} pages failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
