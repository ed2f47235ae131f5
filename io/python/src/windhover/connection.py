"""A connection that says Hello, and connects again when it has broken."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import windhover_pb2 as pb
from .channel import connected, name_of
from .errors import (
    Disconnected,
    InvalidInput,
    ProtocolError,
    Refused,
    RowsMissing,
    TimedOut,
    Unreachable,
    WindhoverError,
    refusal,
    times,
)
from .exchange import Exchange
from .options import Options
from .reasons import Reason
from .steps import Sleep, Steps, T

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
MAY_PASS = (
    Reason.PRODUCER_BUSY,
    Reason.TABLE_FULL,
    Reason.UNAVAILABLE,
    Reason.CLOSED,
    Reason.IO_ERROR,
    Reason.TIMEOUT,
    Reason.WINDOW_FULL,
    Reason.LOG_FULL,
)


class Connection(Exchange):
    """A connection that says Hello, and connects again when it has broken."""

    def __init__(self, address: str, options: Options) -> None:
        super().__init__(address, options)
        self._fingerprint = 0
        self.ended = False
        self.look_at_server: Callable[[], None] = lambda: None  # raises if trying again is no use
        self._under_way = False  # a call runs; at the start of another: that one was interrupted

    # --- Calls. An exception from a signal handler, as that of Ctrl-C, may end one anywhere.

    @contextmanager
    def calling(self, steps: Steps[Any], *ends: type[BaseException]) -> Iterator[None]:
        """Around the running of `steps`: an answer, an error of this package and one of `ends` leave
        the connection as it is, whatever else ends the call closes it."""
        by_itself: tuple[type[BaseException], ...] = (WindhoverError, *ends)
        self.begin()
        try:
            yield
        except by_itself:
            self.finish()
            raise
        except BaseException:
            steps.close()
            self.recover()
            raise
        self.finish()

    def begin(self) -> None:
        if self._under_way:
            self.recover()
        self._under_way = True

    def finish(self) -> None:
        """Called when a call has ended by itself, with an answer or an error of this package."""
        self._under_way = False

    def recover(self) -> None:
        """Closes the connection of an interrupted call, with what was half sent or half read."""
        self.close()
        self._under_way = False

    def end(self) -> None:
        """Closes it for good: a running call of another thread or task does not connect again."""
        self.ended = True
        self.close()

    def check_open(self) -> None:
        if self.ended:
            raise InvalidInput("the client is closed: connect() makes another")

    # --- Connecting

    def connect(self) -> Steps[None]:
        yield from self._open()
        self._fingerprint = self.welcome.fingerprint

    def reconnect(self) -> Steps[None]:
        """Connects at once, then after pauses of 25 ms to 2 s, for `retry_for` seconds."""
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
            # Half of each pause is random, or all clients of a restarted server would come at once.
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
        self.check_open()
        self.close()
        self.look_at_server()
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
        try:
            self.welcome = yield from self.ask(pb.Request(hello=hello), "welcome")
        except ProtocolError as error:
            raise ProtocolError(
                f"this is no Windhover endpoint: {name_of(self.address)}, where {error}. Give that of "
                "server.observe or server.query; that of server.http is another"
            ) from error
        if options.model and self.welcome.model_name != options.model:
            self.close()
            text = "the server does not know models by their names"
            raise refusal(Reason.UNKNOWN_MODEL, 0, True, text)
        theirs = self.welcome.schema_fingerprint
        if options.schema_fingerprint and theirs and theirs != options.schema_fingerprint:
            self.close()
            text = "the server was started with another schema: its columns mean something else"
            raise refusal(Reason.FINGERPRINT_MISMATCH, theirs, True, text)
        if options.durable and self.welcome.durability != pb.DURABILITY_LOGGED:
            self.close()
            raise refusal(Reason.NOT_DURABLE, 0, True, "the server does not know what a log is")

    # --- Through broken connections

    def through(
        self, what: Callable[[], Steps[T]], again: bool = True, question: bool = False
    ) -> Steps[T]:
        """Runs `what`, on a new connection where the old one is gone; with `again`, once more
        whenever the connection breaks meanwhile. A `question` is asked even if rows are missing.
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
                if self._progress() != mark:  # without progress retry_for goes on counting
                    mark, began, pause = self._progress(), time.monotonic(), 0.0
                elif time.monotonic() - began >= self.options.retry_for:
                    raise
            if pause:
                yield Sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_PAUSE) or FIRST_PAUSE

    def _look(self) -> None:
        """Finds out whether the server has closed the connection, as it does with idle ones."""
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
