"""The links of a site of plain files: those within it that lead to nothing, and those elsewhere that
have the form of none. Nobody asks whether there is something elsewhere: that takes a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ELSEWHERE = re.compile(r"[a-z]+:|//")


# A link to a page elsewhere: encrypted, at a host with a name, and without the punctuation that a
# text ended with. A server of one's own is on this machine.
OUTSIDE = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[^\s<>\"'`]*)?(?<![.,;:!?)(\[\]])")
HERE = re.compile(r"https?://(127\.0\.0\.1|localhost)(:\d+)?(/\S*)?")


def is_well_formed(target: str) -> bool:
    """Of a link elsewhere: parentheses come in pairs, as those of an encyclopedia's pages do."""
    if target.startswith("mailto:"):
        return re.fullmatch(r"mailto:[^\s@]+@[^\s@]+", target) is not None
    closed = target.count("(") == target.count(")")
    ends = target[:-1] if target.endswith(")") else target
    return closed and any(form.fullmatch(ends) for form in (OUTSIDE, HERE))


class Links(HTMLParser):
    """What a page links to and shows, and the places in it that a link may name."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")


def broken_links(site: Path) -> list[str]:
    """A line for each link of a page of the site that leads to nothing of it, or is none."""
    site = site.resolve()
    pages = {page: Links(page) for page in sorted(site.rglob("*.html"))}
    broken: list[str] = []
    for page, links in pages.items():
        for target in links.targets:
            if ELSEWHERE.match(target):
                if not is_well_formed(target):
                    broken.append(f"{page.relative_to(site)} links to {target}: this is no link")
                continue
            parts = urlsplit(target)
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if file.is_dir():
                file = file / "index.html"
            if not file.is_relative_to(site) or not file.is_file():
                why = "there is no such file"
            elif (
                parts.fragment
                and file in pages
                and unquote(parts.fragment) not in pages[file].places
            ):
                why = "there is no such place in it"
            else:
                continue
            broken.append(f"{page.relative_to(site)} links to {target}: {why}")
    return broken
