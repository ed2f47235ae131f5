"""The frames of rows that a client has sent and may have to send again."""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass

from . import frames as wire
from . import windhover_pb2 as pb


@dataclass(eq=False, slots=True)
class SentFrame:
    id: int
    first_row: int  # counted over all rows of the client
    first_sequence: int
    rows: int
    bytes: bytes  # empty: not kept

    @property
    def end(self) -> int:
        return self.first_sequence + self.rows


class SentFrames:
    """The frames that were sent and may have to be sent again.

    `held` are acknowledged frames that are kept while there is room, `on_the_way` the others. Ids
    rise through `held` and then `on_the_way`.
    """

    def __init__(self) -> None:
        self.held: deque[SentFrame] = deque()
        self.on_the_way: deque[SentFrame] = deque()
        self.rows_on_the_way = 0
        self.bytes_on_the_way = 0
        self._bytes = 0

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]

    def recount(self) -> None:
        """Restores the invariants after a call of this class was interrupted."""
        if self.held and self.on_the_way and self.held[-1] is self.on_the_way[0]:
            self.on_the_way.popleft()
        self.rows_on_the_way = sum(frame.rows for frame in self.on_the_way)
        self.bytes_on_the_way = sum(len(frame.bytes) for frame in self.on_the_way)
        self._bytes = self.bytes_on_the_way + sum(len(frame.bytes) for frame in self.held)

    def push(self, frame: SentFrame) -> None:
        if self.on_the_way and self.on_the_way[-1] is frame:
            return
        self.on_the_way.append(frame)
        self.rows_on_the_way += frame.rows
        self.bytes_on_the_way += len(frame.bytes)
        self._bytes += len(frame.bytes)

    def up_to(self, frame_id: int) -> tuple[int, int]:
        """How many frames on the way have ids up to this one, and how many rows they have."""
        frames = rows = 0
        for frame in self.on_the_way:
            if frame.id > frame_id:
                break
            frames += 1
            rows += frame.rows
        return frames, rows

    def acknowledge(self, up_to: int) -> None:
        """Moves all frames with ids up to this one to `held`."""
        while self.on_the_way and self.on_the_way[0].id <= up_to:
            frame = self.on_the_way[0]
            if not self.held or self.held[-1] is not frame:
                self.held.append(frame)  # before popleft(): an interrupt then loses no frame
            self.on_the_way.popleft()
            self.rows_on_the_way -= frame.rows
            self.bytes_on_the_way -= len(frame.bytes)

    def find(self, frame_id: int) -> SentFrame | None:
        for frames in (self.on_the_way, self.held):
            at = bisect.bisect_left(frames, frame_id, key=lambda frame: frame.id)
            if at < len(frames) and frames[at].id == frame_id:
                return frames[at]
        return None

    def erase(self, frame: SentFrame) -> None:
        """Forgets a frame that the server has refused."""
        self._bytes -= len(frame.bytes)
        if frame in self.held:
            self.held.remove(frame)
        if frame not in self.on_the_way:
            return
        self.on_the_way.remove(frame)
        self.rows_on_the_way -= frame.rows
        self.bytes_on_the_way -= len(frame.bytes)

    def trim(self, most_bytes: int, durable: int) -> None:
        """Forgets the oldest held frames: while all frames are more than `most_bytes`, and those
        that need not be sent again because their rows are durable or their bytes are not kept."""
        while self.held:
            front = self.held[0]
            needed = front.bytes and front.first_row + front.rows > durable
            if needed and self._bytes <= most_bytes:
                return
            self._bytes -= len(front.bytes)
            self.held.popleft()

    def begin_at_front(self) -> None:
        """Sets begins_here in the first frame that is kept."""
        frames = self.held or self.on_the_way
        if not frames:
            return
        old = frames[0].bytes
        (body,) = _frames_in(old)
        request = pb.Request.FromString(body)
        request.observe.begins_here = True
        body = request.SerializeToString()
        frames[0].bytes = wire.varint(len(body)) + body
        grown = len(frames[0].bytes) - len(old)
        self._bytes += grown
        if frames is self.on_the_way:
            self.bytes_on_the_way += grown

    def first_kept(self, otherwise: int) -> int:
        frames = self.held or self.on_the_way
        return frames[0].first_sequence if frames else otherwise

    def first_on_the_way(self, otherwise: int) -> int:
        return self.on_the_way[0].first_sequence if self.on_the_way else otherwise


def _frames_in(data: bytes) -> list[bytes]:
    reader = wire.FrameReader()
    reader.feed(data)
    return list(reader.frames())
