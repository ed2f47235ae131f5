"""The manual as a daemon serves it at /docs: every page, every link within it, its search index, and
nothing but it. Of a daemon that was built without mkdocs: that it says so.

    tests/manual/served.py WINDHOVERD
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from links import ELSEWHERE, Links

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "csv": "text/csv; charset=utf-8",
    "awk": "text/plain; charset=utf-8",
}
# What scripts fetch, and no page names.
UNNAMED = ["search/worker.js", "search/lunr.js", "search/search_index.json"]
OUTSIDE = ["../v1/status", "..%2fmetrics", "%2e%2e/metrics", "//index.html", "data/make_houses.py"]


class Server:
    """A daemon that wants a token, and answers to those who have none."""

    def __init__(self, program: str, folder: Path) -> None:
        identities = folder / "identities"
        identities.write_text(f"somebody query * {'0' * 64}\n")
        identities.chmod(0o600)
        ports = [f"--server.{name}.tcp_port=0" for name in ("observe", "query", "http")]
        address = "--server.http.tcp_address=127.0.0.1"
        who = f"--server.identities_file={identities}"
        command = [program, "--model.features=1", *ports, address, who]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        self.connection = http.client.HTTPConnection(
            re.findall(r" http=(\S+)", ready)[0], timeout=60
        )

    def get(self, path: str) -> tuple[int, str, bytes]:
        self.connection.request("GET", path)
        response = self.connection.getresponse()
        return response.status, response.headers["Content-Type"] or "", response.read()

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def crawl(server: Server, folder: Path) -> tuple[list[str], set[str]]:
    """What is wrong with what can be reached from the first page, and all that can."""
    wrong: list[str] = []
    places: dict[str, set[str]] = {}
    named: list[tuple[str, str]] = []
    left = ["/docs/", *(f"/docs/{path}" for path in UNNAMED)]
    seen = set(left)
    while left:
        path = left.pop()
        status, kind, body = server.get(path)
        if status != 200:
            wrong.append(f"{path} answers {status}")
            continue
        expected = TYPES.get(path.rpartition(".")[2] if not path.endswith("/") else "html")
        if kind != expected:
            wrong.append(f"{path} is {kind}, not {expected}")
        if not kind.startswith("text/html"):
            continue
        page = folder / "page.html"
        page.write_bytes(body)
        links = Links(page)
        places[path] = links.places
        for target in links.targets:
            if ELSEWHERE.match(target):
                continue
            parts = urlsplit(urljoin(path, target))
            named.append((parts.path, unquote(parts.fragment)))
            if parts.path not in seen:
                seen.add(parts.path)
                left.append(parts.path)
    wrong += [
        f"there is no place {fragment} in {path}"
        for path, fragment in named
        if fragment and path in places and fragment not in places[path]
    ]
    return wrong, seen


def judge(server: Server, folder: Path) -> list[str]:
    wrong, seen = crawl(server, folder)
    wrong += [f"{path} is no part of the manual" for path in seen if not path.startswith("/docs/")]
    index = json.loads(server.get("/docs/search/search_index.json")[2])
    for entry in index["docs"]:
        path = urljoin("/docs/", entry["location"]).partition("#")[0]
        if path not in seen:
            wrong.append(f"the search finds {path}, which no page links to")
    pages = Path(__file__).resolve().parents[2] / "tools/manual/pages"
    for file in pages.glob("*.md"):
        if f"/docs/{file.stem}.html" not in seen:
            wrong.append(f"{file.name} is not served")
    for path in OUTSIDE:
        status = server.get(f"/docs/{path}")[0]
        if status != 404:
            wrong.append(f"/docs/{path} answers {status}")
    if server.get("/v1/status")[0] != 401:
        wrong.append("the server asks nobody who they are")
    return wrong


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="windhover_manual_") as name:
        server = Server(sys.argv[1], Path(name))
        try:
            status, _, body = server.get("/docs/")
            if status == 404 and b"built without its manual" in body:
                print("skipped, the manual is not in windhoverd: mkdocs was not there to build it")
                return 77
            wrong = judge(server, Path(name))
        finally:
            server.stop()
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
