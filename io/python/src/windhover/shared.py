"""What the blocking client and the asyncio client have in common: everything but the waiting."""

from __future__ import annotations

import dataclasses
import struct
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import frames as wire
from . import windhover_pb2 as pb
from .asked import Asked
from .errors import InvalidInput, ProtocolError, Refused, RowsLostWarning, RowsRefusedWarning, times
from .events import Event
from .faults import faults, located, names_of
from .known import OTHER_COLUMNS, Known
from .options import Joined, Options, ProducerState
from .posterior import POSTERIOR_ARRAYS, Draws, Posterior
from .provenance import Provenance
from .reasons import Reason
from .results import Ask, Predictions, warn_unless_ok
from .rows import Rows, column_of, keys_of, rows_of
from .status import Checkpoint, ModelState, ServerStatus
from .steps import Steps

DRAW_ATTEMPTS = 5


class Shared(Known):
    """The steps of every request."""

    # --- Steps

    def _connect_steps(self) -> Steps[None]:
        yield from self._rows.connect()
        if self._questions is not self._rows:
            yield from self._questions.connect()

    @property
    def _has_to_wait(self) -> bool:
        """Whether rows are on their way, or were refused or lost and that was not reported yet."""
        rows = self._rows
        return not (rows.ended or self._forked) and bool(
            self.outstanding_rows or rows._refused_count or rows._rows_lost or rows._rows_missed
        )

    def _close_all(self) -> None:
        self._rows.end()
        self._questions.end()

    def _taken(
        self, x: Any, y: Any, single_precision: bool | None, offsets: Any, trials: Any
    ) -> Rows:
        welcome = self._rows.welcome
        if offsets is not None and not welcome.takes_offsets:
            raise InvalidInput("the model's rows have no offset: model.offset is false")
        if trials is not None and not welcome.takes_trials:
            raise InvalidInput("the model's rows have no trials: it is not binomial")
        rows = rows_of(
            x,
            y,
            columns=welcome.features,
            sparse=welcome.max_nonzeros > 0,
            single_precision=single_precision,
            otherwise=OTHER_COLUMNS,
        )
        if offsets is not None:
            column = column_of("offsets", offsets, rows.count)
            rows = dataclasses.replace(rows, offsets=column)
        if trials is not None:
            column = column_of("trials", trials, rows.count)
            rows = dataclasses.replace(rows, trials=column)
        return rows

    def _observe_steps(self, x: Any, y: Any, offsets: Any, weights: Any, trials: Any) -> Steps[int]:
        if not self._rows.welcome.observes:
            raise InvalidInput("this endpoint answers questions and takes no rows")
        if weights is not None and not self._rows.welcome.takes_weights:
            raise InvalidInput("the model counts every row once: model.weight is false")
        if trials is None and self._rows.welcome.takes_trials:
            raise InvalidInput("the model is binomial: give trials, how many each y is of")
        rows = self._taken(x, y, self._rows.options.single_precision, offsets, trials)
        if weights is not None:
            column = column_of("weights", weights, rows.count)
            rows = dataclasses.replace(rows, weights=column)
        return self._observed_steps(rows, x)

    def _observed_steps(self, rows: Rows, x: Any) -> Steps[int]:
        first = yield from self._rows.observe(rows)
        self._rows.note_faults(first, faults(rows, names_of(x), self._rows.welcome.model))
        return first

    def _settle(self, stacklevel: int) -> None:
        """Reports lost and refused rows, once all are acknowledged."""
        if missed := self._rows.take_missed():
            text = (
                f"the server came back without up to {times(missed, 'row')} that it had acknowledged, "
                "and they are no longer kept here"
            )
            warnings.warn(RowsLostWarning(text), stacklevel=stacklevel + 1)
        if self._refused_policy == "keep":
            return
        refused = self._rows.take_refused()
        if refused is None:
            return
        if self._refused_policy == "raise":
            raise refused
        warnings.warn(RowsRefusedWarning(str(refused)), stacklevel=stacklevel + 1)

    def _ask(self, request: Any, arm: str) -> Steps[Any]:
        place = self._questions
        return place.through(lambda: place.ask(request, arm), question=True)

    def _ask_rows(self, request: Any, arm: str) -> Steps[Any]:
        """As _ask(), on the connection that takes rows."""
        place = self._rows
        return place.through(lambda: place.ask(request, arm), question=True)

    def _predict_steps(
        self,
        x: Any,
        asked: Asked,
        outcomes: Any,
        offsets: Any,
        key: str | Sequence[str] | None,
        trials: Any,
    ) -> Steps[list[Any]]:
        place = self._questions
        welcome = place.welcome
        asked.check(welcome.max_quantiles, welcome.max_thresholds, "the server")
        precision = False if outcomes is not None else place.options.single_precision
        rows = self._taken(x, outcomes, precision, offsets, trials)
        if rows.count == 0:
            raise InvalidInput("X has no rows")
        if key is not None:
            self._need_keys(welcome)
            rows = dataclasses.replace(rows, keys=keys_of(key, rows.count))
        tail: list[wire.Buffer] = []
        tail += wire.packed(6, np.asarray(asked.quantiles, dtype="<f8"))
        tail += wire.packed(7, np.asarray(asked.thresholds, dtype="<f8"))
        tail.append(wire.varint(9 << 3 | 1) + struct.pack("<d", asked.interval))
        tail.append(wire.field(10, asked.thompson_id))
        tail.append(wire.field(14, int(asked.posterior_spread)))
        room = welcome.frame_cap - wire.FRAME_OVERHEAD - sum(map(len, tail))

        results: list[Any] = []
        for begin, end in list(rows.pieces(welcome.max_query_rows, room)):
            parts = [
                wire.field(1, end - begin),
                # 32-bit field numbers; parts() adds 1 for 64-bit arrays, as outcomes are: 8.
                *rows.parts(begin, end, features=2, targets=7, indices=4),
                *tail,
            ]

            def ask(parts: list[wire.Buffer] = parts) -> Steps[Any]:
                request_id = place.next_id()
                return place.ask_bytes(
                    request_id, wire.framed(request_id, wire.PREDICT, parts), "predict_result"
                )

            try:
                result = yield from place.through(ask, question=True)
            except Refused as refused:
                raise located(refused, rows, names_of(x), welcome.model) from None
            if len(result.predictions) != end - begin:
                raise ProtocolError("the server answers for another number of rows")
            results.append(result)
        return results

    @staticmethod
    def _need_keys(welcome: Any) -> None:
        if not welcome.takes_keys:
            raise InvalidInput("the server keeps no keys: labels.pending, how many may wait, is 0")

    def _outcome_steps(self, key: str | Sequence[str], y: Any) -> Steps[Joined]:
        welcome = self._rows.welcome
        if not welcome.observes:
            raise InvalidInput("this endpoint answers questions and takes no outcomes")
        self._need_keys(welcome)
        targets = np.atleast_1d(np.asarray(y, dtype=np.float64))
        if targets.ndim != 1:
            raise InvalidInput(f"y has shape {targets.shape}; it must have one number a key")
        keys = keys_of(key, len(targets)) or []
        request = pb.Request(outcome=pb.Outcome(keys=[k.decode() for k in keys], targets=targets))
        result = yield from self._ask_rows(request, "outcome_result")
        return Joined.of(result)

    def _posterior_steps(self) -> Steps[Posterior]:
        request = pb.Request(posterior_summary=pb.PosteriorSummary())
        result = yield from self._ask(request, "posterior_summary_result")
        arrays = {name: np.array(getattr(result, name)) for name in POSTERIOR_ARRAYS}
        if not len(arrays["drift_score"]):  # a server from before this field
            arrays["drift_score"] = np.full(len(arrays["mean"]), np.nan)
        if len({len(array) for array in arrays.values()}) != 1:
            raise ProtocolError("the server's arrays differ in length")
        names = self._parameter_names()
        return Posterior(Provenance.of(result.provenance), names=names, **arrays)

    def _draws_steps(self) -> Steps[Draws]:
        attempt = 1
        while True:
            try:
                return (yield from self._draw_pages())
            except Refused as error:  # the snapshot is no longer kept: begin again with the newest
                if error.reason is not Reason.UNAVAILABLE or attempt == DRAW_ATTEMPTS:
                    raise
                attempt += 1

    def _draw_pages(self) -> Steps[Draws]:
        pages = []
        first = snapshot = 0
        while True:
            request = pb.Request(draws=pb.Draws(snapshot_id=snapshot, first=first))
            page = yield from self._ask(request, "draws_result")
            theta = np.array(page.theta, dtype=np.float64)
            if (
                not page.dimension
                or not len(theta)
                or len(theta) % page.dimension
                or page.first != first
            ):
                raise ProtocolError("the server's page of draws is not the one asked for")
            pages.append(theta.reshape(-1, page.dimension))
            first += len(pages[-1])
            snapshot = page.provenance.snapshot_id
            if first >= page.provenance.draws:
                where = Provenance.of(page.provenance)
                return Draws(where, np.concatenate(pages), self._parameter_names())

    def _status_steps(self) -> Steps[ServerStatus]:
        result = yield from self._ask(pb.Request(status=pb.StatusRequest()), "status_result")
        return ServerStatus.of(result)

    def _models_steps(self) -> Steps[list[ModelState]]:
        states: list[ModelState] = []
        while True:
            request = pb.Request(list_models=pb.ListModels(first=len(states)))
            result = yield from self._ask(request, "list_models_result")
            states += [ModelState.of(state) for state in result.states]
            if not result.states or len(states) >= result.models:
                return states

    def _events_steps(self) -> Steps[list[Event]]:
        request = pb.Request(list_events=pb.ListEvents())
        result = yield from self._ask(request, "list_events_result")
        return [Event.of(event) for event in result.events]

    def _producer_steps(self, producer: int) -> Steps[ProducerState]:
        place = self._rows
        return place.through(lambda: place.ask_producer(producer), question=True)

    def _change_steps(self, pause: bool | None, answered_by: str) -> Steps[ModelState]:
        how = {
            None: pb.PAUSE_CHANGE_UNSPECIFIED,
            True: pb.PAUSE_CHANGE_PAUSE,
            False: pb.PAUSE_CHANGE_GO_ON,
        }
        change = pb.ChangeModel(answered_by=answered_by, pause=how[pause])
        result = yield from self._ask(pb.Request(change_model=change), "change_model_result")
        return ModelState.of(result.state)

    def _checkpoint_steps(self, number: int) -> Steps[Checkpoint]:
        request = pb.Request(take_checkpoint=pb.TakeCheckpoint(request=number))
        r = yield from self._ask(request, "take_checkpoint_result")
        failed = r.answered and r.status != pb.REASON_OK
        return Checkpoint(r.request, r.answered, r.taken, Reason(r.status).words if failed else "")

    # --- Answers

    def _predictions(
        self,
        results: list[Any],
        interval: float,
        quantiles: Sequence[float],
        ask: Ask | None,
        stacklevel: int,
    ) -> Predictions:
        answer = Predictions(results, interval, quantiles, ask)
        self._warn(answer.provenance, stacklevel + 1)
        return answer

    def _warn(self, provenance: Provenance, stacklevel: int) -> None:
        warn_unless_ok(provenance, self.model, stacklevel + 1)


def options_from(first_sequence: int | Literal["next"], **named: Any) -> Options:
    if isinstance(first_sequence, str) and first_sequence != "next":
        raise InvalidInput(f'first_sequence={first_sequence!r}: a number or "next"')
    if first_sequence == "next":
        return Options(first_sequence=None, **named)
    return Options(first_sequence=int(first_sequence), **named)
