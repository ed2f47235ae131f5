"""Takes a client's stream of rows up again after its connection has broken.

The semantics are those of the C++ client (`io/client_stream.h`), except that a stream with a drawn
producer leaves missing rows by itself.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable

from . import windhover_pb2 as pb
from .acknowledged import Acknowledged
from .errors import Disconnected, InvalidInput, Refused, RowsMissing, WindhoverError, refusal, times
from .options import Options, ProducerState, Totals
from .reasons import Reason
from .steps import Steps

FIRST_PASSING = 1 << 63  # producers from this number on are drawn, and may be forgotten


class TakenUp(Acknowledged):
    """The stream's producer, which rows the server has, and which are sent again."""

    def __init__(self, address: str, options: Options) -> None:
        super().__init__(address, options)
        self.missing: RowsMissing | None = None
        self.producer = ProducerState()
        self.number = 0  # the producer's, given or drawn; 0: nothing is sent again
        self.next_sequence = 0
        self._begins: int | None = None  # where begins_here holds: rows before it are never sent
        self._rows_lost = 0  # unknown rows that wait_acknowledged() has not reported yet
        self._rows_missed = 0  # rows left behind that take_missed() has not reported yet
        self._instance = 0  # Welcome.instance_id of the newest connection
        self._forgotten = 0  # how many producers the server has forgotten, as it said last
        self._start = 0  # Welcome.start_id of the newest connection

    # --- Connecting

    def connect(self) -> Steps[None]:
        yield from super().connect()
        self._instance = self.welcome.instance_id
        options = self.options
        self.number = options.producer
        if options.resend and not self.number and self.welcome.forgets_drawn:
            self.number = FIRST_PASSING | secrets.randbits(63)
        self._forgotten = self.welcome.forgotten
        self._start = self.welcome.start_id
        if options.producer and self.welcome.observes:
            yield from self._ask_producer()
            self._forgotten = self.producer.forgotten
        first = options.first_sequence
        self.next_sequence = self.producer.next if first is None else first
        self._begins = self.next_sequence if options.begins_here else None

    @property
    def _passing(self) -> bool:
        return self.number >= FIRST_PASSING

    def _ask_producer(self) -> Steps[None]:
        self.producer = yield from self.ask_producer(self.number)
        self.totals.producer_next = self.producer.next
        if self.producer.live and not self._passing:
            self.close()
            raise refusal(Reason.PRODUCER_BUSY, 0, True)

    def ask_producer(self, producer: int) -> Steps[ProducerState]:
        question = pb.Request(producer_status=pb.ProducerStatus(producer=producer))
        r = yield from self.ask(question, "producer_status_result")
        return ProducerState(r.producer, r.known, r.next, r.durable_next, r.live, r.forgotten)

    def _take_up_again(self) -> Steps[None]:
        self.missing = None
        self._restoring_until = 0
        if not self.number:
            self._make(self._giving_up())
        head = max(self.totals.head, self.welcome.head)
        yield from self._open()
        self._check_fingerprint()
        most = max(self.next_sequence, self.totals.producer_next)
        forgotten = self.welcome.forgotten
        asks = self.number != 0 and self.welcome.observes
        if asks and (self.totals.sent > 0 or not self._passing):
            yield from self._ask_producer()
            forgotten = self.producer.forgotten
        self._mark = (0, 0)
        perhaps_forgotten = (
            self._passing
            and self.totals.sent > 0
            and not self.producer.known
            and forgotten not in (0, self._forgotten)
        )
        gives_up = not self.number or perhaps_forgotten
        self._make(self._taking_up(forgotten, head, gives_up))
        if gives_up or not asks:
            return
        if self.producer.next > most:
            self.close()
            text = "another client has sent rows as this producer"
            raise refusal(Reason.REFUSED, self.producer.next, True, text)
        yield from self._find_missing()

    def _taking_up(self, forgotten: int, head_before: int, gives_up: bool) -> Callable[[], None]:
        """Takes note of the new connection's server; with `gives_up` the rows on their way become
        unknown, and those that the server has lost are counted."""
        welcome, totals = self.welcome, dataclasses.replace(self.totals)
        totals.histories += self._instance != welcome.instance_id
        by_instance, missed = self._accepted_by_instance, self._rows_missed
        if gives_up:
            lost = self._lost(head_before)
            by_instance -= lost
            if self.number:
                # The same start has all that it acknowledged, another at least the durable rows.
                same = self._start == welcome.start_id
                lost = 0 if same else max(totals.accepted - totals.durable, 0)
                missed += lost
            totals.lost += lost
            totals.head = welcome.head
        give_up = self._giving_up(totals)

        def change() -> None:
            self._instance, self._start = welcome.instance_id, welcome.start_id
            self._forgotten = forgotten
            self._accepted_by_instance, self._rows_missed = by_instance, missed
            if gives_up:
                give_up()
                self._begins = self.next_sequence
            else:
                self.totals = totals

        return change

    def _giving_up(self, totals: Totals | None = None) -> Callable[[], None]:
        """Counts the rows on their way as unknown and forgets their frames."""
        rows = self.frames.rows_on_the_way
        after = dataclasses.replace(totals or self.totals)
        after.unknown += rows
        rows_lost = self._rows_lost + rows

        def change() -> None:
            self.totals = after
            self._rows_lost = rows_lost
            self.frames.clear()

        return change

    def _lost(self, head_before: int) -> int:
        """How many accepted rows the server no longer has, at most, where none are sent again."""
        if self._instance != self.welcome.instance_id:
            return self._accepted_by_instance
        if self.welcome.head < head_before:
            return min(self._accepted_by_instance, head_before - self.welcome.head)
        return 0

    def _find_missing(self) -> Steps[None]:
        """Goes on where the server expects the next row, if this client still has the rows."""
        at = self.producer.next
        if self._begins is not None and (self._passing or not self.producer.known):
            at = max(at, self._begins)
            if not self._passing:
                self.frames.begin_at_front()
        kept = self.frames.first_kept(self.next_sequence)
        # If no row of a drawn producer was acknowledged none is missing: they were refused.
        had_rows = self.totals.accepted + self.totals.duplicate > 0
        if at >= kept or (self._passing and not had_rows):
            return (yield from self._send_again(at))
        self.missing = RowsMissing(at, kept - at)
        if not self._passing:
            raise self.missing
        # Nobody else knows this stream: nobody could hand the rows in again.
        yield from self.leave_missing()

    def _send_again(self, at: int) -> Steps[None]:
        """Sends the kept frames again. Acknowledged ones come first, and their answers are awaited:
        their rows are counted in `totals` already."""
        held = [frame for frame in self.frames.held if frame.end > at]
        if held:
            self._restoring_until = held[-1].id
            for frame in held:
                self._out.append(frame.bytes)
            yield from self.flush()
            try:
                yield from self._wait_until(lambda: self._restoring_until == 0)
            except Refused:
                self.close()  # the frames behind them cannot be sent without them
                raise
            finally:
                self._restoring_until = 0
        # They keep their ids, which are below those of later frames.
        for frame in self.frames.on_the_way:
            self._out.append(frame.bytes)
        yield from self.flush()

    def go_back(self, sequence: int) -> None:
        """For a caller that hands the missing rows in again from `sequence` on."""
        missing = self._missing_now()
        if not missing.first <= sequence < missing.first + missing.count:
            raise InvalidInput(
                f"sequence {sequence} is not among the missing rows {missing.first} to "
                f"{missing.first + missing.count - 1}"
            )
        acknowledged = self.frames.first_on_the_way(self.next_sequence)
        self._leave_before(missing, sequence)
        again = acknowledged - min(acknowledged, sequence)
        totals = dataclasses.replace(self.totals)
        totals.restored += again
        totals.sent -= self.frames.rows_on_the_way
        totals.frames_sent -= len(self.frames.on_the_way)
        totals.durable = min(totals.durable, totals.sent - min(again, totals.sent))

        def change() -> None:
            self.totals = totals
            self.frames.clear()
            self.next_sequence = sequence
            self.missing = None

        self._make(change)

    def leave_missing(self) -> Steps[None]:
        """For a caller that has none of the missing rows: they count as lost."""
        missing = self._missing_now()
        at = missing.first + missing.count
        self._leave_before(missing, at)
        self.missing = None
        self.frames.begin_at_front()
        yield from self._send_again(at)

    def _missing_now(self) -> RowsMissing:
        if self.missing is None:
            raise InvalidInput("no rows are missing")
        if not self.connected:
            raise Disconnected("not connected")
        return self.missing

    def take_missed(self) -> int:
        """How many rows of a drawn producer were left behind since the last call."""
        missed, self._rows_missed = self._rows_missed, 0
        return missed

    def _leave_before(self, missing: RowsMissing, sequence: int) -> None:
        if sequence == missing.first:
            return
        if self.producer.known and not self._passing:
            text = "the server knows an earlier part of the stream and takes no gap"
            raise refusal(Reason.SEQUENCE_GAP, self.producer.next, False, text)
        lost, missed = sequence - missing.first, self._rows_missed
        if self._passing:  # rows that no acknowledgement counted were refused, and are not lost
            lost = min(lost, self.totals.accepted + self.totals.duplicate)
            missed += lost
        after = dataclasses.replace(self.totals, lost=self.totals.lost + lost)

        def change() -> None:
            self.totals = after
            self._rows_missed = missed
            self._begins = sequence

        self._make(change)

    def _gone(self, why: str = "the server has closed the connection") -> WindhoverError:
        rows = 0 if self.number else self.frames.rows_on_the_way
        return super()._gone(f"{why}; {unknown_rows(rows)}" if rows else why)

    def _wait_until(self, done: Callable[[], bool]) -> Steps[None]:
        failure: WindhoverError | None = None
        while not done() and self.connected:
            try:
                self._take_in_all()
            except Refused as error:
                failure = failure or error
            if done() or not self.connected:
                break
            yield from self._receive()
        if failure is not None:
            raise failure
        if not done():
            raise Disconnected("not connected")


def unknown_rows(count: int) -> str:
    """Text about rows on their way when the connection broke."""
    return f"of {times(count, 'row')} on their way it is not known whether they were learned"
