"""The client without waiting: what to send, what an answer means, when to connect again.

Everything that may have to wait is a generator which yields what it waits for (`Wait`, `Sleep`,
`Resolve`). `Client` waits for that by blocking, `aio.Client` in an event loop, so that both have the
same semantics: those of the C++ client (`io/client_stream.h`).
"""

from __future__ import annotations

import bisect
import dataclasses
import errno
import os
import random
import socket
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar, Union

import numpy as np

from . import address as addresses
from . import frames as wire
from . import windhover_pb2 as pb
from .errors import (
    Disconnected,
    InvalidInput,
    ProtocolError,
    Reason,
    Refused,
    RowsMissing,
    RowsRefused,
    TimedOut,
    Unreachable,
    WindhoverError,
    refusal,
    times,
)

WRITE_BYTES = 64 * 1024
MOST_REFUSED_KEPT = 1 << 20
WHOLE_FRAME = 2**32 - 1
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
HEADER_OF_BODY = {"hello": 2, "observe": 3, "predict": 4}

MAY_PASS = (
    Reason.PRODUCER_BUSY,
    Reason.UNAVAILABLE,
    Reason.CLOSED,
    Reason.IO_ERROR,
    Reason.TIMEOUT,
    Reason.WINDOW_FULL,
    Reason.LOG_FULL,
)


@dataclass
class Wait:
    """Until there is something to receive or, if `to_send`, room to send. Sent back: False after
    `timeout` seconds."""

    sock: socket.socket
    to_send: bool
    timeout: float


@dataclass
class Sleep:
    seconds: float


@dataclass
class Resolve:
    """Sent back: what `socket.getaddrinfo` gives."""

    host: str
    port: int


Effect = Union[Wait, Sleep, Resolve]
T = TypeVar("T")
Steps = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Options:
    """What `connect` is given, in its words."""

    model: str = ""
    token: str = ""
    producer: int = 0
    first_sequence: int | None = 0  # None: where the server stands
    begins_here: bool = False
    durable: bool | None = None
    fingerprint: int = 0
    connect_timeout: float = 5.0
    reply_timeout: float = 10.0
    single_precision: bool | None = None
    max_rows_per_frame: int = 0
    resend_bytes: int = 16 << 20
    retry_for: float = 60.0
    reconnect: bool = True


@dataclass
class Totals:
    """What became of the rows.

    Once everything is acknowledged, sent = accepted + refused + duplicate + unknown. A row that was
    sent again after a reconnection counts as sent once.

    Attributes:
        sent: rows handed to `observe`.
        accepted: rows that the server stored.
        refused: rows that it did not take.
        duplicate: rows that it had judged already.
        unknown: without a producer: on their way when a connection broke, learned or lost.
        frames_sent, frames_acknowledged: messages of rows.
        head: the server's observations from everybody, as of the newest acknowledgement.
        producer_next: the sequence number that the server expects next, as last heard.
        durable: acknowledged rows, oldest first, that are on the server's disk.
        restored: rows acknowledged, lost by the server and sent again.
        lost: rows acknowledged, lost by the server and not sent again.
        histories: how often the server came back as another instance.
    """

    sent: int = 0
    accepted: int = 0
    refused: int = 0
    duplicate: int = 0
    unknown: int = 0
    frames_sent: int = 0
    frames_acknowledged: int = 0
    head: int = 0
    producer_next: int = 0
    durable: int = 0
    restored: int = 0
    lost: int = 0
    histories: int = 0


@dataclass(frozen=True)
class ProducerState:
    """Where a producer stands at the server.

    Attributes:
        producer: its number.
        known: the server has judged a row of it.
        next: the sequence number expected next; 0 where it is not known.
        durable_next: its rows below this one are on the server's disk, or were refused.
        live: a connection speaks for it, be it this one.
    """

    producer: int = 0
    known: bool = False
    next: int = 0
    durable_next: int = 0
    live: bool = False


