"""Finds the numbers for which a row is refused: the server says only the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import windhover_pb2 as pb
from .errors import Refused, refusal
from .reasons import Reason
from .rows import Rows

LARGEST = 1e35  # the largest number that a row may have
MOST_CELLS = 3  # named of one row
MOST_NOTED = 1000  # rows

_Mask = NDArray[np.bool_]


def _is_count(y: NDArray[Any]) -> _Mask:
    whole: _Mask = (y >= 0) & (y == np.floor(y))
    return whole


# Which targets a model takes. That a class is too large only the server says.
_DOMAINS: dict[int, Callable[[NDArray[Any]], Any]] = {
    pb.MODEL_KIND_LOGISTIC: lambda y: (y == 0) | (y == 1),
    pb.MODEL_KIND_POISSON: _is_count,
    pb.MODEL_KIND_NEGATIVE_BINOMIAL: _is_count,
    pb.MODEL_KIND_BINOMIAL: _is_count,
    pb.MODEL_KIND_ZERO_INFLATED_POISSON: _is_count,
    pb.MODEL_KIND_SOFTMAX: _is_count,
    pb.MODEL_KIND_LOG_NORMAL: lambda y: y > 0,
}


def names_of(x: Any) -> list[str] | None:
    """Names of a data frame's columns; None: columns have only numbers."""
    columns = getattr(x, "columns", None)
    return None if columns is None else [repr(str(name)) for name in columns]


def _unusable(values: NDArray[Any]) -> _Mask:
    with np.errstate(invalid="ignore", over="ignore"):
        bad: _Mask = ~(np.abs(values) <= LARGEST)
    return bad


def _surely_usable(values: NDArray[Any]) -> bool:
    """Whether all numbers are usable, in one pass without another array. No square is above the sum
    of all squares, and NaN makes that NaN; False may be wrong."""
    flat = values.reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.dot(flat, flat) <= LARGEST * LARGEST)


def cells_text(rows: Rows, row: int, names: list[str] | None, target: bool) -> str:
    """The numbers of this row that no row may have, and with `target` its y; "" for none."""
    if rows.row_ends is None or rows.indices is None:
        values = rows.features[row]
        columns: NDArray[Any] = np.arange(len(values))
    else:
        begin, end = rows.values_before(row), rows.values_before(row + 1)
        values, columns = rows.features[begin:end], rows.indices[begin:end]
    bad = np.flatnonzero(_unusable(values))
    cells = [
        f"column {names[columns[at]] if names else columns[at]} is {values[at]:g}"
        for at in bad[:MOST_CELLS]
    ]
    if len(bad) > MOST_CELLS:
        cells.append("...")
    if rows.targets is not None and (target or _unusable(rows.targets[row : row + 1])[0]):
        cells.append(f"y is {rows.targets[row]:g}")
    return ", ".join(cells)


def _wrong_targets(rows: Rows, kind: int) -> _Mask | None:
    domain = _DOMAINS.get(kind)
    if domain is None or rows.targets is None:
        return None
    wrong: _Mask = ~domain(rows.targets)
    if kind == pb.MODEL_KIND_BINOMIAL and rows.trials is not None:
        wrong |= rows.targets > rows.trials
    return wrong


def faults(rows: Rows, names: list[str] | None, kind: int) -> Iterator[tuple[int, str]]:
    """Rows that will be refused as far as can be told here, and the cause of each."""
    wrong = _wrong_targets(rows, kind)
    bad_targets = rows.targets is not None and not _surely_usable(rows.targets)
    bad_features = not _surely_usable(rows.features)
    if not (bad_targets or bad_features or (wrong is not None and wrong.any())):
        return
    suspect = np.zeros(rows.count, dtype=bool) if wrong is None else wrong.copy()
    if rows.targets is not None:
        suspect |= _unusable(rows.targets)
    bad = _unusable(rows.features)
    if rows.row_ends is None:
        suspect |= bad.any(axis=1)
    else:
        suspect[np.searchsorted(rows.row_ends, np.flatnonzero(bad), side="right")] = True
    for at in np.flatnonzero(suspect)[:MOST_NOTED].tolist():
        yield at, cells_text(rows, at, names, wrong is not None and bool(wrong[at]))


def located(refused: Refused, rows: Rows, names: list[str] | None, kind: int) -> Refused:
    """The refusal of a question, with the first bad row and its bad numbers, if they are found."""
    if refused.reason not in (Reason.NOT_FINITE, Reason.TARGET_OUT_OF_DOMAIN):
        return refused
    for at, text in faults(rows, names, kind):
        where = f"{refused}; row {at}: {text}"
        return refusal(refused.reason.value, refused.number, refused.closing, where)
    return refused
