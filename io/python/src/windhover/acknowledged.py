"""What became of the rows that a client has sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import windhover_pb2 as pb
from .connection import Connection
from .errors import Reason, Refused, RowsRefused
from .exchange import refusal_of
from .faults import MOST_NOTED
from .options import Options, Totals
from .sent_frames import SentFrames

MOST_REFUSED_KEPT = 1 << 20
WHOLE_FRAME = 2**32 - 1


class Acknowledged(Connection):
    """A connection whose answers say what became of rows.

    Invariant: every row handed in is in `totals` once, as what is known of it, or on its way.
    """

    def __init__(self, address: str, options: Options) -> None:
        super().__init__(address, options)
        self.totals = Totals()
        self.frames = SentFrames()
        self._restoring_until = 0  # id; until then answers are about frames held; 0: none
        self._accepted_by_instance = 0
        self._mark = (0, 0)  # durable: so many rows are once the server's head of then is
        self._refused: list[tuple[int, Reason]] = []
        self._refused_count = 0
        self._faults: dict[int, str] = {}  # of rows that may be refused, the newest

    def note_faults(self, first: int, faults: Iterable[tuple[int, str]]) -> None:
        """Of rows from number `first` on, which are not kept: what a refusal will be about."""
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
        if frame.id <= self._restoring_until:  # one that was acknowledged before, and is still kept
            if frame.id == self._restoring_until:
                self._restoring_until = 0
        else:
            self.totals.refused += frame.rows
            self.totals.frames_acknowledged += 1
            self.frames.erase(frame)
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
        if ack.refused:
            self._note_refused(ack)
        totals.frames_acknowledged += self.frames.acknowledge(up_to)
        totals.accepted += ack.accepted
        totals.refused += ack.refused
        totals.duplicate += ack.duplicate
        self._accepted_by_instance += ack.accepted
        acknowledged = totals.sent - totals.unknown - self.frames.rows_on_the_way
        # Where an acknowledgement means the disk all that is acknowledged is there.
        if self.welcome.durability == pb.DURABILITY_LOGGED:
            totals.durable = acknowledged
        else:
            totals.durable = max(totals.durable, self._durable(ack, acknowledged))
        self.frames.trim(self.options.resend_bytes, totals.durable)

    def _durable(self, ack: Any, acknowledged: int) -> int:
        head, rows = self._mark
        there = rows if rows and ack.durable_through >= head else 0
        if there or not rows:
            self._mark = (ack.head, acknowledged)
        return there

    def _note_refused(self, ack: Any) -> None:
        self._refused_count += ack.refused
        for request, row, reason in zip(ack.refused_request, ack.refused_row, ack.refused_reason):
            frame = self.frames.find(request)
            if frame is None:
                continue
            whole = row == WHOLE_FRAME
            first = frame.first_row if whole else frame.first_row + row
            room = MOST_REFUSED_KEPT - len(self._refused)
            for at in range(min(frame.rows if whole else 1, room)):
                self._refused.append((first + at, Reason(reason)))

    def take_refused(self) -> RowsRefused | None:
        """The refused rows, oldest first, since the last call."""
        if not self._refused_count:
            return None
        rows = np.array([row for row, _ in self._refused], dtype=np.int64)
        cells = [self._faults.pop(row, "") for row, _ in self._refused]
        taken = RowsRefused(rows, [why for _, why in self._refused], self._refused_count, cells)
        self._refused = []
        self._refused_count = 0
        return taken

    def _progress(self) -> int:
        return self.totals.frames_acknowledged

    def totals_now(self) -> Totals:
        return dataclasses.replace(self.totals)
