"""Creation, learning, saving and end of an engine in this process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from . import _library
from .engine_arrays import check
from .engine_options import filled
from .engine_reader import Reader
from .errors import InvalidInput
from .reasons import Reason

if TYPE_CHECKING:
    from . import _engine

_POLLED = 64  # rounds of learning in one call of the library
_PAUSE = 0.0005  # seconds; while the learner is behind, or has not published yet


@contextmanager
def _set_up() -> Iterator[None]:
    from ._engine import SetUpError

    try:
        yield
    except SetUpError as error:
        raise InvalidInput(str(error)) from None


def _made(library: _engine.Library, options: _engine.Options) -> _engine.Engine:
    from . import _engine

    return _engine.Engine(library, options)


class EngineLife:
    """`Engine` without rows and questions."""

    _handle: _engine.Engine | None = None
    _reader: Reader | None = None
    _closing = False  # then calls that wait for the learner raise and give up their locks

    def __init__(
        self, features: int, *, model: str = "linear", threads: int = 1, **options: Any
    ) -> None:
        self._c = _library.load()
        self._process = os.getpid()
        self._write_lock = threading.RLock()
        self._ask_lock = threading.RLock()
        self._options = filled(self._c, features, model, threads, options)
        self._running = False
        with _set_up():
            self._handle = _made(self._c, self._options)
        self.footprint = self._handle.footprint  # bytes of the engine, without readers
        self._dimension = self._handle.dimension
        try:
            self._reader = Reader(self._c, self._handle, self._options)
            if threads:
                self.start()
        except BaseException:
            self.close()
            raise

    # --- Locks. In a fork they may be held by a thread that is not there, so it must not take them.

    @property
    def _writing(self) -> AbstractContextManager[Any]:
        self._of_this_process()
        return self._write_lock

    @property
    def _asking(self) -> AbstractContextManager[Any]:
        self._of_this_process()
        return self._ask_lock

    def _of_this_process(self) -> None:
        if self._process != os.getpid():
            raise InvalidInput("the engine is of the process that this one was forked from")

    # --- What it is

    @property
    def features(self) -> int:
        """Columns of a row, without the intercept."""
        return int(self._options.features)

    @property
    def dimension(self) -> int:
        """Number of parameters, over all classes and the intercept included."""
        return self._dimension

    @property
    def rows(self) -> int:
        """Number of rows accepted so far."""
        with self._asking:
            return self._alive().head

    def __repr__(self) -> str:
        return (
            f"<Engine of {self.features} features, {self._options.model}, {self.footprint} bytes>"
        )

    @property
    def pending(self) -> int:
        """Number of keys that wait for their outcome."""
        with self._asking:
            return self._alive().pending_labels

    # --- Learning

    def poll(self, rounds: int = _POLLED) -> int:
        """Does at most `rounds` rounds of learning; returns how many had work to do.

        Raises:
            InvalidInput: `rounds` is not in 0 to 2^31 - 1.
            Refused: learner threads run.
        """
        if not 0 <= rounds < 2**31:
            raise InvalidInput(f"{rounds} rounds; 0 to 2147483647 are possible")
        done = 0
        with self._writing:
            while True:  # in pieces, so that Ctrl-C and close() have an effect
                piece = min(rounds - done, _POLLED)
                status, worth = self._alive().poll(piece)
                self._check(status)
                done += worth
                if worth < piece or done == rounds or self._closing:
                    return done

    def start(self) -> None:
        """Starts the library's learner threads."""
        with self._writing:
            self._check(self._alive().start())
            self._running = True

    def stop(self) -> None:
        """Stops the learner threads: from now on only poll(), wait() and a full observe() learn."""
        with self._writing:
            self._check(self._alive().stop())
            self._running = False

    def pause(self) -> None:
        """Pauses learning: answers stay what they are, and rows wait."""
        with self._asking:
            self._check(self._alive().pause(True))

    def resume(self) -> None:
        """Goes on learning."""
        with self._asking:
            self._check(self._alive().pause(False))

    def _go_on(self) -> None:
        """Does some of the learning, or lets the learner threads work for a moment."""
        if self._closing:
            raise InvalidInput("the engine is closed")
        with self._writing:
            worked = not self._running and self.poll() > 0
        if not worked:
            time.sleep(_PAUSE)

    # --- Saving and end

    def __reduce__(self) -> Any:
        raise TypeError(
            "an engine is neither copied nor pickled: save() gives bytes that another of the same "
            "options goes on from by restore()"
        )

    def save(self) -> bytes:
        """The state, from which restore() of an engine with the same options goes on bit for bit.

        Raises:
            Refused: the engine was made with `checkpoints=0`.
        """
        with self._writing:
            running = self._running
            self.stop()
            try:
                status, kept = self._alive().save()
                self._check(status)
            finally:
                if running:
                    self.start()
        return kept

    def restore(self, kept: bytes) -> None:
        """Takes the state of the engine that was saved.

        Raises:
            InvalidInput: this engine was made with `checkpoints=0`, and nothing changes; or it
                cannot go on from that state, and is as if newly made.
        """
        with self._writing, self._asking:
            running = self._running
            self.stop()
            try:
                with _set_up():
                    self._alive().restore(bytes(kept))
            finally:
                if running:
                    self.start()

    def close(self) -> None:
        """Stops the engine and frees its memory; in a fork it only forgets it.

        A call of another thread that waits for the learner raises InvalidInput.
        """
        if self._process != os.getpid():
            self._reader = self._handle = None
            return
        self._closing = True
        with self._writing, self._asking:
            if self._reader is not None:
                self._reader.close()
            if self._handle is not None:
                self._handle.destroy()
            self._reader = self._handle = None

    def __del__(self) -> None:
        if self._handle is not None and self._process == os.getpid():
            self.close()

    # --- Arrays and statuses

    def _alive(self) -> _engine.Engine:
        if self._handle is None:
            raise InvalidInput("the engine is closed")
        return self._handle

    def _asker(self) -> Reader:
        self._alive()
        assert self._reader is not None
        return self._reader

    def _check(self, status: int) -> None:
        check(self._c, status)
