"""The engine inside this process: no daemon, numpy in and out.

    with windhover.Engine(features=10, window_size=10_000) as engine:
        engine.observe(X, y)
        engine.wait()
        lower, upper = engine.predict(X).interval(0.9)

Rows in contiguous float64 arrays are not copied, and answers are arrays that the library wrote. It
needs libwindhover.so.0 (package libwindhover0); the environment variable WINDHOVER_LIBRARY may give
its path.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .asked import Asked
from .engine_arrays import arguments, taken, texts
from .engine_life import EngineLife
from .contrasts import Contrasts
from .engine_reader import EnginePredictions
from .errors import RowsRefused, TimedOut
from .faults import cells_text, names_of
from .events import Event
from .options import Joined
from .posterior import Draws, Posterior
from .provenance import Provenance
from .reasons import Reason
from .results import FloatArray, warn_unless_ok
from .rows import column_of


class Engine(EngineLife):
    """Keeps the posterior of a stream in memory whose size is fixed at the start.

    Any thread may call anything. Calls that take rows or learn wait for one another, and so do
    questions, but a question does not wait for rows. A forked process has none of the threads:
    there every call but close() is refused.

    Args:
        features: columns of a row, without the intercept.
        model: `windhover models` lists the names.
        threads: number of learner threads; 0: only poll(), wait() and a full observe() learn.
        options: the fields of windhover_engine_options in `io/c/engine.h`, such as window_size,
            horizon ("window", ..., or "chosen" as a daemon's default), seed, classes and sampler;
            max_nonzeros for sparse rows; structure ("diagonal") for many columns; labels_pending:
            how many keys may wait for their outcomes.

    Raises:
        ImportError: the package was installed without its compiled module.
        OSError: the library is missing.
        InvalidInput: there is no such option, or the library refuses a value, in its words.
    """

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- Rows

    def observe(
        self, X: Any, y: Any, offsets: Any = None, weights: Any = None, trials: Any = None
    ) -> int:
        """Takes rows and returns how many.

        While the learner is behind by window_slack rows it waits for the learner, or does its work.

        Args:
            X: shape (n, features): array, data frame, SciPy sparse matrix or SparseRows.
            y, offsets, weights, trials: shape (n,), as for Client.observe().

        Raises:
            RowsRefused: some were refused, numbered from 0 in this call; the others were taken.
            Refused: the model does not take these arrays; rows before may have been taken.
        """
        rows = taken(self._options, X, y)
        columns = {"offsets": offsets, "weights": weights, "trials": trials}
        arrays = {k: column_of(k, v, rows.count) for k, v in columns.items() if v is not None}
        arrays["targets"] = rows.targets
        numbers: list[int] = []
        reasons: list[Reason] = []
        with self._writing:
            step = int(self._options.max_frame_rows)
            for begin in range(0, rows.count, step):
                end = min(rows.count, begin + step)
                frame = arguments(rows, arrays, begin, end)
                said = self._taking(lambda: self._alive().observe(**frame))[0]
                numbers += [begin + row for row, _ in said]
                reasons += [Reason(reason) for _, reason in said]
            self.settle()
        if numbers:
            cells = [
                cells_text(rows, row, names_of(X), reason is Reason.TARGET_OUT_OF_DOMAIN)
                for row, reason in zip(numbers, reasons)
            ]
            raise RowsRefused(np.array(numbers, dtype=np.int64), reasons, len(numbers), cells)
        return rows.count

    def _taking(self, call: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Repeats the call until the window has room; returns what it gives behind its status."""
        while (said := call())[0] == Reason.WINDOW_FULL:
            self._go_on()
        self._check(said[0])
        return said[1:]

    def outcome(self, key: str | Sequence[str], y: Any) -> Joined:
        """Tells the outcomes of rows that were asked about with a key. Each row is then learned
        like any other, and scored by the answer that was given.

        Args:
            key: as for predict(): one, or several.
            y: a number, or one a key.

        Raises:
            InvalidInput: key and y differ in length.
            Refused: the engine keeps no keys: labels_pending is 0.
        """
        keys = [key] if isinstance(key, str) else list(key)
        targets = column_of("y", y, len(keys))
        assert targets is not None
        names = texts(keys, len(keys))
        counts = [0, 0, 0]
        refused: dict[int, Reason] = {}
        with self._writing:
            step = int(self._options.max_frame_rows)
            for begin in range(0, len(keys), step):
                piece = (names[begin : begin + step], targets[begin : begin + step])
                *parts, said = self._taking(lambda: self._alive().outcomes(*piece))
                counts = [a + b for a, b in zip(counts, parts)]
                refused |= {begin + row: Reason(reason) for row, reason in said}
            self.settle()
            accepted, refused_count, duplicate = counts
            return Joined(accepted, refused_count, duplicate, self.rows, 0, refused)

    def settle(self) -> None:
        """Ends the wait of keys whose time is up (labels_timeout_seconds).

        observe() and outcome() do it too: call this now and then if neither is called for long.
        """
        with self._writing:
            if not self._options.labels_pending:
                return
            status = self._alive().settle_labels()
            if status != Reason.WINDOW_FULL:  # the rest later
                self._check(status)

    # --- Answers

    def wait(self, timeout: float = 60.0, ok: bool = False) -> Provenance:
        """Waits until answers include every row taken before the call; returns their provenance.

        Right after the first rows its status is "warming_up": with `ok` it waits for "ok".

        Raises:
            TimedOut: it is not so after `timeout` seconds.
        """
        rows = self.rows
        deadline = time.monotonic() + timeout
        while True:
            where = self.provenance()
            if where.sequence >= rows and (where.ok or not ok):
                return where
            if time.monotonic() > deadline:
                raise TimedOut(
                    f"{where.sequence} of {rows} rows are in answers, whose status is "
                    f"{where.status} ({where.reason})"
                )
            self._go_on()

    def provenance(self) -> Provenance:
        """Provenance of the newest posterior: status, reason, and the numbers behind them."""
        with self._asking:
            return self._asker().provenance()

    def events(self) -> list[Event]:
        """The newest events of the engine, oldest first; 64 are kept."""
        with self._asking:
            return self._asker().events()

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
        key: str | Sequence[str] | None = None,
        posterior_spread: bool = False,
    ) -> EnginePredictions:
        """Predicts y for each row; more than max_query_rows rows in several pieces.

        Arguments are those of Client.predict().

        Raises:
            InvalidInput, Refused: arguments are not valid, or not for this model.
        """
        columns = {"outcomes": outcomes, "offsets": offsets, "trials": trials}
        asked = Asked(interval, quantiles, thresholds, thompson_id, posterior_spread)
        return self._asked(X, asked, columns, key, stacklevel=3)

    def _asked(
        self,
        X: Any,
        asked: Asked,
        columns: dict[str, Any],
        key: str | Sequence[str] | None,
        stacklevel: int,
    ) -> EnginePredictions:
        def another(interval: float, quantiles: Sequence[float]) -> EnginePredictions:
            same = {name: columns[name] for name in ("offsets", "trials")}
            again = Asked(interval, quantiles, posterior_spread=asked.posterior_spread)
            return self._asked(X, again, same, None, stacklevel=5)

        with self._asking:
            answer = self._asker().predict(X, asked, columns, key, another)
        warn_unless_ok(answer.provenance, "", stacklevel)
        return answer

    def posterior(self) -> Posterior:
        """Marginals of the parameters."""
        with self._asking:
            answer = self._asker().posterior()
        warn_unless_ok(answer.provenance, "", stacklevel=2)
        return answer

    def contrasts(self, columns: Sequence[int], against: int | None = None) -> Contrasts:
        """Effects of a field's categories beside one another, as Client.contrasts()."""
        with self._asking:
            answer = self._asker().contrasts(columns, against)
        warn_unless_ok(answer.provenance, "", stacklevel=2)
        return answer

    def draws(self) -> Draws:
        """All retained draws of the newest snapshot; none before there are any."""
        with self._asking:
            answer = self._asker().draws()
        warn_unless_ok(answer.provenance, "", stacklevel=2)
        return answer
