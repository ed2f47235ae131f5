"""The client for asyncio: the same calls, awaited.

    async with windhover.aio.connect("127.0.0.1:7171", query="127.0.0.1:7172") as m:
        await m.observe(X, y)
        answer = await m.predict(X, quantiles=[0.25, 0.75])
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Sequence
from types import TracebackType
from typing import Any, Literal

from .asked import Asked
from .connection import Connection
from .contrasts import Contrasts, contrast_steps
from .event_loop import run
from .events import Event
from .known import RefusedRows
from .options import Joined, Options, ProducerState, Totals
from .posterior import Draws, Posterior
from .results import Predictions
from .schema import Schema
from .shared import Shared, options_from
from .status import Checkpoint, ModelState, ServerStatus
from .steps import Steps, T


class _Connecting:
    """What connect() returns: to be awaited, or entered with `async with`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __await__(self) -> Generator[Any, None, Client]:
        return self._client._opened().__await__()

    async def __aenter__(self) -> Client:
        return await self._client._opened()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.__aexit__(kind, error, trace)


def connect(
    address: str,
    *,
    query: str | None = None,
    model: str = "",
    token: str = "",
    ca: str | os.PathLike[str] = "",
    server_name: str = "",
    certificate: str | os.PathLike[str] = "",
    key: str | os.PathLike[str] = "",
    producer: int = 0,
    resend: bool = True,
    first_sequence: int | Literal["next"] = 0,
    begins_here: bool = False,
    durable: bool | None = None,
    fingerprint: int = 0,
    schema: Schema | None = None,
    connect_timeout: float = 5.0,
    reply_timeout: float = 10.0,
    single_precision: bool | None = None,
    max_rows_per_frame: int = 0,
    resend_bytes: int = 16 << 20,
    retry_for: float = 60.0,
    reconnect: bool = True,
    refused_rows: RefusedRows = "raise",
) -> _Connecting:
    """As `windhover.connect`, to be awaited or entered with `async with`."""
    options = options_from(
        first_sequence,
        model=model,
        token=token,
        ca=os.fspath(ca),
        server_name=server_name,
        certificate=os.fspath(certificate),
        key=os.fspath(key),
        producer=producer,
        resend=resend,
        begins_here=begins_here,
        durable=durable,
        fingerprint=fingerprint,
        schema_fingerprint=schema.fingerprint if schema else 0,
        connect_timeout=connect_timeout,
        reply_timeout=reply_timeout,
        single_precision=single_precision,
        max_rows_per_frame=max_rows_per_frame,
        resend_bytes=resend_bytes,
        retry_for=retry_for,
        reconnect=reconnect,
    )
    client = Client(address, query, refused_rows, options)
    client.columns = schema.names if schema else None
    return _Connecting(client)


