"""A client's stream of rows: sends them pipelined, over reconnections."""

from __future__ import annotations

from collections.abc import Callable

from . import frames as wire
from .errors import Disconnected
from .rows import Rows
from .sent_frames import SentFrame
from .steps import Steps
from .taken_up import TakenUp, unknown_rows

WRITE_BYTES = 256 * 1024


class Stream(TakenUp):
    """A stream of rows to the server."""

    def observe(self, rows: Rows) -> Steps[int]:
        """Hands the rows over; returns the number of the first, counted over all rows sent."""
        welcome = self.welcome
        room = max(welcome.frame_cap - wire.FRAME_OVERHEAD, 0)
        most = min(welcome.max_rows, self.options.max_rows_per_frame or welcome.max_rows)
        pieces = list(rows.pieces(most, room))
        first_row = self.totals.sent
        if self._channel is not None and self.missing is None:
            self._look()
        if self._channel is None or self.missing is not None:
            yield from self.through(self._ready, again=False)
        for begin, end in pieces:
            self._push(rows, begin, end)
            if self.frames.bytes_on_the_way > self.options.resend_bytes:
                yield from self._steadily(self._wait_for_room)
            elif self._out.size >= WRITE_BYTES:
                yield from self._steadily(self.flush)
        if self._channel is not None and self._out.size:
            self._send_some()
        return first_row

    @property
    def _steady(self) -> bool:
        """Whether rows go on by themselves after the connection has broken."""
        return self.options.reconnect and self.number != 0

    def _steadily(self, what: Callable[[], Steps[None]]) -> Steps[None]:
        if self._steady:
            return (yield from self.through(what))
        return (yield from what())

    def _ready(self) -> Steps[None]:
        if self.missing is not None:
            raise self.missing
        yield from ()

    def _wait_for_room(self) -> Steps[None]:
        yield from self._ready()
        yield from self.flush()
        yield from self._wait_until(
            lambda: self.frames.bytes_on_the_way <= self.options.resend_bytes
        )

    def _push(self, rows: Rows, begin: int, end: int) -> None:
        request_id = self.next_id()
        producer = self.number
        count = end - begin
        head = wire.field(3, count)
        if producer:
            head = wire.field(1, producer) + wire.field(2, self.next_sequence) + head
        parts: list[wire.Buffer] = [head]
        parts += rows.parts(begin, end, features=4, targets=6, indices=8)
        # A drawn producer skips refused frames: nobody sends them again.
        if producer and (self._passing or self._begins is not None):
            parts.append(wire.field(10, 1))
        frame = wire.framed(request_id, wire.OBSERVE, parts)
        self._out.append(frame)
        totals = self.totals
        kept = frame if producer else b""
        pushed = SentFrame(request_id, totals.sent, self.next_sequence, count, kept)
        sent, frames_sent = totals.sent + count, totals.frames_sent + 1

        def change() -> None:
            self.frames.push(pushed)
            self.next_sequence = pushed.end
            totals.sent = sent
            totals.frames_sent = frames_sent

        self._make(change)
        self.frames.trim(self.options.resend_bytes, totals.durable)

    def wait_acknowledged(self) -> Steps[None]:
        """Sends pending frames and waits until all rows are acknowledged."""
        if self._rows_lost or (not self._steady and self.frames.on_the_way):
            yield from self._wait_once()
        elif self.frames.on_the_way or self._out.size:
            yield from self._steadily(self._wait_once)
        elif self.missing is not None:
            raise self.missing

    def _wait_once(self) -> Steps[None]:
        yield from self._ready()
        if self._rows_lost:
            rows, self._rows_lost = self._rows_lost, 0
            raise Disconnected(f"the connection broke; {unknown_rows(rows)}")
        yield from self.flush()
        yield from self._wait_until(lambda: not self.frames.on_the_way)
