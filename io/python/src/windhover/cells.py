"""Cells of a data frame as CSV, which is what the command reads."""

from __future__ import annotations

import csv
import datetime
import io
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InvalidInput


@dataclass(frozen=True)
class Form:
    """How the files of a schema are written."""

    separator: str = ","
    header: bool = True
    quotes: bool = True
    decimal: str = "."


def csv_of(frame: Any, form: Form) -> bytes:
    """A data frame, columns by name, or rows by name, as UTF-8.

    Raises:
        InvalidInput: it is none of these, or its columns have different lengths.
    """
    names, rows = _columns_and_rows(frame)
    if not names:
        raise InvalidInput("the frame has no columns")
    out = io.StringIO()
    style = csv.QUOTE_MINIMAL if form.quotes else csv.QUOTE_NONE
    writer = csv.writer(out, delimiter=form.separator, quoting=style, lineterminator="\n")
    try:
        if form.header:
            writer.writerow(names)
        one = len(names) == 1  # an empty line would be no row
        for row in rows:
            texts = [_text(value, form.decimal) for value in row]
            writer.writerow(["NA"] if one and not texts[0] else texts)
    except csv.Error as error:
        raise InvalidInput(f"a cell has the separator {form.separator!r}: {error}") from error
    return out.getvalue().encode()


def _columns_and_rows(frame: Any) -> tuple[list[str], Iterable[Sequence[Any]]]:
    if hasattr(frame, "columns") and hasattr(frame, "itertuples"):
        names = [str(name) for name in frame.columns]
        return names, frame.itertuples(index=False, name=None)
    if isinstance(frame, Mapping):
        columns = [_listed(name, frame[name]) for name in frame]
        if len({len(column) for column in columns}) > 1:
            lengths = ", ".join(f"{name} {len(c)}" for name, c in zip(frame, columns))
            raise InvalidInput(f"the columns have different lengths: {lengths}")
        return [str(name) for name in frame], zip(*columns)
    if isinstance(frame, Sequence) and not isinstance(frame, (str, bytes)):
        if all(isinstance(row, Mapping) for row in frame):
            names = list(dict.fromkeys(str(name) for row in frame for name in row))
            return names, ([row.get(name) for name in names] for row in frame)
    raise InvalidInput(
        "a schema is of columns with names: a data frame, a dict of columns, or a list of dicts, "
        f"not {type(frame).__name__}"
    )


def _listed(name: Any, values: Any) -> Any:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InvalidInput(f"column {name} must be a sequence; a single row is [{{...}}]")
    return values


def _text(value: Any, decimal: str) -> str:
    """What is missing is an empty cell, and a whole number has no point: 3.0 is the category 3."""
    if isinstance(value, str):
        return value
    if value is None or _is_missing(value):
        return ""
    if isinstance(value, numbers.Integral):
        return str(value) if isinstance(value, bool) else str(int(value))
    if isinstance(value, numbers.Real):
        text = repr(float(value)).removesuffix(".0")
        return text if decimal == "." else text.replace(".", decimal)
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def _is_missing(value: Any) -> bool:
    """NaN and NaT differ from themselves, and of pandas.NA the difference is NA."""
    different = value != value
    return bool(different) if isinstance(different, (bool, np.bool_)) else different is value
