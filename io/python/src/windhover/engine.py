"""The engine inside this process: no daemon, numpy in and out.

    with windhover.Engine(features=10, window_size=10_000) as engine:
        engine.observe(X, y)
        engine.wait()
        lower, upper = engine.predict(X).interval(0.9)

Rows that are contiguous float64 are read where they lie, and answers are arrays that the library
wrote. Needs libwindhover.so.0 (package libwindhover0), or WINDHOVER_LIBRARY, its path.
"""

from __future__ import annotations

import ctypes
import io
import os
import threading
import time
from collections.abc import Callable, Sequence
from ctypes import byref, c_int, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
from types import TracebackType
from typing import Any

import numpy as np

from . import _library as c
from .engine_reader import EnginePredictions, Reader, check, column, matrix, pointer
from .errors import InvalidInput, Reason, RowsRefused, TimedOut
from .provenance import Horizon, Provenance
from .results import Draws, FloatArray, Posterior, warn_unless_ok

_POLLED = 64  # rounds of learning a call
_PAUSE = 0.0005  # seconds; the learner is behind, or has not published yet


class _Callback:
    """For the library to call; what is raised in it does not get lost on the way through C."""

    raised: BaseException | None = None

    def __init__(self, call: Callable[[int, int], None]) -> None:
        self._call = call

    def __call__(self, _: Any, at: int, size: int) -> int:
        try:
            self._call(at, size)
        except BaseException as error:
            self.raised = error
            return -1
        return 0

    def raise_what_it_raised(self) -> None:
        if self.raised is not None:
            raise self.raised


