"""Takes rows from arrays, data frames and sparse matrices, and packs them for the wire.

Rows are copied once, from the array's memory into the frame; the generated classes would make a
Python float of each number. The engine in this process reads the arrays without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import frames as wire
from .errors import InvalidInput

OFFSETS = 11  # field of Observe and of Predict
WEIGHTS = 12  # field of Observe
KEYS = 12  # field of Predict
TRIALS = 13  # field of Observe and of Predict
MOST_KEY_BYTES = 64


@dataclass(frozen=True)
class SparseRows:
    """Sparse rows without SciPy, in the layout of its CSR matrices: X of observe() and predict().

    Attributes:
        data: the nonzero values, row after row.
        indices: their columns, from 0, increasing within a row.
        indptr: shape (rows + 1,): row i has the values from indptr[i] on, before indptr[i + 1].
    """

    data: Any
    indices: Any
    indptr: Any


def keys_of(key: str | Sequence[str] | None, rows: int) -> list[bytes] | None:
    """One key a row, for the wire; None stays None.

    Raises:
        InvalidInput: there are more or fewer than rows, or one is too long or not ASCII.
    """
    if key is None:
        return None
    keys = [key] if isinstance(key, str) else list(key)
    if len(keys) != rows:
        raise InvalidInput(f"{len(keys)} keys for {rows} rows")
    for name in keys:
        if not isinstance(name, str) or not name.isascii() or len(name) > MOST_KEY_BYTES:
            raise InvalidInput(f"key {name!r}: text of at most {MOST_KEY_BYTES} ASCII characters")
    return [name.encode() for name in keys]


@dataclass(frozen=True)
class Rows:
    """Rows ready for the wire: features and targets of one type, `<f8` or `<f4`.

    Dense: `features` has shape (n, columns). Sparse: `features` has the nonzero values, `indices`
    their columns (uint32), and `row_ends` (int64) says where each row's values end. `offsets`,
    `weights` and `trials` (`<f8`) and `keys`, where there are any, have one a row.
    """

    features: NDArray[Any]
    targets: NDArray[Any] | None
    count: int
    indices: NDArray[np.uint32] | None = None
    row_ends: NDArray[np.int64] | None = None
    offsets: NDArray[np.float64] | None = None
    keys: Sequence[bytes] | None = None
    weights: NDArray[np.float64] | None = None
    trials: NDArray[np.float64] | None = None

    def values_before(self, row: int) -> int:
        assert self.row_ends is not None
        return int(self.row_ends[row - 1]) if row else 0

    def pieces(self, most_rows: int, most_bytes: int) -> Iterator[tuple[int, int]]:
        """Ranges (begin, end) of rows that each fit into one frame.

        Raises:
            InvalidInput: a row is larger than a frame may be.
        """
        begin = 0
        while begin < self.count:
            fit = min(most_rows, self.count - begin, self._fitting(begin, most_bytes))
            if fit <= 0:
                raise InvalidInput(f"row {begin} is larger than a frame may be")
            yield begin, begin + fit
            begin += fit

    def _fitting(self, begin: int, most_bytes: int) -> int:
        item = self.features.itemsize
        extras = 0
        for column in (self.offsets, self.weights, self.trials):
            extras += 0 if column is None else 8
        extras += 0 if self.keys is None else MOST_KEY_BYTES + 2
        if self.row_ends is None:
            return most_bytes // ((self.features.shape[1] + 1) * item + extras)
        most = most_bytes // (item + 4) + 1  # bounds the rows: an empty one takes item + 4 bytes
        ends = self.row_ends[begin : begin + most] - self.values_before(begin)
        count = np.arange(1, len(ends) + 1)
        cost = (ends + count) * (item + 4) + count * extras
        return int(np.searchsorted(cost, most_bytes, side="right"))

    def parts(
        self, begin: int, end: int, *, features: int, targets: int, indices: int
    ) -> list[wire.Buffer]:
        """Rows `begin` to `end` as packed fields.

        `features` and `targets` are field numbers of 32-bit arrays, whose 64-bit arrays have the
        next number; `indices` has the row ends in the next field. The other fields are numbered
        as at the top of this file.
        """
        wide = self.features.itemsize == 8
        out: list[wire.Buffer] = []
        if self.row_ends is None or self.indices is None:
            out += wire.packed(features + wide, self.features[begin:end])
        else:
            first, last = self.values_before(begin), self.values_before(end)
            out += wire.packed(features + wide, self.features[first:last])
        if self.targets is not None:
            out += wire.packed(targets + wide, self.targets[begin:end])
        if self.row_ends is not None and self.indices is not None:
            out += wire.packed(indices, self.indices[first:last])
            out += wire.packed(indices + 1, (self.row_ends[begin:end] - first).astype("<u4"))
        if self.offsets is not None:
            out += wire.packed(OFFSETS, self.offsets[begin:end])
        if self.keys is not None:
            out.append(wire.texts(KEYS, self.keys[begin:end]))
        if self.weights is not None:
            out += wire.packed(WEIGHTS, self.weights[begin:end])
        if self.trials is not None:
            out += wire.packed(TRIALS, self.trials[begin:end])
        return out


def column_of(name: str, values: Any, rows: int) -> NDArray[np.float64] | None:
    """One number a row; None stays None. A contiguous 64-bit array is not copied.

    Raises:
        InvalidInput: there are more or fewer than rows, or they are not numbers.
    """
    if values is None:
        return None
    column = _plain(name, values, "<f8")
    if column.ndim == 0:
        column = column.reshape(1)
    if column.shape != (rows,):
        raise InvalidInput(f"{name} has shape {column.shape}; X has {rows} rows")
    return column


def rows_of(
    x: Any,
    y: Any,
    *,
    columns: int,
    sparse: bool,
    single_precision: bool | None,
    otherwise: str = "",
) -> Rows:
    """Takes arrays, data frames, SciPy's sparse matrices and SparseRows. An array that is
    contiguous and of the type wanted is not copied.

    `single_precision` None: 32-bit numbers if x and y have at most 32 bits themselves. `otherwise`
    is added to the error about a wrong number of columns.

    Raises:
        InvalidInput: shapes do not fit one another or the model, or values are not numbers.
    """
    y_array = None if y is None else _array("y", y)
    if y_array is not None and y_array.ndim == 0:
        y_array = y_array.reshape(1)
    if y_array is not None and y_array.ndim != 1:
        raise InvalidInput(f"y has shape {y_array.shape}; it must have one number a row")
    given = _csr_of(x)
    matrix = _matrix(x, columns) if given is None else given.data
    count = len(matrix) if given is None else len(given.indptr) - 1
    width = matrix.shape[1] if given is None else getattr(x, "shape", (0, columns))[1]
    if width != columns:
        raise InvalidInput(f"X has {width} columns, the model has {columns}{otherwise}")
    if y_array is not None and len(y_array) != count:
        raise InvalidInput(f"X has {count} rows, y has {len(y_array)}")
    if single_precision is None:
        narrow = (np.dtype("f2"), np.dtype("f4"))
        single_precision = matrix.dtype in narrow and (y_array is None or y_array.dtype in narrow)
    kind = "<f4" if single_precision else "<f8"
    targets = None if y_array is None else _plain("y", y_array, kind)
    if not sparse:
        dense = matrix if given is None else _dense(given, columns)
        return Rows(_plain("X", dense, kind), targets, count)
    if given is None:
        there = matrix != 0  # true for NaN too: the server says which row has it
        ends = np.cumsum(np.count_nonzero(there, axis=1))
        given = SparseRows(matrix[there], np.nonzero(there)[1], np.concatenate([[0], ends]))
    return Rows(
        _plain("X", given.data, kind),
        targets,
        count,
        _columns(np.asarray(given.indices)),
        given.indptr[1:].astype(np.int64, copy=False),
    )


def _array(name: str, values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidInput(f"{name} is masked; fill it first, where the model takes it with nan")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}") from error
    if array.dtype.kind in "cmM":  # NumPy would drop imaginary parts, and make numbers of days
        raise InvalidInput(f"{name} must be real numbers; it is {array.dtype}")
    return array


def _plain(name: str, values: Any, kind: str) -> NDArray[Any]:
    array = _array(name, values)
    try:
        return np.require(array, dtype=kind, requirements=["C", "A"])
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}") from error


def _matrix(x: Any, columns: int) -> NDArray[Any]:
    array = _array("X", x)
    if array.ndim == 1:  # one row; for a model with one column, one row for each number
        array = array.reshape(-1, 1) if columns == 1 else array.reshape(1, -1)
    if array.ndim != 2:
        raise InvalidInput(f"X has shape {array.shape}; it must have a row a line")
    return array


def _csr_of(x: Any) -> SparseRows | None:
    """Sparse rows, with arrays of matching lengths; None if `x` is not sparse."""
    if hasattr(x, "tocsr"):
        matrix = x.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return SparseRows(matrix.data, matrix.indices, matrix.indptr)
    if not isinstance(x, SparseRows):
        return None
    data, indices, ends = _array("data", x.data), _whole("indices", x), _whole("indptr", x)
    if data.shape != indices.shape:
        raise InvalidInput(f"{data.size} values in data, {len(indices)} columns in indices")
    if not len(ends) or ends[0] != 0 or ends[-1] != len(data):
        raise InvalidInput(f"indptr goes from 0 to {len(data)}, how many values there are")
    if np.any(ends[1:] < ends[:-1]):
        raise InvalidInput("indptr does not decrease")
    return SparseRows(data, indices, ends)


def _whole(name: str, rows: SparseRows) -> NDArray[Any]:
    numbers = _array(name, getattr(rows, name))
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InvalidInput(f"{name} has one dimension, of whole numbers")
    return numbers if numbers.size else numbers.astype(np.int64)


def _columns(indices: NDArray[Any]) -> NDArray[np.uint32]:
    """Column numbers for the wire and the library; 32-bit ones are not copied."""
    if indices.dtype == np.int32:
        indices = indices.view(np.uint32)  # negative ones become too large, and are refused
    elif indices.size and (indices.min() < 0 or indices.max() >= 2**32):
        raise InvalidInput("a column number is below 0, or has more than 32 bits")
    return np.ascontiguousarray(indices, dtype="<u4")


def _dense(given: SparseRows, columns: int) -> NDArray[Any]:
    out = np.zeros((len(given.indptr) - 1, columns))
    if given.indices.size and (given.indices.min() < 0 or given.indices.max() >= columns):
        raise InvalidInput(f"a column number is not below {columns}, how many the model has")
    begins = np.zeros(len(given.indices) + 1, dtype=bool)
    begins[given.indptr] = True
    if np.any((given.indices[1:] <= given.indices[:-1]) & ~begins[1:-1]):
        raise InvalidInput("column numbers do not increase within a row")
    out[np.repeat(np.arange(len(out)), np.diff(given.indptr)), given.indices] = _plain(
        "data", given.data, "<f8"
    )
    return out
