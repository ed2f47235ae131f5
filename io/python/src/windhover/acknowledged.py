"""What became of the rows that a client has sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import windhover_pb2 as pb
from .connection import Connection
from .errors import Refused, RowsRefused
from .exchange import refusal_of
from .faults import MOST_NOTED
from .options import Options, Totals
from .reasons import Reason
from .sent_frames import SentFrames

MOST_REFUSED_KEPT = 1 << 20
WHOLE_FRAME = 2**32 - 1


class Acknowledged(Connection):
    """A connection that counts what became of the rows sent.

    Invariant: every row handed in is on its way, or is counted once in `totals`.
    """

    def __init__(self, address: str, options: Options) -> None:
        super().__init__(address, options)
        self.totals = Totals()
        self.frames = SentFrames()
        self._restoring_until = 0  # id; up to it answers are about held frames; 0: none
        self._accepted_by_instance = 0
        self._mark = (0, 0)  # (h, n): once durable_through reaches h, n rows are durable
        self._refused: list[tuple[int, Reason]] = []
        self._refused_count = 0
        self._faults: dict[int, str] = {}  # by row; of the newest rows that may be refused
        self._change: Callable[[], None] | None = None  # begun by _make() and not finished

    def _make(self, change: Callable[[], None]) -> None:
        """Runs `change`. If it is interrupted recover() runs it again. REQUIRES: running it twice
        is the same as once: it assigns values and adds to none."""
        self._change = change
        change()
        self._change = None

    def begin(self) -> None:
        if self._change is not None:
            self.recover()
        super().begin()

    def recover(self) -> None:
        if self._change is not None:
            self._change()
            self._change = None
        self.frames.recount()
        super().recover()

    def note_faults(self, first: int, faults: Iterable[tuple[int, str]]) -> None:
        """Keeps texts about the rows from number `first` on, for the report if they are refused."""
        for at, text in faults:
            self._faults[first + at] = text
        while len(self._faults) > MOST_NOTED:
            del self._faults[next(iter(self._faults))]

    def _take_in(self, response: Any) -> Refused | bool:
        arm = response.WhichOneof("body")
        if arm == "observe_ack":
            self._take_in_acknowledgement(response.id, response.observe_ack)
            return True
        if arm != "refusal":
            return False
        frame = self.frames.find(response.id)
        if frame is None:
            return False
        if frame.id <= self._restoring_until:  # it was acknowledged before, and stays kept
            if frame.id == self._restoring_until:
                self._restoring_until = 0
        else:
            after = dataclasses.replace(
                self.totals,
                refused=self.totals.refused + frame.rows,
                frames_acknowledged=self.totals.frames_acknowledged + 1,
            )

            refused = frame

            def change() -> None:
                self.totals = after
                self.frames.erase(refused)

            self._make(change)
        return refusal_of(response.refusal)

    def _take_in_acknowledgement(self, up_to: int, ack: Any) -> None:
        totals = self.totals
        totals.head = ack.head
        totals.producer_next = ack.producer_next
        if self._restoring_until:
            totals.restored += ack.accepted + ack.refused
            if up_to >= self._restoring_until:
                self._restoring_until = 0
            return
        frames, rows = self.frames.up_to(up_to)
        acknowledged = totals.sent - totals.unknown - self.frames.rows_on_the_way + rows
        # If acknowledgements mean the disk, all acknowledged rows are durable.
        if self.welcome.durability == pb.DURABILITY_LOGGED:
            durable = acknowledged
        else:
            durable = max(totals.durable, self._durable(ack, acknowledged))
        after = dataclasses.replace(
            totals,
            frames_acknowledged=totals.frames_acknowledged + frames,
            accepted=totals.accepted + ack.accepted,
            refused=totals.refused + ack.refused,
            duplicate=totals.duplicate + ack.duplicate,
            durable=durable,
        )
        by_instance = self._accepted_by_instance + ack.accepted
        known, refused = len(self._refused), self._noted(ack) if ack.refused else []
        refused_count = self._refused_count + ack.refused

        def change() -> None:
            self.totals = after
            self._accepted_by_instance = by_instance
            self._refused_count = refused_count
            if refused:
                self._refused[known:] = refused
            self.frames.acknowledge(up_to)

        self._make(change)
        self.frames.trim(self.options.resend_bytes, durable)

    def _durable(self, ack: Any, acknowledged: int) -> int:
        head, rows = self._mark
        there = rows if rows and ack.durable_through >= head else 0
        if there or not rows:
            self._mark = (ack.head, acknowledged)
        return there

    def _noted(self, ack: Any) -> list[tuple[int, Reason]]:
        noted: list[tuple[int, Reason]] = []
        for request, row, reason in zip(ack.refused_request, ack.refused_row, ack.refused_reason):
            frame = self.frames.find(request)
            if frame is None:
                continue
            whole = row == WHOLE_FRAME
            first = frame.first_row if whole else frame.first_row + row
            room = MOST_REFUSED_KEPT - len(self._refused) - len(noted)
            for at in range(min(frame.rows if whole else 1, room)):
                noted.append((first + at, Reason(reason)))
        return noted

    def take_refused(self) -> RowsRefused | None:
        """The rows refused since the last call, oldest first."""
        if not self._refused_count:
            return None
        rows = np.array([row for row, _ in self._refused], dtype=np.int64)
        cells = [self._faults.pop(row, "") for row, _ in self._refused]
        taken = RowsRefused(rows, [why for _, why in self._refused], self._refused_count, cells)
        self._refused, self._refused_count = [], 0
        return taken

    def _progress(self) -> int:
        return self.totals.frames_acknowledged

    def totals_now(self) -> Totals:
        return dataclasses.replace(self.totals)