class Client(Shared):
    """A connection to a server in an event loop. Made by `connect`.

    Tasks may share it: each call waits for its turn. A call that is cancelled leaves the connection
    usable: a later answer to it is ignored, and `next_sequence` says how many rows were handed
    over. Arguments, answers, errors and the roles needed are those of `windhover.Client`.
    """

    def __init__(
        self, address: str, query: str | None, refused_rows: RefusedRows, options: Options
    ) -> None:
        super().__init__(address, query, refused_rows, options)
        self._turns = {id(self._rows): asyncio.Lock()}
        self._turns.setdefault(id(self._questions), asyncio.Lock())

    async def _opened(self) -> Client:
        try:
            await self._run(self._rows, self._connect_steps())
        except BaseException:
            self._close_all()
            raise
        return self

    async def _run(self, place: Connection, steps: Steps[T]) -> T:
        self._check_process()
        async with self._turns[id(place)]:
            self._check_open()
            with place.calling(steps, asyncio.CancelledError):
                return await run(steps)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None and self._has_to_wait:
                await self.wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """Closes the connections at once; rows on their way may or may not be learned. Every call
        that asks or sends is refused from then on."""
        self._close_all()

    async def observe(
        self, X: Any, y: Any, *, offsets: Any = None, weights: Any = None, trials: Any = None
    ) -> int:
        """Sends rows, pipelined, and returns the number of the first of them. Other tasks get to
        run before it returns."""
        first = await self._run(self._rows, self._observe_steps(X, y, offsets, weights, trials))
        await asyncio.sleep(0)
        return first

    async def wait(self) -> Totals:
        """Waits until all rows are acknowledged."""
        await self._run(self._rows, self._rows.wait_acknowledged())
        self._settle(stacklevel=2)
        return self.totals

    async def reconnect(self) -> None:
        """Connects again, for `retry_for` seconds."""
        await self._run(self._rows, self._rows.reconnect())
        if self._questions is not self._rows and not self._questions.connected:
            await self._run(self._questions, self._questions.reconnect())

    async def leave_missing(self) -> None:
        """After RowsMissing, for a caller that has none of the missing rows: they count as lost."""
        await self._run(self._rows, self._rows.leave_missing())

    async def predict(
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
        """Asks what the model predicts for each row of X. The answer has only the interval and the
        quantiles given here."""
        asked = Asked(interval, quantiles, thresholds, thompson_id, posterior_spread)
        steps = self._predict_steps(X, asked, outcomes, offsets, key, trials)
        results = await self._run(self._questions, steps)
        return self._predictions(results, interval, quantiles, None, stacklevel=2)

    async def outcome(self, key: str | Sequence[str], y: Any) -> Joined:
        """Tells the outcomes of rows that were asked about with a key. REQUIRES: an observe
        endpoint."""
        return await self._run(self._rows, self._outcome_steps(key, y))

    async def posterior(self) -> Posterior:
        """Marginals of the parameters."""
        answer = await self._run(self._questions, self._posterior_steps())
        self._warn(answer.provenance, stacklevel=2)
        return answer

    async def contrasts(self, columns: Sequence[int], against: int | None = None) -> Contrasts:
        """Effects of a field's categories beside one another, as Client.contrasts()."""
        answer = await self._run(self._questions, contrast_steps(self, columns, against))
        self._warn(answer.provenance, stacklevel=2)
        return answer

    async def draws(self) -> Draws:
        """All retained draws of one snapshot."""
        answer = await self._run(self._questions, self._draws_steps())
        self._warn(answer.provenance, stacklevel=2)
        return answer

    async def status(self) -> ServerStatus:
        """State of the server and of the connection's model."""
        return await self._run(self._questions, self._status_steps())

    async def models(self) -> list[ModelState]:
        """The server's models on which this client has a role."""
        return await self._run(self._questions, self._models_steps())

    async def events(self) -> list[Event]:
        """The newest events of the connection's model, oldest first; the server keeps 64."""
        return await self._run(self._questions, self._events_steps())

    async def producer_status(self, producer: int) -> ProducerState:
        """Asks where a producer stands, without claiming it. REQUIRES: an observe endpoint."""
        return await self._run(self._rows, self._producer_steps(producer))

    async def pause(self) -> ModelState:
        """Pauses the model: it learns nothing, and its rows wait."""
        return await self._run(self._questions, self._change_steps(True, ""))

    async def resume(self) -> ModelState:
        """Lets the model go on learning."""
        return await self._run(self._questions, self._change_steps(False, ""))

    async def answer_by(self, model: str) -> ModelState:
        """Has questions about this model answered by `model`: one that follows it, or itself."""
        return await self._run(self._questions, self._change_steps(None, model))

    async def take_checkpoint(self, timeout: float = 60.0) -> Checkpoint:
        """Has the server write a checkpoint and waits for it, at most `timeout` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        state = await self._run(self._questions, self._checkpoint_steps(0))
        while not state.answered and loop.time() < end:
            await asyncio.sleep(0.01)
            state = await self._run(self._questions, self._checkpoint_steps(state.request))
        return state
