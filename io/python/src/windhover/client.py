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
from .errors import WindhoverError
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
    until every row is acknowledged, unless an exception is on its way. In a forked process every call
    but close() is refused.
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
        self._check_process()  # first: another thread of then may hold the lock for ever
        with self._turns[id(place)]:
            self._check_open()
            place.begin()
            try:
                answer = run(steps)
            except WindhoverError:
                place.finish()
                raise
            except BaseException:
                steps.close()
                place.recover()
                raise
            place.finish()
            return answer

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
        """Closes the connections at once; whether rows on their way are learned is open.

        Every call that asks or sends is refused from then on. In a fork it closes the fork's own end
        alone, and the client of the process that connected goes on.
        """
        self._close_all()

    def observe(
        self, X: Any, y: Any, *, offsets: Any = None, weights: Any = None, trials: Any = None
    ) -> int:
        """Sends rows, pipelined: returns once they are handed over, not once they are learned.

        Args:
            X: shape (n, features): array, data frame, or SciPy sparse matrix. One row may be 1-D.
            y: shape (n,). Classes count from 0.
            offsets: shape (n,), of a model with `model.offset`: what is added to each row's linear
                predictor, of counts the logarithm of the exposure. None: 0.
            weights: shape (n,), of a model with `model.weight`: how many equal rows each counts as,
                1e-6 to 1e6. None: 1.
            trials: shape (n,), of a binomial model, which needs them: how many each y is of, whole
                numbers of 1 to 1e9.

        Returns:
            The number of the first of these rows, counted over all rows this client has sent.

        Raises:
            InvalidInput: X and y do not belong together or to the model; nothing was sent.
            Refused: the server refuses a whole frame, of this call or an earlier one.
            Disconnected: without `resend`; see `totals` for what is unknown.
            RowsMissing: of a producer that was given, after a reconnection; rows of this call from `next_sequence` on were not
                handed over.
            TimedOut: no room for `reply_timeout` seconds; likewise, go on from `next_sequence`.
        """
        return self._run(self._rows, self._observe_steps(X, y, offsets, weights, trials))

    def wait(self) -> Totals:
        """Waits until all rows are acknowledged: durable ones are on the server's disk then.

        Raises:
            RowsRefused: rows were refused since this was last said; all are acknowledged.
            Refused, Disconnected, RowsMissing, TimedOut: as observe().
        """
        self._run(self._rows, self._rows.wait_acknowledged())
        self._settle(stacklevel=2)
        return self.totals

    def reconnect(self) -> None:
        """Connects again, at once and then after pauses of 50 ms to 2 s, for `retry_for` seconds.

        Unless `resend` is False every row that was not acknowledged is sent again, and so is what
        was acknowledged and the server no longer has, as far as it is kept.

        Raises:
            RowsMissing: of a producer that was given: rows are missing that are no longer kept; the
                connection is open.
            Unreachable, TimedOut, Disconnected, Refused: it gave up.
        """
        self._run(self._rows, self._rows.reconnect())
        if self._questions is not self._rows and not self._questions.connected:
            self._run(self._questions, self._questions.reconnect())

    def leave_missing(self) -> None:
        """After RowsMissing: nobody has these rows. They count as lost, and the stream goes on.

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
    ) -> Predictions:
        """Asks what the model predicts for each row of X.

        More rows than one question takes are asked in several. Warns with PosteriorWarning where
        the posterior's status is not ok.

        Args:
            X: shape (n, features), as for observe().
            interval: probability of the central interval.
            quantiles, thresholds: probabilities; numbers t of which P(y > t) is wanted.
            outcomes: shape (n,): score the predictions on these.
            thompson_id: not 0: a fresh Thompson draw, the same for the same id.
            offsets: shape (n,), as for observe().
            key: the outcome is told later, by outcome() with this key: of one row a text, of
                several one each, "" for those that are not kept; ASCII, at most 64 characters.
            trials: shape (n,), of a binomial model: the answer is about so many. None: 1.

        Raises:
            InvalidInput: X does not belong to the model, or there are too many quantiles.
            Refused: with the server's reason.
            Unreachable, Disconnected, TimedOut: no answer.
        """
        rest = (outcomes, thompson_id, offsets, key, trials)
        return self._asked(X, interval, quantiles, thresholds, *rest, stacklevel=3)

    def outcome(self, key: str | Sequence[str], y: Any) -> Joined:
        """What happened, of rows asked about with a key: they are learned like any others, and
        scored by the answer given then. REQUIRES: an observe endpoint.

        Args:
            key: as for predict(): one, or several.
            y: a number, or one a key.

        Returns:
            What became of each, once acknowledged. A key is joined once: told again it is a
            duplicate, or unknown once its place is taken or the server has restarted.

        Raises:
            InvalidInput: keys and y do not belong together; the server keeps no keys.
            Refused, Unreachable, Disconnected, TimedOut: tell them again.
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
        *,
        stacklevel: int,
    ) -> Predictions:
        asked = Asked(interval, quantiles, thresholds, thompson_id)
        steps = self._predict_steps(X, asked, outcomes, offsets, key, trials)
        results = self._run(self._questions, steps)

        def another(interval: float, quantiles: Sequence[float]) -> Predictions:
            steps = self._predict_steps(X, Asked(interval, quantiles), None, offsets, None, trials)
            results = self._run(self._questions, steps)
            return self._predictions(results, interval, quantiles, another, stacklevel=4)

        return self._predictions(results, interval, quantiles, another, stacklevel)

    def posterior(self) -> Posterior:
        """Marginals of the parameters. Warns, and raises, as predict()."""
        answer = self._run(self._questions, self._posterior_steps())
        self._warn(answer.provenance, stacklevel=2)
        return answer

    def contrasts(self, columns: Sequence[int], against: int | None = None) -> Contrasts:
        """What columns of categories do beside one another, which is all that is known of them where
        every row has one: each above their average, or above the column `against`.

        Exact of a dense model with one linear predictor; otherwise `sd` is of the draws. Warns, and
        raises, as predict().

        Args:
            columns: which, counted from 0; at least two.

        Raises:
            InvalidInput: they are no such columns.
        """
        answer = self._run(self._questions, contrast_steps(self, columns, against))
        self._warn(answer.provenance, stacklevel=2)
        return answer

    def draws(self) -> Draws:
        """All retained draws of one snapshot. Warns, and raises, as predict()."""
        answer = self._run(self._questions, self._draws_steps())
        self._warn(answer.provenance, stacklevel=2)
        return answer

    def status(self) -> ServerStatus:
        """How the server and the model spoken of stand."""
        return self._run(self._questions, self._status_steps())

    def models(self) -> list[ModelState]:
        """All models of the server."""
        return self._run(self._questions, self._models_steps())

    def events(self) -> list[Event]:
        """What has happened to the model spoken of, oldest first: the server keeps 64."""
        return self._run(self._questions, self._events_steps())

    def producer_status(self, producer: int) -> ProducerState:
        """Where any producer stands. Claims nothing. REQUIRES: an observe endpoint."""
        return self._run(self._rows, self._producer_steps(producer))

    def pause(self) -> ModelState:
        """The model learns nothing from now on; its rows wait. Needs the role admin."""
        return self._run(self._questions, self._change_steps(True, ""))

    def resume(self) -> ModelState:
        """The model goes on learning."""
        return self._run(self._questions, self._change_steps(False, ""))

    def answer_by(self, model: str) -> ModelState:
        """Questions about this model are answered by another that follows it, or by itself."""
        return self._run(self._questions, self._change_steps(None, model))

    def take_checkpoint(self, timeout: float = 60.0) -> Checkpoint:
        """Has the server write a checkpoint and waits for it, `timeout` seconds at most.

        Raises:
            Refused: the server keeps no folder.
        """
        end = time.monotonic() + timeout
        state = self._run(self._questions, self._checkpoint_steps(0))
        while not state.answered and time.monotonic() < end:
            time.sleep(0.01)
            state = self._run(self._questions, self._checkpoint_steps(state.request))
        return state
