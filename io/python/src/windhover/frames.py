"""Bytes of the wire: length prefixes, and rows packed without generated classes.

Rows are copied once, from the array's memory into the frame: a list of Python floats between the
two would cost a hundred times as much.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidInput, ProtocolError

LARGEST_REPLY = 1 << 30
FRAME_OVERHEAD = 128  # tags, lengths and numbers of an Observe
OBSERVE, PREDICT = 3, 4  # fields of Request
OFFSETS = 11  # of Observe and of Predict
WEIGHTS = 12  # of Observe
KEYS = 12  # of Predict
TRIALS = 13  # of Observe and of Predict
MOST_KEY_BYTES = 64
_ONE_BYTE = [bytes((value,)) for value in range(128)]

Buffer = Union[bytes, memoryview]


def varint(value: int) -> bytes:
    if value < 0x80:
        return _ONE_BYTE[value]
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if value < 0x200000:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: int) -> bytes:
    """A varint field; nothing for 0, as in proto3."""
    return _ONE_BYTE[number << 3] + varint(value) if value else b""


@functools.lru_cache(maxsize=256)
def _prefix(number: int, size: int) -> bytes:
    return varint(number << 3 | 2) + varint(size)


def packed(number: int, values: NDArray[Any]) -> list[Buffer]:
    """A packed field. `values` is contiguous and little-endian; nothing for an empty one."""
    if values.nbytes == 0:
        return []
    return [_prefix(number, values.nbytes), values.data.cast("B")]


def texts(number: int, values: Sequence[bytes]) -> bytes:
    """A repeated field of text."""
    tag = varint(number << 3 | 2)
    return b"".join(tag + varint(len(value)) + value for value in values)


def keys_of(key: str | Sequence[str] | None, rows: int) -> list[bytes] | None:
    """One key a row, for the wire; None stays None.

    Raises:
        InvalidInput: there are more or fewer, or one is too long or no ASCII.
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


def framed(request_id: int, arm: int, parts: list[Buffer]) -> bytes:
    """A Request with its length in front. `arm`: number of the body's field."""
    body = sum(map(len, parts))
    head = field(1, request_id) + _prefix(arm, body)
    return b"".join((varint(len(head) + body), head, *parts))


class FrameReader:
    """Finds messages in the bytes that come."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def frames(self) -> Iterator[bytes]:
        """Every whole message so far.

        Raises:
            ProtocolError: what comes next is no length of at most 1 GiB.
        """
        at = 0
        there = self._bytes
        size = len(there)
        try:
            while True:
                length = 0
                for i in range(5):
                    if at + i >= size:
                        return
                    byte = there[at + i]
                    length |= (byte & 0x7F) << (7 * i)
                    if byte < 0x80:
                        break
                else:
                    raise ProtocolError("the server's answer has no length")
                if length > LARGEST_REPLY or (i > 0 and byte == 0):
                    raise ProtocolError("the server's answer has a length that cannot be")
                begin = at + i + 1
                if begin + length > size:
                    return
                at = begin + length
                yield bytes(there[begin:at])
        finally:
            del self._bytes[:at]


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
        """Begins and ends of runs of rows that one frame takes.

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
        most = most_bytes // (item + 4) + 1  # an empty row costs as much
        ends = self.row_ends[begin : begin + most] - self.values_before(begin)
        count = np.arange(1, len(ends) + 1)
        cost = (ends + count) * (item + 4) + count * extras
        return int(np.searchsorted(cost, most_bytes, side="right"))

    def parts(
        self, begin: int, end: int, *, features: int, targets: int, indices: int
    ) -> list[Buffer]:
        """Rows `begin` to `end` as packed fields.

        `features` and `targets` are the field numbers of the 32-bit arrays, each followed by that
        of the 64-bit one; `indices` is followed by the row ends. Offsets are field 11 of both
        messages, trials field 13, weights field 12 of an Observe.
        """
        wide = self.features.itemsize == 8
        out: list[Buffer] = []
        if self.row_ends is None or self.indices is None:
            out += packed(features + wide, self.features[begin:end])
        else:
            first, last = self.values_before(begin), self.values_before(end)
            out += packed(features + wide, self.features[first:last])
        if self.targets is not None:
            out += packed(targets + wide, self.targets[begin:end])
        if self.row_ends is not None and self.indices is not None:
            out += packed(indices, self.indices[first:last])
            out += packed(indices + 1, (self.row_ends[begin:end] - first).astype("<u4"))
        if self.offsets is not None:
            out += packed(OFFSETS, self.offsets[begin:end])
        if self.keys is not None:
            out.append(texts(KEYS, self.keys[begin:end]))
        if self.weights is not None:
            out += packed(WEIGHTS, self.weights[begin:end])
        if self.trials is not None:
            out += packed(TRIALS, self.trials[begin:end])
        return out


