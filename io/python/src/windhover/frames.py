"""Bytes on the wire: frames, packed fields, and buffers for both directions."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Union

from numpy.typing import NDArray

from .errors import ProtocolError

LARGEST_REPLY = 1 << 30
FRAME_OVERHEAD = 128  # tags, lengths and numbers of an Observe
OBSERVE, PREDICT = 3, 4  # fields of Request
_WIRE_TYPES = (0, 1, 2, 5)  # those of proto3, which has no groups
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
    """A packed field; nothing if `values` is empty. REQUIRES: it is contiguous, little-endian."""
    if values.nbytes == 0:
        return []
    return [_prefix(number, values.nbytes), values.data.cast("B")]


def texts(number: int, values: Sequence[bytes]) -> bytes:
    """A repeated field of text."""
    tag = varint(number << 3 | 2)
    return b"".join(tag + varint(len(value)) + value for value in values)


def framed(request_id: int, arm: int, parts: list[Buffer]) -> bytes:
    """A Request with its length in front. `arm`: number of the body's field."""
    body = sum(map(len, parts))
    head = field(1, request_id) + _prefix(arm, body)
    return b"".join((varint(len(head) + body), head, *parts))


def _shown(answer: bytearray) -> str:
    """The first line of bytes that are not of this protocol, for an error's text."""
    return repr(answer.split(b"\r\n")[0].decode("latin-1"))


class FrameReader:
    """Finds messages in the bytes received."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def frames(self) -> Iterator[bytes]:
        """Every whole message so far.

        Raises:
            ProtocolError: what comes next is not a length of at most 1 GiB, or no message follows
                it.
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
                    raise ProtocolError("the answer cannot be read: it has no length")
                if length > LARGEST_REPLY or (i > 0 and byte == 0):
                    raise ProtocolError("the answer cannot be read: its length cannot be")
                begin = at + i + 1
                if begin < size and length and there[begin] & 7 not in _WIRE_TYPES:
                    begins = _shown(there[at : at + 40])
                    raise ProtocolError(f"the answer cannot be read: it begins with {begins}")
                if begin + length > size:
                    return
                at = begin + length
                yield bytes(there[begin:at])
        finally:
            del self._bytes[:at]


class OutBuffer:
    """Frames to be sent. It copies none of them; of a partly sent one it keeps the rest."""

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
