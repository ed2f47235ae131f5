"""Writes the cells of a data frame as CSV for the command `windhover`, which reads them as it does
those of a file."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import InvalidInput

NO_CELL = (list, tuple, dict, set, frozenset, bytes, bytearray, np.ndarray, np.void)
DURATIONS = (datetime.timedelta, np.timedelta64)


def csv_of(frame: Any, sign: str = ".") -> tuple[bytes, int]:
    """CSV in UTF-8, and how many rows it has.

    Args:
        frame: a data frame, a dict of columns, or a list of dicts.
        sign: the decimal sign.

    Raises:
        InvalidInput: it is none of these, columns differ in length or share a name, or a cell is
            neither a number, a text, a time nor missing.
    """
    columns = _columns(frame)
    count = len(next(iter(columns.values())))
    texts = []
    for name, values in columns.items():
        try:
            texts.append([_text(value, sign) for value in values])
        except InvalidInput as error:
            raise InvalidInput(f"column {name}: {error}") from None
    names = list(columns)
    if len(names) == 1:  # a second column, because an empty line would not be a row
        names.append(names[0] + "_")
        texts.append(["0"] * count)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # so that texts with \r or \n are quoted
    writer.writerow(names)
    writer.writerows(zip(*texts))
    try:
        return out.getvalue().encode(), count
    except UnicodeEncodeError as error:
        raise InvalidInput(f"a text is no Unicode: {error}") from error


def names_of(frame: Any) -> list[str]:
    return list(_columns(frame))


def _columns(frame: Any) -> dict[str, Sequence[Any]]:
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        series = [frame.iloc[:, i].to_numpy() for i in range(len(frame.columns))]
        found = _named(frame.columns, series)
    elif isinstance(frame, Mapping):
        found = _named(frame, [_listed(name, values) for name, values in frame.items()])
    elif isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        rows = [_named(row, row.values()) for row in frame]
        names = dict.fromkeys(name for row in rows for name in row)
        found = {name: [row.get(name) for row in rows] for name in names}
    else:
        kinds = "not " + type(frame).__name__
        if isinstance(frame, Sequence) and not isinstance(frame, (str, bytes)):
            kinds = "not a list of " + ", ".join(sorted({type(row).__name__ for row in frame}))
        raise InvalidInput(
            "a schema is of columns with names: a data frame, a dict of columns, or a list of dicts, "
            + kinds
        )
    if not found:
        raise InvalidInput("the frame has no columns")
    if len({len(values) for values in found.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in found.items())
        raise InvalidInput(f"the columns have different lengths: {lengths}")
    return found


def _named(names: Iterable[Any], values: Iterable[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in zip(names, values):
        if isinstance(name, tuple):
            raise InvalidInput(f"a column has one name; {name} has {len(name)}")
        if str(name) in found:
            raise InvalidInput(f"two columns are called {name}")
        found[str(name)] = value
    return found


def _listed(name: Any, values: Any) -> Any:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    one = np.ndim(values) if isinstance(values, np.ndarray) else int(hasattr(values, "__len__"))
    if one != 1 or isinstance(values, (str, bytes, Mapping, set, frozenset)):
        raise InvalidInput(f"column {name} must be a sequence of cells; a single row is [{{...}}]")
    return values


def _text(value: Any, sign: str) -> str:
    """Text of a cell. A missing value is empty, and a whole number has no decimal sign: 3.0 is the
    category 3."""
    if isinstance(value, str):
        return value
    if isinstance(value, NO_CELL) or isinstance(value, DURATIONS):
        is_duration = isinstance(value, DURATIONS)
        why = "a duration, which has no unit: give a number" if is_duration else "no cell"
        raise InvalidInput(f"{value!r:.80} of type {type(value).__name__} is {why}")
    if isinstance(value, decimal.Decimal):
        return "" if value.is_nan() else format(value, "f").replace(".", sign)
    if value is None or _is_missing(value):
        return ""
    if isinstance(value, numbers.Integral):
        return str(value) if isinstance(value, bool) else str(int(value))
    if isinstance(value, numbers.Real):
        # str() and repr() write just enough digits to tell the number from others of its type.
        text = str(value) if isinstance(value, np.floating) else repr(float(value))
        return text.removesuffix(".0").replace(".", sign)
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
        if not isinstance(value, datetime.datetime):
            raise InvalidInput("a time is beyond the year 9999, or before the year 1")
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def _is_missing(value: Any) -> bool:
    """NaN and NaT differ from themselves, and comparing pandas.NA with itself gives NA."""
    different = value != value
    return bool(different) if isinstance(different, (bool, np.bool_)) else different is value