def column_of(name: str, values: Any, rows: int) -> NDArray[np.float64] | None:
    """One number a row, for the wire; None stays None.

    Raises:
        InvalidInput: there are more or fewer.
    """
    if values is None:
        return None
    try:
        column = np.ascontiguousarray(values, dtype="<f8")
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}") from error
    if column.ndim == 0:
        column = column.reshape(1)
    if column.shape != (rows,):
        raise InvalidInput(f"{name} has shape {column.shape}; X has {rows} rows")
    return column


def rows_of(x: Any, y: Any, *, columns: int, sparse: bool, single_precision: bool | None) -> Rows:
    """Takes arrays, data frames and SciPy's sparse matrices.

    `single_precision` None: 32-bit numbers where x and y have no more themselves.

    Raises:
        InvalidInput: shapes that do not belong together or to the model.
    """
    y_array = None if y is None else np.asarray(y)
    if y_array is not None and y_array.ndim == 0:
        y_array = y_array.reshape(1)
    if y_array is not None and y_array.ndim != 1:
        raise InvalidInput(f"y has shape {y_array.shape}; it must have one number a row")
    is_scipy = hasattr(x, "tocsr")
    matrix = x.tocsr() if is_scipy else _matrix(x, columns)
    if matrix.shape[1] != columns:
        raise InvalidInput(f"X has {matrix.shape[1]} columns, the model has {columns}")
    if y_array is not None and len(y_array) != matrix.shape[0]:
        raise InvalidInput(f"X has {matrix.shape[0]} rows, y has {len(y_array)}")
    if single_precision is None:
        narrow = (np.dtype("f2"), np.dtype("f4"))
        single_precision = matrix.dtype in narrow and (y_array is None or y_array.dtype in narrow)
    kind = "<f4" if single_precision else "<f8"
    try:
        targets = None if y_array is None else np.ascontiguousarray(y_array, dtype=kind)
        count = int(matrix.shape[0])
        if not sparse:
            dense = matrix.toarray() if is_scipy else matrix
            return Rows(np.ascontiguousarray(dense, dtype=kind), targets, count)
        if is_scipy:
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            values, indices, ends = matrix.data, matrix.indices, matrix.indptr[1:]
        else:
            there = matrix != 0  # NaN too: the server says which row has it
            values, indices = matrix[there], np.nonzero(there)[1]
            ends = np.cumsum(np.count_nonzero(there, axis=1))
        return Rows(
            np.ascontiguousarray(values, dtype=kind),
            targets,
            count,
            np.ascontiguousarray(indices, dtype="<u4"),
            np.asarray(ends, dtype=np.int64),
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"X and y must be numbers: {error}") from error


def _matrix(x: Any, columns: int) -> NDArray[Any]:
    array = np.asarray(x)
    if array.ndim == 1:  # one row; of a model with one column as many as there are numbers
        array = array.reshape(-1, 1) if columns == 1 else array.reshape(1, -1)
    if array.ndim != 2:
        raise InvalidInput(f"X has shape {array.shape}; it must have a row a line")
    return array


class OutBuffer:
    """Frames to be sent, each once copied at most; a partly sent one keeps its rest."""

    def __init__(self) -> None:
        self._parts: deque[Buffer] = deque()
        self.size = 0

    def append(self, frame: bytes) -> None:
        self._parts.append(frame)
        self.size += len(frame)

    def clear(self) -> None:
        self._parts.clear()
        self.size = 0

    def front(self, most: int = 64) -> list[Buffer]:
        return list(itertools.islice(self._parts, most))

    def drop(self, count: int) -> None:
        self.size -= count
        while count:
            part = self._parts.popleft()
            if len(part) > count:
                self._parts.appendleft(memoryview(part)[count:])
                return
            count -= len(part)
