"""The fenced blocks of a page of the manual, and whether an output is the one that it shows."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

FENCE = re.compile(r"^```(?:\{(?P<attributes>[^}]*)\}|(?P<language>[\w+-]*))\s*$")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TOLERANCE = 0.05


@dataclasses.dataclass
class Block:
    """A fenced block: line is that of its first line of text, counted from 1."""

    line: int
    language: str
    title: str
    again: bool
    text: str

    @property
    def not_run(self) -> str:
        """Why nobody runs it; empty: it is run."""
        return self.title.partition("not run:")[2].strip()

    @property
    def needs(self) -> str:
        """What it cannot be run without, beside Windhover; empty: nothing."""
        return self.title.removeprefix("needs ") if self.title.startswith("needs ") else ""


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    found: list[Block] = []
    opened: re.Match[str] | None = None
    body: list[str] = []
    start = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if opened is None:
            if line.startswith("```"):
                opened = FENCE.match(line)
                if opened is None:
                    raise ValueError(f"{page.name}:{number}: this fence is not understood: {line}")
                body, start = [], number + 1
        elif line.startswith("```"):
            attributes = opened["attributes"] or "." + (opened["language"] or "")
            title = re.search(r'title="([^"]*)"', attributes)
            classes = re.findall(r"\.([\w+-]+)", re.sub(r'"[^"]*"', "", attributes))
            found.append(
                Block(
                    start,
                    classes[0] if classes else "",
                    title[1] if title else "",
                    "again" in classes,
                    "\n".join(body) + "\n",
                )
            )
            opened = None
        else:
            body.append(line)
    if opened is not None:
        raise ValueError(f"{page.name}:{start}: this block is not closed")
    return found


def same_number(shown: str, said: str) -> bool:
    """Whole numbers of up to four digits are equal; others agree within 5 %, or one in the last digit."""
    if re.fullmatch(r"[-+]?\d{1,4}", shown) and re.fullmatch(r"[-+]?\d+", said):
        return shown == said
    mantissa, _, exponent = shown.partition("e")
    last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(shown) - float(said)) <= max(TOLERANCE * abs(float(shown)), 1.01 * last_digit)


def same_line(shown: str, said: str) -> bool:
    """Whether a line that a page shows is the one that was said; ... stands for anything."""
    pattern = ""
    for piece in re.split(rf"(\.\.\.|\s+|{NUMBER.pattern})", shown.strip()):
        if piece == "...":
            pattern += ".*?"
        elif piece.isspace():
            pattern += r"\s+"
        elif NUMBER.fullmatch(piece):
            pattern += f"({NUMBER.pattern})"
        else:
            pattern += re.escape(piece)
    match = re.fullmatch(pattern, said.strip())
    if match is None:
        return False
    numbers = NUMBER.findall(shown.replace("...", " "))
    return all(same_number(a, b) for a, b in zip(numbers, match.groups(), strict=True))


def missing_line(shown: str, output: str) -> str | None:
    """The first line of `shown` that does not come in `output`, after those before it."""
    said = iter(output.splitlines())
    for line in shown.splitlines():
        if line.strip() in ("", "..."):
            continue
        if not any(same_line(line, candidate) for candidate in said):
            return line
    return None
