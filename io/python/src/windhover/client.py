"""The blocking client."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from .asked import Asked
from .blocking import run
from .connection import Connection
from .contrasts import Contrasts, contrast_steps
from .events import Event
from .known import RefusedRows
from .options import Joined, Options, ProducerState, Totals
from .posterior import Draws, Posterior
from .results import Predictions
from .shared import Shared
from .status import Checkpoint, ModelState, ServerStatus
from .steps import Steps, T


class Client(Shared):
    """A blocking connection to a server. Made by `windhover.connect`.

    Threads may share it: each call waits for its turn. As a context manager it waits at the end
    until every row is acknowledged, unless the block raises. In a forked process every call but
    close() is refused.
    """

    def __init__(
        self, address: str, query: str | None, refused_rows: RefusedRows, options: Options
    ) -> None:
        super().__init__(address, query, refused_rows, options)
        self._turns = {id(self._rows): threading.RLock()}
        self._turns.setdefault(id(self._questions), threading.RLock())
        try:
            self._run(self._rows, self._connect_steps())
        except BaseException:
            self._close_all()
            raise

    def _run(self, place: Connection, steps: Steps[T]) -> T:
        self._check_process()  # first: in a fork the lock may be held by a thread that is not there
        with self._turns[id(place)]:
            self._check_open()
            with place.calling(steps):
                return run(steps)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None and self._has_to_wait:
                self.wait()
        finally:
            self.close()

    def close(self) -> None:
        """Closes the connections at once; rows on their way may or may not be learned.

        Every call that asks or sends is refused from then on. In a fork this closes only the fork's
        own end: the client of the process that connected goes on.
        """
        self._close_all()

    def observe(
        self, X: Any, y: Any, *, offsets: Any = None, weights: Any = None, trials: Any = None
    ) -> int:
        """Sends rows, pipelined: returns once they are handed over, not once they are learned.

        Args:
            X: shape (n, features): array, data frame, SciPy sparse matrix or SparseRows. One row of
                several columns may have shape (features,).
            y: shape (n,). Classes count from 0.
            offsets: shape (n,), for a model with `model.offset`: what is added to each row's linear
                predictor; for counts, the logarithm of the exposure. None: 0.
            weights: shape (n,), for a model with `model.weight`: as how many equal rows each row
                counts, 1e-6 to 1e6. None: 1.
            trials: shape (n,), for a binomial model, which needs them: whole numbers of trials that
                the y are out of, from 1 to 1e9.

        Returns:
            The number of the first of these rows, counted over all rows this client has sent.

        Raises:
            InvalidInput: X and y do not fit one another or the model; nothing was sent.
            Refused: the server refuses a whole frame, of this call or an earlier one.
            Disconnected: without `resend`; `totals.unknown` counts the rows that were on their way.
            RowsMissing: after a reconnection, if `producer` was given. Rows of this call from
                `next_sequence` on were not handed over.
            TimedOut: there was no room for `reply_timeout` seconds. Go on from `next_sequence`.
        """
        return self._run(self._rows, self._observe_steps(X, y, offsets, weights, trials))

    def wait(self) -> Totals:
        """Waits until all rows are acknowledged; if `durable`, they are then on the server's disk.

        Raises:
            RowsRefused: rows were refused since the last report of it; all are acknowledged.
            Refused, Disconnected, RowsMissing, TimedOut: as for observe().
        """
        self._run(self._rows, self._rows.wait_acknowledged())
        self._settle(stacklevel=2)
        return self.totals

    def reconnect(self) -> None:
        """Connects again, at once and then after pauses of 25 ms to 2 s, for `retry_for` seconds.

        Unless `resend` is False it sends every row again that was not acknowledged, and those that
        were acknowledged and the server no longer has, as far as they are kept here.

        Raises:
            RowsMissing: if `producer` was given: rows are missing that are no longer kept here; the
                connection is open.
            Unreachable, TimedOut, Disconnected, Refused: it gave up.
        """
        self._run(self._rows, self._rows.reconnect())
        if self._questions is not self._rows and not self._questions.connected:
            self._run(self._questions, self._questions.reconnect())

    def leave_missing(self) -> None:
        """After RowsMissing, for a caller that has none of the missing rows: they count as lost.

        Raises:
            Refused: the server knows an earlier part of the stream and takes no gap.
        """
        self._run(self._rows, self._rows.leave_missing())

    def predict(
        self,
        X: Any,
        *,
        interval: float = 0.9,
        quantiles: Sequence[float] = (),
        thresholds: Sequence[float] = (),
        outcomes: Any = None,
        thompson_id: int = 0,
        offsets: Any = None,
        key: str | Sequence[str] | None = None,
        trials: Any = None,
        posterior_spread: bool = False,
    ) -> Predictions:
        """Asks what the model predicts for each row of X.

        More rows than one question may have are asked about in several questions. Warns with
        PosteriorWarning where the posterior's status is not ok.

        Args:
            X: shape (n, features), as for observe().
            interval: probability of the central interval.
            quantiles: probabilities of the quantiles of y that are wanted.
            thresholds: numbers t for which P(y > t) is wanted.
            outcomes: shape (n,): the predictions are scored on these.
            thompson_id: not 0: a fresh Thompson draw, the same for the same id.
            offsets: shape (n,), as for observe().
            key: names rows for outcome(): a text for one row, one a row for several, "" for those
                that are not kept; ASCII, at most 64 characters.
            trials: shape (n,), for a binomial model: the answer is about so many trials. None: 1.
            posterior_spread: as wide as the posterior alone says, also where rows depend on one
                another (robust_spread of the provenance is then False), as for the sd of what is
                worked out from several predictions. Without conformal intervals then; without
                effect where there are keys.

        Raises:
            InvalidInput: X does not fit the model, or an argument is out of its bounds.
            Refused: with the server's reason.
            Unreachable, Disconnected, TimedOut: no answer.
        """
        rest = (outcomes, thompson_id, offsets, key, trials, posterior_spread)
        return self._asked(X, interval, quantiles, thresholds, *rest, stacklevel=3)

    def outcome(self, key: str | Sequence[str], y: Any) -> Joined:
        """Tells the outcomes of rows that were asked about with a key. Each row is then learned
        like any other, and scored by the answer that was given. REQUIRES: an observe endpoint.

        Args:
            key: as for predict(): one, or several.
            y: a number, or one a key.

        Returns:
            What became of the keys, once acknowledged. A key is joined once: sent again it is a
            duplicate, or unknown once its place in memory is taken or the server has restarted.

        Raises:
            InvalidInput: key and y differ in length, or the server keeps no keys.
            Refused, Unreachable, Disconnected, TimedOut: send them again.
        """
        return self._run(self._rows, self._outcome_steps(key, y))

    def _asked(
        self,
        X: Any,
        interval: float = 0.9,
        quantiles: Sequence[float] = (),
        thresholds: Sequence[float] = (),
        outcomes: Any = None,
        thompson_id: int = 0,
        offsets: Any = None,
        key: str | Sequence[str] | None = None,
        trials: Any = None,
        posterior_spread: bool = False,
        *,
        stacklevel: int,
    ) -> Predictions:
        asked = Asked(interval, quantiles, thresholds, thompson_id, posterior_spread)
        steps = self._predict_steps(X, asked, outcomes, offsets, key, trials)
        results = self._run(self._questions, steps)

        def another(interval: float, quantiles: Sequence[float]) -> Predictions:
            again = Asked(interval, quantiles, posterior_spread=posterior_spread)
            steps = self._predict_steps(X, again, None, offsets, None, trials)
            results = self._run(self._questions, steps)
            return self._predictions(results, interval, quantiles, another, stacklevel=4)

        return self._predictions(results, interval, quantiles, another, stacklevel)

    def posterior(self) -> Posterior:
        """Marginals of the parameters. Warns and raises as predict() does."""
        answer = self._run(self._questions, self._posterior_steps())
        self._warn(answer.provenance, stacklevel=2)
        return answer

    def contrasts(self, columns: Sequence[int], against: int | None = None) -> Contrasts:
        """Effects of a field's categories, one column each, above their average or above that of
        the column `against`. Where every row has one of them only such differences are known.

        `sd` is exact for a dense model with one linear predictor, otherwise that of the draws.
        Warns and raises as predict() does.

        Args:
            columns: counted from 0; at least two, each once.

        Raises:
            InvalidInput: the model has no such columns, or is a network.
        """
        answer = self._run(self._questions, contrast_steps(self, columns, against))
        self._warn(answer.provenance, stacklevel=2)
        return answer

    def draws(self) -> Draws:
        """All retained draws of one snapshot. Warns and raises as predict() does."""
        answer = self._run(self._questions, self._draws_steps())
        self._warn(answer.provenance, stacklevel=2)
        return answer

    def status(self) -> ServerStatus:
        """State of the server and of the connection's model."""
        return self._run(self._questions, self._status_steps())

    def models(self) -> list[ModelState]:
        """The server's models on which this client has a role."""
        return self._run(self._questions, self._models_steps())

    def events(self) -> list[Event]:
        """The newest events of the connection's model, oldest first; the server keeps 64."""
        return self._run(self._questions, self._events_steps())

    def producer_status(self, producer: int) -> ProducerState:
        """Asks where a producer stands, without claiming it. REQUIRES: an observe endpoint."""
        return self._run(self._rows, self._producer_steps(producer))

    def pause(self) -> ModelState:
        """Pauses the model: it learns nothing, and its rows wait. Needs the role admin."""
        return self._run(self._questions, self._change_steps(True, ""))

    def resume(self) -> ModelState:
        """Lets the model go on learning. Needs the role admin."""
        return self._run(self._questions, self._change_steps(False, ""))

    def answer_by(self, model: str) -> ModelState:
        """Has questions about this model answered by `model`: one that follows it, or itself. Needs
        the role admin."""
        return self._run(self._questions, self._change_steps(None, model))

    def take_checkpoint(self, timeout: float = 60.0) -> Checkpoint:
        """Has the server write a checkpoint and waits for it, at most `timeout` seconds. Needs the
        role admin.

        Raises:
            Refused: the server keeps no folder.
        """
        end = time.monotonic() + timeout
        state = self._run(self._questions, self._checkpoint_steps(0))
        while not state.answered and time.monotonic() < end:
            time.sleep(0.01)
            state = self._run(self._questions, self._checkpoint_steps(state.request))
        return state
