"""Schemas: what a data frame's columns are, and how they become the numbers that a model gets.

The command `windhover` (package `windhover`) does the work, so that a frame becomes the same rows
as a file with the same cells. It is found in PATH, or by the environment variable WINDHOVER.

    schema = windhover.Schema.of(frame, target="price")     # finds out what the columns are
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
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import cells
from .daemon import DaemonFailed, find_program
from .errors import InvalidInput, times
from .rows import SparseRows

VERSION = "0.2"  # the oldest version of the command that will do
NO_SCHEMA = ("--names", "--json", "--help", "-h")
COUNT = re.compile(r"encoded (\d+) of (\d+) rows")

Frame = Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class EncodedRows:
    """Rows as a model gets them.

    Attributes:
        X: shape (n, features), or SparseRows where the schema is sparse.
        y: shape (n,); None for questions.
        index: shape (n,): each row's place in the frame, from 0. Observations that lack a value are
            left out where the schema says so.
        extras: those of `offsets`, `weights` and `trials` that the schema has, as arguments of
            observe() and predict().
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
        text: the schema's TOML file (tools/data/schema.md has its keys).
        names: of the features' columns, in order; None where a feature is hashed.
        target: the field that is predicted.
        classes: names of its classes 0, 1, ...; empty where it is a number.
        fingerprint: of all that gives the columns their meaning. `connect(schema=)` compares it
            with that of the server's schema.
    """

    def __init__(self, text: str) -> None:
        """
        Raises:
            InvalidInput: it is not a schema. Gaps in a draft are found when rows are made.
            DaemonFailed: there is no `windhover` command, or it is too old.
        """
        if not text.strip():
            raise InvalidInput("the schema is empty")
        self.text = text
        said, _ = self._run("schema", "--json")
        try:
            found = json.loads(said)
        except ValueError:
            raise DaemonFailed(
                f"the command windhover did not answer in JSON: {said[:80]!r}"
            ) from None
        self._sign: str = found.get("file", {}).get("decimal", ".")
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
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_made" in self.__dict__:
            raise AttributeError(f"{name}: a schema is immutable; Schema(text) makes another")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name}: a schema is immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        features = "hashed features" if self.names is None else times(len(self.names), "feature")
        return f"<Schema of {self.target}, {features}, fingerprint {self.fingerprint:016x}>"

    @classmethod
    def of(cls, frame: Frame, target: str | int, *options: str) -> Schema:
        """Finds out what the columns are, as `windhover schema FILE --target TARGET` does.

        Args:
            target: the name of a column.
            options: more options of that command, as in `"--leave-out", "id"`.

        Raises:
            InvalidInput: it cannot find out; the text says which option helps.
        """
        if wrong := [option for option in options if option in NO_SCHEMA]:
            raise InvalidInput(f"{wrong[0]} makes no schema: it has the command say something else")
        target = str(target)
        with tempfile.TemporaryDirectory(prefix="windhover-") as folder:
            path = Path(folder, "frame.csv")
            written, _ = cells.csv_of(frame)
            if target not in (names := cells.names_of(frame)):
                raise InvalidInput(f'the frame has no column "{target}"; it has {", ".join(names)}')
            path.write_bytes(written)
            words = ["schema", str(path), "--header", "--separator", ",", "--target", target]
            said, _ = _output([*words, *options], "the frame", path)
        return cls(said.decode().replace(str(path), "the frame"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        return cls(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_text(self.text, encoding="utf-8")

    def rows(self, frame: Frame, *, allow_skipped: bool = False) -> EncodedRows:
        """Observations of a frame.

        Args:
            frame: a data frame, a dict of columns, or a list of dicts (`[{"sqm": 85}, ...]`). None,
                NaN and NaT are missing values, and so are texts that are missing values in a file,
                such as "" and "NA". Blanks around a text and columns that the schema does not know
                are ignored.
            allow_skipped: where the schema leaves out rows that lack values (`missing = "skip"`),
                also leave out rows with cells that cannot be read.

        Raises:
            InvalidInput: a column is missing, or a cell is not what the schema expects. In its text
                line 1 has the names, and line 2 is the first row.
            DaemonFailed: the command is missing, or too old.
        """
        more = ["--allow-skipped"] if allow_skipped else []
        return self._encoded(frame, True, more)

    def questions(self, frame: Frame) -> EncodedRows:
        """Questions, as rows() without the target. No row is left out: one that cannot be asked
        about raises InvalidInput."""
        return self._encoded(frame, False, ["--questions"])

    def _encoded(self, frame: Frame, observed: bool, options: list[str]) -> EncodedRows:
        data, count = cells.csv_of(frame, self._sign)
        said, notes = self._run("encode", "--frame", *options, data=data)
        told = COUNT.fullmatch(notes.splitlines()[-1] if notes else "")
        if not told or int(told[2]) != count:
            raise DaemonFailed(
                f"the command windhover has read other rows than {count}: {notes[-200:]}"
            )
        extras = [
            name
            for name, there in self._extras.items()
            if there and (observed or name != "weights")
        ]
        lead = 1 + observed + len(extras)
        text = io.StringIO(said.decode(), newline="")
        width = len(next(csv.reader(text)))  # names may have line ends
        lines = text.read().splitlines()
        x: Any
        if self._sparse:
            split = [line.split(",", lead) for line in lines]
            numbers = np.array([line[:lead] for line in split], dtype=float).reshape(-1, lead)
            x = _sparse([line[lead] for line in split])
        else:
            numbers = _numbers(",".join(lines)).reshape(-1, width)
            x = numbers[:, lead:]
        if len(numbers) != int(told[1]):
            raise DaemonFailed(f"of {told[1]} rows {len(numbers)} have come")
        columns = {name: numbers[:, i].copy() for i, name in enumerate(extras, lead - len(extras))}
        y = numbers[:, 1].copy() if observed else None
        return EncodedRows(x, y, numbers[:, 0].astype(np.int64) - 1, columns)

    def _run(self, command: str, *options: str, data: bytes | None = None) -> tuple[bytes, str]:
        with tempfile.TemporaryDirectory(prefix="windhover-") as folder:
            path = Path(folder, "schema.toml")
            path.write_text(self.text, encoding="utf-8")
            words = [command, *([] if data is None else ["-"]), "--schema", str(path), *options]
            return _output(words, "the schema", path, data)


def _output(
    words: list[str], what: str, path: Path, data: bytes | None = None
) -> tuple[bytes, str]:
    """Standard output of the command, and its messages."""
    program = find_program(None, "windhover", "install the package windhover")
    done = subprocess.run([program, *words], input=data or b"", capture_output=True)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == 0:
        return done.stdout, said
    if done.returncode < 0 or not said or "not expected" in said:
        why = said or f"it ended with {done.returncode}"
        raise DaemonFailed(f"{program} {words[0]}: {why}; this client wants {VERSION} or later")
    lines = [line for line in said.splitlines() if not COUNT.fullmatch(line)]
    said = "\n".join(line.removeprefix("skipped: ").removeprefix("windhover: ") for line in lines)
    said = said.replace(f"the schema {path}", "the schema")
    said = said.replace(str(path), what).replace("standard input", "the frame")
    raise InvalidInput(said.replace("say --allow-skipped", "say allow_skipped=True"))


def _numbers(text: str) -> NDArray[np.float64]:
    return np.array(text.split(","), dtype=float) if text else np.empty(0)


def _sparse(texts: list[str]) -> SparseRows:
    ends = np.cumsum([0] + [text.count(":") for text in texts])
    pairs = np.array(" ".join(texts).replace(":", " ").split(), dtype=float).reshape(-1, 2)
    return SparseRows(pairs[:, 1].copy(), pairs[:, 0].astype(np.uint32), ends)