class Connection:
    """One connection: Hello, questions and their answers."""

    def __init__(self, address: str, options: Options) -> None:
        self.address = addresses.parse(address)
        self.options = options
        self.welcome = pb.Welcome()
        self._sock: socket.socket | None = None
        self._out = wire.OutBuffer()
        self._reader = wire.FrameReader()
        self._answers: deque[Any] = deque()  # received while something else was waited for
        self._next_id = 1
        self._fingerprint = 0

    @property
    def connected(self) -> bool:
        return self._sock is not None

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
        self._sock = None
        self._out.clear()
        self._reader = wire.FrameReader()
        self._answers.clear()

    def next_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    # --- Connecting

    def connect(self) -> Steps[None]:
        yield from self._open()
        self._fingerprint = self.welcome.fingerprint

    def reconnect(self) -> Steps[None]:
        """At once and then after pauses of 50 ms to 2 s, for `retry_for` seconds."""
        begin = time.monotonic()
        pause = FIRST_PAUSE
        while True:
            try:
                return (yield from self._take_up_again())
            except (Unreachable, Disconnected, TimedOut, Refused) as error:
                if not may_pass(error):
                    raise
                spent = time.monotonic() - begin
                if spent >= self.options.retry_for:
                    if self.options.retry_for > 0:
                        gave_up = f"; gave up after {times(int(spent), 'second')}"
                        error.args = (f"{error.args[0]}{gave_up}",)
                    raise
            self.close()
            # Half of each pause is up to chance, or all clients of a restarted server come at once.
            chosen = pause * random.uniform(0.5, 1.0)
            yield Sleep(min(chosen, self.options.retry_for - spent))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _take_up_again(self) -> Steps[None]:
        yield from self._open()
        self._check_fingerprint()

    def _check_fingerprint(self) -> None:
        if self.welcome.fingerprint == self._fingerprint:
            return
        self.close()
        raise refusal(
            Reason.FINGERPRINT_MISMATCH,
            self.welcome.fingerprint,
            True,
            "the server's rows mean something else than before",
        )

    def _open(self) -> Steps[None]:
        self.close()
        self._sock = yield from self._connect_socket()
        options = self.options
        durability = {None: pb.DURABILITY_UNSPECIFIED, False: pb.DURABILITY_MEMORY, True: pb.DURABILITY_LOGGED}
        hello = pb.Hello(
            version_min=1,
            version_max=1,
            model_fingerprint=options.fingerprint,
            durability=durability[options.durable],
            model=options.model,
            token=options.token,
        )
        self.welcome = yield from self.ask(pb.Request(hello=hello), "welcome")
        if options.model and self.welcome.model_name != options.model:
            self.close()
            text = "the server does not know models by their names"
            raise refusal(Reason.UNKNOWN_MODEL, 0, True, text)
        if options.durable and self.welcome.durability != pb.DURABILITY_LOGGED:
            self.close()
            raise refusal(Reason.NOT_DURABLE, 0, True, "the server does not know what a log is")

    def _connect_socket(self) -> Steps[socket.socket]:
        to = self.address
        targets: list[tuple[int, Any]]
        if to.unix_path:
            targets = [(socket.AF_UNIX, to.unix_path)]
        else:
            try:
                found = yield Resolve(to.host, to.port)
            except OSError as error:
                raise Unreachable(f"cannot connect: {to.host}: {error.strerror}") from error
            targets = [(family, place) for family, _, _, _, place in found]
        failure: WindhoverError = Unreachable("cannot connect: no such host")
        for family, place in targets:
            sock = socket.socket(family, socket.SOCK_STREAM)
            done = False
            try:
                sock.setblocking(False)
                code = sock.connect_ex(place)
                if code in (errno.EINPROGRESS, errno.EINTR):
                    if not (yield Wait(sock, True, self.options.connect_timeout)):
                        failure = TimedOut("cannot connect: no answer")
                        continue
                    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code:
                    failure = Unreachable(f"cannot connect to {self._name()}: {os.strerror(code)}")
                    continue
                if family != socket.AF_UNIX:
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                done = True
                return sock
            finally:
                if not done:
                    sock.close()
        raise failure

    def _name(self) -> str:
        to = self.address
        if to.unix_path:
            return f"unix:{to.unix_path}"
        return f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"

    # --- Bytes

    def _gone(self, why: str = "the server has closed the connection") -> WindhoverError:
        said = [a.refusal for a in self._answers if a.HasField("refusal") and a.refusal.closing]
        self.close()
        return _refusal_of(said[0]) if said else Disconnected(why)

    def _receive_some(self) -> bool:
        """One receive, without waiting; False where there is nothing yet."""
        if self._sock is None:
            raise Disconnected("not connected")
        try:
            data = self._sock.recv(1 << 18)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            raise self._gone(f"the connection broke: {error.strerror}") from error
        if not data:
            raise self._gone()
        self._reader.feed(data)
        return True

    def _receive(self, to_send: bool = False) -> Steps[None]:
        if self._sock is None:
            raise Disconnected("not connected")
        if not (yield Wait(self._sock, to_send, self.options.reply_timeout)):
            raise TimedOut("the server does not answer")
        self._receive_some()

    def _send_some(self) -> bool:
        """One send, without waiting; False where there is no room, or nobody any more."""
        if self._sock is None:
            raise Disconnected("not connected")
        try:
            self._out.drop(self._sock.sendmsg(self._out.front()))
        except OSError:
            return False  # if the server is gone the next receive says why
        return True

    def flush(self) -> Steps[None]:
        while self._out.size:
            if not self._send_some():
                yield from self._receive(to_send=True)
                self._take_in_all()

    def poll(self) -> None:
        """Sends and takes in what can be without waiting."""
        if self._out.size:
            self._send_some()
        while self._receive_some():
            self._take_in_all()

    # --- Answers

    def _take_in(self, response: Any) -> Refused | bool:
        """Whether the answer is about observing; a Refused if it says that of a frame."""
        return False

    def _take_in_all(self) -> None:
        failure: Refused | None = None
        try:
            for frame in self._reader.frames():
                response = pb.Response.FromString(frame)
                mine = self._take_in(response)
                if mine is False:
                    self._answers.append(response)
                elif isinstance(mine, Refused):
                    failure = failure or mine
        except ProtocolError:
            self.close()
            raise
        except Exception as error:  # protobuf's DecodeError
            self.close()
            raise ProtocolError(f"the server's answer cannot be read: {error}") from error
        if failure is not None:
            if failure.closing:
                self.close()
            raise failure

    def ask(self, request: Any, arm: str) -> Steps[Any]:
        """Sends a request and waits for its own answer, of which it returns `arm`."""
        request.id = self.next_id()
        body = request.SerializeToString()
        return (yield from self.ask_bytes(request.id, wire.varint(len(body)) + body, arm))

    def ask_bytes(self, request_id: int, frame: bytes, arm: str) -> Steps[Any]:
        if self._sock is None:
            raise Disconnected("not connected")
        cap = self.welcome.frame_cap
        if cap and len(frame) > cap:
            raise InvalidInput(
                f"the question is larger than a frame may be ({cap} bytes): ask for fewer rows"
            )
        self._out.append(frame)
        yield from self.flush()
        while True:
            self._take_in_all()
            while self._answers:
                response = self._answers.popleft()
                refused = response.HasField("refusal")
                if refused and (response.id == request_id or response.refusal.closing):
                    if response.refusal.closing:
                        self.close()
                    raise _refusal_of(response.refusal)
                if response.id != request_id:
                    continue  # of a question that nobody waits for any more
                if response.WhichOneof("body") != arm:
                    self.close()
                    raise ProtocolError(f"the server does not answer with {arm}")
                return getattr(response, arm)
            yield from self._receive()

    # --- Through broken connections

    def through(
        self, what: Callable[[], Steps[T]], again: bool = True, question: bool = False
    ) -> Steps[T]:
        """Runs `what`, on a new connection where the old one is gone; and, if `again`, once more
        whenever it breaks meanwhile. That rows are missing does not keep a question from going on.
        """
        began = time.monotonic()
        pause = 0.0
        mark = self._progress()
        while True:
            try:
                if self._sock is not None:
                    self._look()
                if self._sock is None:
                    if not self.options.reconnect:
                        raise Disconnected("not connected")
                    try:
                        yield from self.reconnect()
                    except RowsMissing:
                        if not question:
                            raise
                return (yield from what())
            except (Disconnected, Refused) as error:
                if not (again and self.options.reconnect and self._sock is None and may_pass(error)):
                    raise
                if self._progress() != mark:  # else it breaks again and again
                    mark, began, pause = self._progress(), time.monotonic(), 0.0
                elif time.monotonic() - began >= self.options.retry_for:
                    raise
            if pause:
                yield Sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_PAUSE) or FIRST_PAUSE

    def _look(self) -> None:
        """Finds out whether the server has gone since; who is idle for long is let go."""
        try:
            self.poll()
            if any(a.HasField("refusal") and a.refusal.closing for a in self._answers):
                self.close()
        except (Disconnected, Refused) as error:
            if not self.options.reconnect or self._sock is not None or not may_pass(error):
                raise

    def _progress(self) -> int:
        return 0