class Engine:
    """Keeps the posterior of a stream in memory that is fixed at the start.

    Threads: any may call anything; observe() and poll() take turns, and so do questions, one of
    which does not wait for rows. A forked process has none of the threads: there every call but
    close() is refused. Sparse rows, keys and events are the client's alone.

    Args:
        features: columns of a row, without the intercept.
        model: `windhover models` lists the names.
        threads: that learn meanwhile; 0: none does but in poll(), wait() and a full observe().
        options: the fields of windhover_engine_options of `io/c/engine.h`, such as window_size,
            horizon ("window", ...), seed, classes, sampler.

    Raises:
        OSError: the library is missing.
        InvalidInput: an option that there is not, or a value that it refuses, in its words.
    """

    _handle: c_void_p | None = None
    _reader: Reader | None = None

    def __init__(
        self, features: int, *, model: str = "linear", threads: int = 1, **options: Any
    ) -> None:
        self._c = c.load()
        self._writing = threading.RLock()
        self._asking = threading.RLock()
        self._options = self._filled(features, model, threads, options)
        self._running = False
        failure, size = c.Failure(), c_size_t()
        status = self._c.windhover_engine_footprint(
            byref(self._options), byref(size), byref(failure)
        )
        self._set_up(status, failure)
        self.footprint = size.value  # bytes, readers not counted
        handle = c_void_p()
        status = self._c.windhover_engine_create(
            byref(self._options), byref(handle), byref(failure)
        )
        self._set_up(status, failure)
        self._handle = handle
        self._process = os.getpid()
        self._dimension = int(self._c.windhover_engine_dimension(handle))
        try:
            self._reader = Reader(self._c, handle, self._options)
            if threads:
                self.start()
        except BaseException:
            self.close()
            raise

    def _filled(self, features: int, model: str, threads: int, options: dict[str, Any]) -> Any:
        filled = c.made(self._c, "engine_options")
        known = [name for name, _ in c.EngineOptions._fields_[1:]]
        taken = {"features", "model", "learner_threads", "max_nonzeros", "labels_pending"}
        given = {**options, "features": features, "model": model, "learner_threads": threads or 1}
        for name, value in given.items():
            if name not in known or (name in taken and name in options):
                there = ", ".join(one for one in known if one not in taken)
                raise InvalidInput(f"{name}: there is no such option; there are {there}")
            if name == "horizon":
                names = [str(horizon) for horizon in Horizon][:-1]
                if str(value) not in names:
                    raise InvalidInput(f"horizon={value!r}: one of {', '.join(names)}")
                value = names.index(str(value))
            kind = dict(c.EngineOptions._fields_)[name]
            if isinstance(value, (int, np.integer)) and kind in (c_int, c_uint32, c_uint64):
                least = -(2**31) if kind is c_int else 0
                if not least <= value < 2 ** (8 * sizeof(kind)) + least:
                    raise InvalidInput(f"{name}={value}: at least {least}, and not that large")
            try:
                setattr(filled, name, value.encode() if isinstance(value, str) else value)
            except TypeError:
                raise InvalidInput(f"{name}={value!r}: of another type") from None
        return filled

    # --- What it is

    @property
    def features(self) -> int:
        """Columns of a row, without the intercept."""
        return int(self._options.features)

    @property
    def dimension(self) -> int:
        """Parameters: features, and the intercept if there is one."""
        return self._dimension

    @property
    def rows(self) -> int:
        """Rows accepted so far."""
        with self._asking:
            return int(self._c.windhover_engine_head(self._alive()))

    def __repr__(self) -> str:
        model = (self._options.model or b"").decode()
        return f"<Engine of {self.features} features, {model}, {self.footprint} bytes>"

    # --- Rows

    def observe(
        self, X: Any, y: Any, offsets: Any = None, weights: Any = None, trials: Any = None
    ) -> int:
        """Takes rows, shape (n, features) or one of (features,), and says how many it took.

        While the learner is behind by window_slack rows it waits for it, or does its work.

        Raises:
            RowsRefused: some were refused, counted from 0 in this call; the others were taken.
            Refused: the model does not take what is given; rows before may have been taken.
        """
        rows = matrix(X, self.features)
        n = len(rows)
        columns = {"targets": y, "offsets": offsets, "weights": weights, "trials": trials}
        arrays = {k: column(k, v, n) for k, v in columns.items() if v is not None}
        numbers: list[int] = []
        reasons: list[Reason] = []
        taken = 0
        with self._writing:
            step = int(self._options.max_frame_rows)
            for begin in range(0, n, step):
                end = min(n, begin + step)
                said = self._frame(rows[begin:end], {k: v[begin:end] for k, v in arrays.items()})
                taken += end - begin - len(said)
                numbers += [begin + row for row, _ in said]
                reasons += [Reason(reason) for _, reason in said]
        if numbers:
            raise RowsRefused(np.array(numbers, dtype=np.int64), reasons, len(numbers))
        return taken

    def _frame(self, rows: FloatArray, arrays: dict[str, FloatArray]) -> list[tuple[int, int]]:
        frame = c.made(self._c, "rows")
        frame.rows, frame.feature_values = len(rows), rows.size
        frame.features = pointer(rows)
        for name, array in arrays.items():
            setattr(frame, name, pointer(array))
        listed = (c.RefusedRow * len(rows))()
        accepted, refused = c_size_t(), c_size_t()
        while True:
            status = self._c.windhover_engine_observe_rows(
                self._alive(), byref(frame), listed, len(rows), byref(accepted), byref(refused)
            )
            if status != Reason.WINDOW_FULL:
                break
            self._go_on()
        self._check(status)
        return [(int(one.row), int(one.reason)) for one in listed[: refused.value]]

    def _go_on(self) -> None:
        """Lets the learner get on."""
        with self._writing:
            worked = not self._running and self.poll() > 0
        if not worked:
            time.sleep(_PAUSE)

    # --- Learning

    def poll(self, rounds: int = _POLLED) -> int:
        """Does at most so many rounds of learning; how many were worth doing.

        Raises:
            Refused: threads do it.
        """
        done = c_int()
        with self._writing:
            self._check(self._c.windhover_engine_poll(self._alive(), rounds, byref(done)))
        return done.value

    def start(self) -> None:
        """Learns on threads of the library's own from now on."""
        with self._writing:
            self._check(self._c.windhover_engine_start(self._alive()))
            self._running = True

    def stop(self) -> None:
        """Learns in poll() alone from now on."""
        with self._writing:
            self._check(self._c.windhover_engine_stop(self._alive()))
            self._running = False

    def wait(self, timeout: float = 60.0, ok: bool = False) -> Provenance:
        """Until answers hold every row taken in before the call; says how they stand.

        Right after the first rows that is "warming_up": with `ok` it waits until the status is ok.

        Raises:
            TimedOut: it is not so after so many seconds.
        """
        rows = self.rows
        deadline = time.monotonic() + timeout
        while True:
            with self._asking:
                where = self._asker().provenance()
            if where.sequence >= rows and (where.ok or not ok):
                return where
            if time.monotonic() > deadline:
                raise TimedOut(
                    f"{where.sequence} of {rows} rows are in answers, whose status is "
                    f"{where.status} ({where.reason})"
                )
            self._go_on()

    # --- Answers

    def predict(
        self,
        X: Any,
        interval: float = 0.9,
        quantiles: Sequence[float] = (),
        thresholds: Sequence[float] = (),
        outcomes: Any = None,
        thompson_id: int = 0,
        offsets: Any = None,
        trials: Any = None,
    ) -> EnginePredictions:
        """Predicts y for each row; more than max_query_rows of them in several pieces.

        Raises:
            InvalidInput, Refused: it cannot be asked like this.
        """
        columns = {"outcomes": outcomes, "offsets": offsets, "trials": trials}
        with self._asking:
            answer = self._asker().predict(X, interval, quantiles, thresholds, thompson_id, columns)
        warn_unless_ok(answer.provenance, "", stacklevel=2)
        return answer

    def posterior(self) -> Posterior:
        """Marginals of the parameters."""
        with self._asking:
            answer = self._asker().posterior()
        warn_unless_ok(answer.provenance, "", stacklevel=2)
        return answer

    def draws(self) -> Draws:
        """All draws that are kept, of one snapshot; none before there are any."""
        with self._asking:
            answer = self._asker().draws()
        warn_unless_ok(answer.provenance, "", stacklevel=2)
        return answer

    # --- Kept and ended

    def save(self) -> bytes:
        """All that an engine of the same options goes on from, with the same bits."""
        kept = bytearray()
        call = _Callback(lambda data, size: kept.extend(ctypes.string_at(data, size)))
        with self._writing:
            running = self._running
            self.stop()
            try:
                status = self._c.windhover_engine_save(self._alive(), c.WRITE(call), None)
                call.raise_what_it_raised()
                self._check(status)
            finally:
                if running:
                    self.start()
        return bytes(kept)

    def restore(self, saved: bytes) -> None:
        """Becomes the engine that was saved.

        Raises:
            InvalidInput: that is not what this engine can go on from; it is as it was at first.
        """
        stream = io.BytesIO(saved)

        def read(to: int, size: int) -> None:
            piece = stream.read(size)
            if len(piece) < size:
                raise EOFError
            ctypes.memmove(to, piece, size)

        call = _Callback(read)
        failure = c.Failure()
        with self._writing, self._asking:
            running = self._running
            self.stop()
            try:
                status = self._c.windhover_engine_restore(
                    self._alive(), c.READ(call), None, byref(failure)
                )
                if not isinstance(call.raised, EOFError):
                    call.raise_what_it_raised()
                self._set_up(status, failure)
            finally:
                if running:
                    self.start()

    def close(self) -> None:
        """Stops, and gives the memory back."""
        with self._writing, self._asking:
            if self._reader is not None:
                self._reader.close()
            if self._handle is not None:
                self._c.windhover_engine_destroy(self._handle)
            self._reader = self._handle = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._handle is not None and self._process == os.getpid():
            self.close()

    # --- Arrays and statuses

    def _alive(self) -> c_void_p:
        if self._handle is None:
            raise InvalidInput("the engine is closed")
        if self._process != os.getpid():
            raise InvalidInput("the engine is of the process that this one was forked from")
        return self._handle

    def _asker(self) -> Reader:
        self._alive()
        assert self._reader is not None
        return self._reader

    def _check(self, status: int) -> None:
        check(self._c, status)

    @staticmethod
    def _set_up(status: int, failure: c.Failure) -> None:
        if status != Reason.OK:
            raise InvalidInput(f"{failure.sentence.decode()} ({failure.number:g})")
