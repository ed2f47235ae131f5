"""Builds the manual's site into a temporary folder: all of it is there, nothing is from elsewhere,
and no link within it is broken."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from links import broken_links

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "tools/manual/build"
# What a browser fetches by itself; links that a reader follows may lead anywhere.
FETCHED = re.compile(
    r'(?:\bsrc=|<link[^>]*\bhref=|url\(|@import |importScripts\(|fetch\()["\']?(?:https?:)?//[^"\')>\s]+'
)
LIMIT = 2 << 20  # bytes, so that a program can hold the site


def main() -> int:
    if shutil.which("mkdocs") is None:
        print("skipped, the site was not built: mkdocs is not installed (tools/install manual)")
        return 77
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        site = Path(name) / "site"
        subprocess.run([BUILD, site], check=True)
        files = [file for file in site.rglob("*") if file.is_file()]
        for file in files:
            if file.suffix in (".html", ".css", ".js"):
                for found in FETCHED.findall(file.read_text()):
                    wrong.append(f"{file.relative_to(site)} fetches {found}")
        wrong += broken_links(site)
        total = sum(file.stat().st_size for file in files)
        if total > LIMIT:
            wrong.append(f"the site has {total} bytes, {LIMIT} at most")
        index = json.loads((site / "search/search_index.json").read_text())
        found_by = {entry["location"].partition("#")[0] for entry in index["docs"]}
        for page in (ROOT / "tools/manual/pages").glob("*.md"):
            html = page.stem + ".html"
            if not (site / html).exists() or html not in found_by:
                wrong.append(f"{page.name} is no page of the site that can be searched")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