@dataclass(eq=False, slots=True)
class SentFrame:
    id: int
    first_row: int  # counted over all rows of the client
    first_sequence: int
    rows: int
    bytes: bytes  # kept only with a producer

    @property
    def end(self) -> int:
        return self.first_sequence + self.rows


class SentFrames:
    """The frames that were sent and may have to be sent again.

    Ids rise through `held`, frames that were acknowledged and are kept while there is room, and
    `on_the_way`.
    """

    def __init__(self) -> None:
        self.held: deque[SentFrame] = deque()
        self.on_the_way: deque[SentFrame] = deque()
        self.rows_on_the_way = 0
        self.bytes_on_the_way = 0
        self._bytes = 0

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]

    def push(self, frame: SentFrame) -> None:
        self.on_the_way.append(frame)
        self.rows_on_the_way += frame.rows
        self.bytes_on_the_way += len(frame.bytes)
        self._bytes += len(frame.bytes)

    def acknowledge(self, up_to: int) -> int:
        """All up to this id have arrived; how many of them had not before."""
        count = 0
        while self.on_the_way and self.on_the_way[0].id <= up_to:
            frame = self.on_the_way.popleft()
            self.rows_on_the_way -= frame.rows
            self.bytes_on_the_way -= len(frame.bytes)
            self.held.append(frame)
            count += 1
        return count

    def find(self, frame_id: int) -> SentFrame | None:
        for frames in (self.on_the_way, self.held):
            at = bisect.bisect_left(frames, frame_id, key=lambda frame: frame.id)
            if at < len(frames) and frames[at].id == frame_id:
                return frames[at]
        return None

    def erase(self, frame: SentFrame) -> None:
        """The server will not have it."""
        self._bytes -= len(frame.bytes)
        if frame in self.held:
            self.held.remove(frame)
            return
        self.on_the_way.remove(frame)
        self.rows_on_the_way -= frame.rows
        self.bytes_on_the_way -= len(frame.bytes)

    def trim(self, most_bytes: int, durable: int) -> None:
        """Forgets held frames beyond so many bytes, and those that need not be sent again."""
        while self.held:
            front = self.held[0]
            needed = front.bytes and front.first_row + front.rows > durable
            if needed and self._bytes <= most_bytes:
                return
            self._bytes -= len(front.bytes)
            self.held.popleft()

    def begin_at_front(self) -> None:
        """The first frame says from now on that nothing comes before it."""
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


