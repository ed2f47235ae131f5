"""Schemas: what a data frame's columns are, and how they become the numbers that a model gets.

The command `windhover` does the work (package `windhover`), so that a frame becomes the same rows as
a file with the same cells: it is found in PATH, or by the environment variable WINDHOVER.

    schema = windhover.Schema.of(frame, target="price")     # text, dates, empty cells: found out
    schema.save("houses.toml")                               # windhoverd --model.schema houses.toml
    rows = schema.rows(frame)
    m.observe(rows.X, rows.y, **rows.extras)
    asked = schema.questions([{"sqm": 85, "district": "north"}])
    m.predict(asked.X, **asked.extras).interval(0.9)
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import cells
from .daemon import find_program
from .errors import InvalidInput
from .rows import SparseRows

Frame = Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class EncodedRows:
    """Rows as a model gets them.

    Attributes:
        X: shape (n, features), or SparseRows where the schema is sparse.
        y: shape (n,); None of questions.
        index: shape (n,): the place of each in the frame, from 0. Observations that lack a value
            are left out where the schema says so.
        extras: `offsets`, `weights` and `trials`, those that there are: for observe() and predict().
    """

    X: Any
    y: NDArray[np.float64] | None
    index: NDArray[np.int64]
    extras: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.index)


class Schema:
    """How named fields become features and target. Immutable; threads may share one.

    Attributes:
        text: as a file, TOML (tools/data/schema.md has its keys).
        names: of the features, in their order; None where they are hashed.
        target: the field that is predicted.
        classes: what its classes 0, 1, ... are called; empty where it is a number.
        fingerprint: of all that gives the columns their meaning. `connect(schema=)` compares it with
            that of the server's schema.
    """

    def __init__(self, text: str) -> None:
        """
        Raises:
            InvalidInput: it is no schema. A draft's gaps are found when it is to make rows.
            DaemonFailed: there is no `windhover` command.
        """
        self.text = text
        found = json.loads(self._run("schema", "--json"))
        written = found.get("file", {})
        self._form = cells.Form(
            separator=written.get("separator", ","),
            header=written.get("header", True),
            quotes=written.get("quotes", True),
            decimal=written.get("decimal", "."),
        )
        self._sparse = bool(found.get("sparse", False))
        self._extras = {
            "offsets": "exposure" in found or "offset" in found,
            "weights": "weight" in found,
            "trials": "trials" in found,
        }
        self.target: str = found["target"]
        self.classes: tuple[str, ...] = tuple(found["classes"])
        self.fingerprint = int(found["fingerprint"], 16)
        hashed = any(feature["kind"] == "hash" for feature in found["features"])
        named = [] if hashed else [name for f in found["features"] for name in f["columns"]]
        self.names: tuple[str, ...] | None = None if hashed else tuple(named)

    @classmethod
    def of(cls, frame: Frame, target: str, *options: str) -> Schema:
        """Finds out what the columns are, as `windhover schema FILE --target TARGET` does.

        Args:
            options: of that command, as in `"--leave-out", "id"`.

        Raises:
            InvalidInput: it cannot tell; the text says what to say.
        """
        with tempfile.TemporaryDirectory(prefix="windhover-") as folder:
            path = Path(folder, "frame.csv")
            path.write_bytes(cells.csv_of(frame, cells.Form()))
            words = ["schema", str(path), f"--target={target}", *options]
            said = _output(words, "the frame", path).decode()
        return cls(said.replace(str(path), "the frame"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        return cls(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_text(self.text, encoding="utf-8")

    def rows(self, frame: Frame, *, allow_skipped: bool = False) -> EncodedRows:
        """Observations.

        Args:
            frame: a data frame, columns by name, or rows by name (`[{"sqm": 85}, ...]`). None, NaN
                and NaT are missing values; columns that the schema does not know say nothing.
            allow_skipped: leave out rows whose cells cannot be read, too.

        Raises:
            InvalidInput: a column is missing, or a cell is not what the schema expects; the line
                named counts from 1, the header's.
        """
        more = ["--allow-skipped"] if allow_skipped else []
        return self._encoded(frame, True, more)

    def questions(self, frame: Frame) -> EncodedRows:
        """Questions: as rows(), without the target. None is left out: one that cannot be asked is
        an InvalidInput."""
        return self._encoded(frame, False, ["--questions"])

    def _encoded(self, frame: Frame, observed: bool, options: list[str]) -> EncodedRows:
        data = cells.csv_of(frame, self._form)
        text = io.StringIO(self._run("encode", *options, data=data).decode(), newline="")
        extras = [
            name
            for name, there in self._extras.items()
            if there and (observed or name != "weights")
        ]
        lead = 1 + observed + len(extras)
        width = len(next(csv.reader(text)))  # names may go on over several lines
        x: Any
        if self._sparse:
            lines = [line.rstrip("\n").split(",", lead) for line in text]
            numbers = np.array([line[:lead] for line in lines], dtype=float).reshape(-1, lead)
            x = _sparse([line[lead] for line in lines])
        else:
            rest = text.read().rstrip("\n").replace("\n", ",")
            numbers = np.fromstring(rest, sep=",") if rest else np.empty(0)
            numbers = numbers.reshape(-1, width)
            x = numbers[:, lead:]
        columns = {name: numbers[:, i].copy() for i, name in enumerate(extras, lead - len(extras))}
        y = numbers[:, 1].copy() if observed else None
        return EncodedRows(x, y, numbers[:, 0].astype(np.int64) - 1, columns)

    def _run(self, command: str, *options: str, data: bytes | None = None) -> bytes:
        with tempfile.TemporaryDirectory(prefix="windhover-") as folder:
            path = Path(folder, "schema.toml")
            path.write_text(self.text, encoding="utf-8")
            words = [command, *([] if data is None else ["-"]), "--schema", str(path), *options]
            return _output(words, "the schema", path, data)


def _output(words: list[str], what: str, path: Path, data: bytes | None = None) -> bytes:
    program = find_program(None, "windhover", "install the package windhover")
    done = subprocess.run([program, *words], input=data or b"", capture_output=True)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode(errors="replace").strip().replace(str(path), what)
    for theirs, ours in (
        ("standard input", "the frame"),
        ("say --allow-skipped", "say allow_skipped=True"),
        ("windhover: ", ""),
    ):
        said = said.replace(theirs, ours)
    raise InvalidInput(said)


def _sparse(texts: list[str]) -> SparseRows:
    ends = np.cumsum([0] + [text.count(":") for text in texts])
    pairs = np.fromstring(" ".join(texts).replace(":", " "), sep=" ").reshape(-1, 2)
    return SparseRows(pairs[:, 1].copy(), pairs[:, 0].astype(np.uint32), ends)
