"""One connection: frames out, answers in, and what went wrong; when to connect again."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from . import address as addresses
from . import frames as wire
from . import windhover_pb2 as pb
from .channel import Channel, connected
from .errors import (
    Disconnected,
    InvalidInput,
    ProtocolError,
    Reason,
    Refused,
    RowsMissing,
    TimedOut,
    Unreachable,
    WindhoverError,
    refusal,
    times,
)
from .options import Options
from .steps import Sleep, Steps, T, Wait

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
MAY_PASS = (
    Reason.PRODUCER_BUSY,
    Reason.UNAVAILABLE,
    Reason.CLOSED,
    Reason.IO_ERROR,
    Reason.TIMEOUT,
    Reason.WINDOW_FULL,
    Reason.LOG_FULL,
)


class Connection:
    """One connection: Hello, questions and their answers."""

    def __init__(self, address: str, options: Options) -> None:
        self.address = addresses.parse(address)
        self.options = options
        self.welcome = pb.Welcome()
        self._channel: Channel | None = None
        self._out = wire.OutBuffer()
        self._reader = wire.FrameReader()
        self._answers: deque[Any] = deque()  # received while something else was waited for
        self._next_id = 1
        self._fingerprint = 0

    @property
    def connected(self) -> bool:
        return self._channel is not None

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None
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
        self._channel = yield from connected(self.address, self.options)
        options = self.options
        durability = {
            None: pb.DURABILITY_UNSPECIFIED,
            False: pb.DURABILITY_MEMORY,
            True: pb.DURABILITY_LOGGED,
        }
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

    # --- Bytes

    def _gone(self, why: str = "the server has closed the connection") -> WindhoverError:
        said = [a.refusal for a in self._answers if a.HasField("refusal") and a.refusal.closing]
        self.close()
        return refusal_of(said[0]) if said else Disconnected(why)

    def _receive_some(self) -> bool:
        """One receive, without waiting; False where there is nothing yet."""
        if self._channel is None:
            raise Disconnected("not connected")
        try:
            data = self._channel.receive(1 << 18)
        except OSError as error:
            raise self._gone(f"the connection broke: {error.strerror or error}") from error
        if data is None:
            return False
        if not data:
            raise self._gone()
        self._reader.feed(data)
        return True

    def _receive(self, to_send: bool = False) -> Steps[None]:
        if self._channel is None:
            raise Disconnected("not connected")
        if not (yield Wait(self._channel, to_send, self.options.reply_timeout)):
            raise TimedOut("the server does not answer")
        self._receive_some()

    def _send_some(self) -> bool:
        """One send, without waiting; False where there is no room, or nobody any more."""
        if self._channel is None:
            raise Disconnected("not connected")
        try:
            sent = self._channel.send(self._out.front())
        except OSError:
            return False  # if the server is gone the next receive says why
        self._out.drop(sent)
        return sent > 0

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
        if self._channel is None:
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
                    raise refusal_of(response.refusal)
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
                if self._channel is not None:
                    self._look()
                if self._channel is None:
                    if not self.options.reconnect:
                        raise Disconnected("not connected")
                    try:
                        yield from self.reconnect()
                    except RowsMissing:
                        if not question:
                            raise
                return (yield from what())
            except (Disconnected, Refused) as error:
                if not (
                    again and self.options.reconnect and self._channel is None and may_pass(error)
                ):
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
                raise self._gone()
        except (Disconnected, Refused) as error:
            if not self.options.reconnect or self._channel is not None or not may_pass(error):
                raise

    def _progress(self) -> int:
        return 0


def may_pass(error: BaseException) -> bool:
    """Whether connecting again may help."""
    if isinstance(error, Refused):
        return error.reason in MAY_PASS
    return isinstance(error, (Unreachable, Disconnected, TimedOut))


def refusal_of(message: Any) -> Refused:
    return refusal(message.reason, message.number, message.closing)