class Stream(Connection):
    """A connection with rows: sent pipelined, counted, and taken up again when it breaks.

    Invariant: every row handed in is in `totals` once, as what is known of it, or on its way.
    """

    def __init__(self, address: str, options: Options) -> None:
        super().__init__(address, options)
        self.totals = Totals()
        self.frames = SentFrames()
        self.missing: RowsMissing | None = None
        self.producer = ProducerState()
        self.next_sequence = 0
        self._begins: int | None = None  # the stream is to be taken up in the middle, here
        self._restoring_until = 0  # id; until then answers are about frames held; 0: none
        self._rows_lost = False  # and wait_acknowledged() has not said so yet
        self._instance = 0
        self._accepted_by_instance = 0
        self._mark = (0, 0)  # durable: so many rows are once the server's head of then is
        self._refused: list[tuple[int, Reason]] = []
        self._refused_count = 0

    # --- Connecting

    def connect(self) -> Steps[None]:
        yield from super().connect()
        self._instance = self.welcome.instance_id
        options = self.options
        if options.producer and self.welcome.observes:
            yield from self._ask_producer()
        first = options.first_sequence
        self.next_sequence = self.producer.next if first is None else first
        self._begins = self.next_sequence if options.begins_here else None

    def _ask_producer(self) -> Steps[None]:
        self.producer = yield from self.ask_producer(self.options.producer)
        self.totals.producer_next = self.producer.next
        if self.producer.live:
            self.close()
            raise refusal(Reason.PRODUCER_BUSY, 0, True)

    def ask_producer(self, producer: int) -> Steps[ProducerState]:
        question = pb.Request(producer_status=pb.ProducerStatus(producer=producer))
        r = yield from self.ask(question, "producer_status_result")
        return ProducerState(r.producer, r.known, r.next, r.durable_next, r.live)

    def _take_up_again(self) -> Steps[None]:
        self.missing = None
        self._restoring_until = 0
        totals = self.totals
        if not self.options.producer:
            self._rows_lost = self._rows_lost or bool(self.frames.on_the_way)
            totals.unknown += self.frames.rows_on_the_way
            self.frames.clear()
        head = max(totals.head, self.welcome.head)
        yield from self._open()
        self._check_fingerprint()
        before, self._instance = self._instance, self.welcome.instance_id
        if before != self._instance:
            totals.histories += 1
        self._mark = (0, 0)
        if not self.options.producer:
            totals.lost += self._lost(before, head)
            totals.head = self.welcome.head
            return
        if not self.welcome.observes:
            return
        most = max(self.next_sequence, totals.producer_next)
        yield from self._ask_producer()
        if self.producer.next > most:
            self.close()
            text = "another client has sent rows as this producer"
            raise refusal(Reason.REFUSED, self.producer.next, True, text)
        yield from self._find_missing()

    def _lost(self, instance_before: int, head_before: int) -> int:
        """Without a producer: how many of these rows the server no longer has, at most."""
        rows = 0
        if instance_before != self._instance:
            rows = self._accepted_by_instance
        elif self.welcome.head < head_before:
            rows = min(self._accepted_by_instance, head_before - self.welcome.head)
        self._accepted_by_instance -= rows
        return rows

    def _find_missing(self) -> Steps[None]:
        """What the server expects next is where this client goes on, if it still has the rows."""
        at = self.producer.next
        if not self.producer.known and self._begins is not None:
            at = self._begins
        kept = self.frames.first_kept(self.next_sequence)
        if at >= kept:
            return (yield from self._send_again(at))
        self.missing = RowsMissing(at, kept - at)
        raise self.missing

    def _send_again(self, at: int) -> Steps[None]:
        """Frames that were acknowledged come first and by themselves: what is said of them has been
        counted before."""
        held = [frame for frame in self.frames.held if frame.end > at]
        if held:
            self._restoring_until = held[-1].id
            for frame in held:
                self._out.append(frame.bytes)
            yield from self.flush()
            try:
                yield from self._wait_until(lambda: self._restoring_until == 0)
            finally:
                self._restoring_until = 0
        # With their old ids: those of later frames go on counting up.
        for frame in self.frames.on_the_way:
            self._out.append(frame.bytes)
        yield from self.flush()

    def go_back(self, sequence: int) -> None:
        """The caller still has the missing rows from `sequence` on and hands them in again."""
        missing = self._missing_now()
        if not missing.first <= sequence < missing.first + missing.count:
            raise InvalidInput(
                f"sequence {sequence} is not among the missing rows {missing.first} to "
                f"{missing.first + missing.count - 1}"
            )
        acknowledged = self.frames.first_on_the_way(self.next_sequence)
        self._leave_before(missing, sequence)
        again = acknowledged - min(acknowledged, sequence)
        totals = self.totals
        totals.restored += again
        totals.sent -= self.frames.rows_on_the_way
        totals.frames_sent -= len(self.frames.on_the_way)
        totals.durable = min(totals.durable, totals.sent - min(again, totals.sent))
        self.frames.clear()
        self.next_sequence = sequence
        self.missing = None

    def leave_missing(self) -> Steps[None]:
        """The caller has none of the missing rows: they count as lost."""
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

    def _leave_before(self, missing: RowsMissing, sequence: int) -> None:
        if sequence == missing.first:
            return
        if self.producer.known:
            text = "the server knows an earlier part of the stream and takes no gap"
            raise refusal(Reason.SEQUENCE_GAP, self.producer.next, False, text)
        self.totals.lost += sequence - missing.first
        self._begins = sequence

    # --- Rows out

    def observe(self, rows: wire.Rows) -> Steps[int]:
        """Hands the rows over; the number of the first of them, counted over all rows sent."""
        welcome = self.welcome
        room = max(welcome.frame_cap - wire.FRAME_OVERHEAD, 0)
        most = min(welcome.max_rows, self.options.max_rows_per_frame or welcome.max_rows)
        pieces = list(rows.pieces(most, room))
        first_row = self.totals.sent
        if self._sock is not None and self.missing is None:
            self._look()
        if self._sock is None or self.missing is not None:
            yield from self.through(self._ready, again=False)
        for begin, end in pieces:
            self._push(rows, begin, end)
            if self.frames.bytes_on_the_way > self.options.resend_bytes:
                yield from self._steadily(self._wait_for_room)
            elif self._out.size >= WRITE_BYTES:
                yield from self._steadily(self.flush)
        if self._sock is not None:
            self._send_some()
        return first_row

    @property
    def _steady(self) -> bool:
        """Whether rows go on by themselves when the connection breaks."""
        return self.options.reconnect and self.options.producer != 0

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

    def _push(self, rows: wire.Rows, begin: int, end: int) -> None:
        request_id = self.next_id()
        producer = self.options.producer
        count = end - begin
        head = wire.field(3, count)
        if producer:
            head = wire.field(1, producer) + wire.field(2, self.next_sequence) + head
        parts: list[wire.Buffer] = [head]
        parts += rows.parts(begin, end, features=4, targets=6, indices=8)
        if producer and self._begins is not None:
            parts.append(wire.field(10, 1))
        frame = wire.framed(request_id, HEADER_OF_BODY["observe"], parts)
        self._out.append(frame)
        kept = frame if producer else b""
        self.frames.push(
            SentFrame(request_id, self.totals.sent, self.next_sequence, count, kept)
        )
        self.frames.trim(self.options.resend_bytes, self.totals.durable)
        self.next_sequence += count
        self.totals.sent += count
        self.totals.frames_sent += 1

    def wait_acknowledged(self) -> Steps[None]:
        """Sends what is pending and waits until all is acknowledged."""
        if self._rows_lost or (not self._steady and self.frames.on_the_way):
            yield from self._wait_once()
        elif self.frames.on_the_way or self._out.size:
            yield from self._steadily(self._wait_once)
        elif self.missing is not None:
            raise self.missing

    def _wait_once(self) -> Steps[None]:
        yield from self._ready()
        if self._rows_lost:
            self._rows_lost = False
            raise Disconnected("rows were on their way when the connection broke")
        yield from self.flush()
        yield from self._wait_until(lambda: not self.frames.on_the_way)

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

    # --- What became of them

    def _take_in(self, response: Any) -> Refused | bool:
        if response.HasField("observe_ack"):
            self._take_in_acknowledgement(response.id, response.observe_ack)
            return True
        if not response.HasField("refusal"):
            return False
        frame = self.frames.find(response.id)
        if frame is None:
            return False
        if frame.id <= self._restoring_until:  # one that was acknowledged before
            self._restoring_until = 0
        else:
            self.totals.refused += frame.rows
            self.totals.frames_acknowledged += 1
            self.frames.erase(frame)
        return _refusal_of(response.refusal)

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
        for request, row, reason in zip(
            ack.refused_request, ack.refused_row, ack.refused_reason
        ):
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
        taken = RowsRefused(rows, [why for _, why in self._refused], self._refused_count)
        self._refused = []
        self._refused_count = 0
        return taken

    def _progress(self) -> int:
        return self.totals.frames_acknowledged

    def totals_now(self) -> Totals:
        return dataclasses.replace(self.totals)


def may_pass(error: BaseException) -> bool:
    """Whether connecting again may help."""
    if isinstance(error, Refused):
        return error.reason in MAY_PASS
    return isinstance(error, (Unreachable, Disconnected, TimedOut))


def _refusal_of(message: Any) -> Refused:
    return refusal(message.reason, message.number, message.closing)


def _frames_in(data: bytes) -> list[bytes]:
    reader = wire.FrameReader()
    reader.feed(data)
    return list(reader.frames())
