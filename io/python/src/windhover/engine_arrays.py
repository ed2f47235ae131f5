"""Arrays and texts for the library, which reads them without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InvalidInput, Refused
from .reasons import Reason
from .results import FloatArray
from .rows import Rows, keys_of, rows_of

if TYPE_CHECKING:
    from ._engine import Library


def check(library: Library, status: int) -> None:
    if status != Reason.OK:
        raise Refused(Reason(status), text=f"the engine refuses: {library.status_text(status)}")


def taken(options: Any, x: Any, y: Any) -> Rows:
    """Rows for the engine's model, with 64-bit numbers."""
    return rows_of(
        x,
        y,
        columns=int(options.features),
        sparse=options.max_nonzeros > 0,
        single_precision=False,
    )


def texts(keys: str | Sequence[str] | None, rows: int) -> list[bytes]:
    """One key a row, "" for a row without one; empty where there are no keys."""
    names = keys_of(keys, rows) or []
    if any(b"\0" in name for name in names):
        raise InvalidInput("a key has no character 0")
    return names


def arguments(
    rows: Rows, columns: dict[str, FloatArray | None], begin: int, end: int
) -> dict[str, Any]:
    """Rows `begin` to `end` and their `columns`, as arguments of `_engine`."""
    first, last = begin, end
    arrays: dict[str, Any] = {}
    if rows.indices is not None and rows.row_ends is not None:
        first, last = rows.values_before(begin), rows.values_before(end)
        arrays["row_ends"] = (rows.row_ends[begin:end] - first).astype(np.uint32)
        arrays["indices"] = rows.indices[first:last].view(np.uint32)
    arrays["features"] = rows.features[first:last]
    return arrays | {name: c[begin:end] for name, c in columns.items() if c is not None}
