"""Arrays and texts for the library, which reads them where they lie."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _library as c
from .errors import InvalidInput, Reason, Refused
from .results import FloatArray
from .rows import Rows, keys_of, rows_of


def pointer(array: FloatArray) -> Any:
    """Of a contiguous array that outlives its use."""
    return array.ctypes.data_as(c.Numbers)


def check(library: ctypes.CDLL, status: int) -> None:
    if status != Reason.OK:
        text = library.windhover_status_text(status).decode()
        raise Refused(Reason(status), text=f"the engine refuses: {text}")


def taken(options: Any, x: Any, y: Any) -> Rows:
    """Rows of the engine's model, of 64-bit numbers."""
    return rows_of(
        x,
        y,
        columns=int(options.features),
        sparse=options.max_nonzeros > 0,
        single_precision=False,
    )


def texts(keys: str | Sequence[str] | None, rows: int) -> list[bytes]:
    """One a row, "" for none."""
    names = keys_of(keys, rows) or []
    if any(b"\0" in name for name in names):
        raise InvalidInput("a key has no character 0")
    return names


def fill(
    struct: Any, rows: Rows, columns: dict[str, FloatArray | None], begin: int, end: int
) -> list[Any]:
    """Writes where rows `begin` to `end`, and these columns of them, lie; what is returned is to be
    kept until the call is over."""
    struct.rows = end - begin
    first, last = begin, end
    kept: list[Any] = []
    if rows.indices is not None and rows.row_ends is not None:
        first, last = rows.values_before(begin), rows.values_before(end)
        ends = (rows.row_ends[begin:end] - first).astype(np.uint32)
        indices = rows.indices[first:last]
        struct.indices = indices.ctypes.data if indices.size else None
        struct.row_ends = ends.ctypes.data
        kept += [indices, ends]
    features = rows.features[first:last]
    struct.features, struct.feature_values = pointer(features), features.size
    kept.append(features)
    for name, column in columns.items():
        if column is not None:
            setattr(struct, name, pointer(column[begin:end]))
            kept.append(column)
    return kept
