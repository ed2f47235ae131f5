"""The client for asyncio."""

import asyncio
import os
import signal

import numpy as np
import pytest

import windhover
import windhover.aio


def connect(server, **options):
    return windhover.aio.connect(server.observe, query=server.query, **options)


def test_rows_and_questions_in_an_event_loop(daemon, rows):
    server = daemon(**{"labels.pending": 4})
    X, y = rows(2000)

    async def work():
        async with connect(server, producer=5) as m:
            assert await m.observe(X, y) == 0
            assert (await m.wait()).accepted == 2000
            for _ in range(200):
                status = await m.status()
                if status.status == "ok":
                    break
                await asyncio.sleep(0.02)
            answer = await m.predict(X[:300], quantiles=[0.25, 0.75])
            np.testing.assert_allclose(answer.mean, X[:300] @ [1, 2, 3] + 0.5, atol=0.1)
            assert answer.quantile([0.25, 0.75]).shape == (300, 2)
            with pytest.raises(windhover.InvalidInput, match="was not asked for"):
                answer.interval(0.5)
            assert (await m.predict(X[:1], key="a")).pending == ["kept"]
            assert (await m.outcome("a", y[0])).accepted == 1
            assert len(await m.posterior()) == 4
            assert (await m.draws()).theta.shape[1] == 4
            assert (await m.events())[0].kind == "started"
            assert [one.name for one in await m.models()] == ["default"]
            assert (await m.producer_status(5)).next == 2000
            assert (await m.pause()).paused and not (await m.resume()).paused

    asyncio.run(work())


def test_tasks_share_a_client_and_others_run_meanwhile(daemon, rows):
    server = daemon()
    X, y = rows(100)

    async def send(m):
        for _ in range(20):
            await m.observe(X, y)

    async def ask(m):
        for _ in range(20):
            await m.predict(X[:2])

    async def work():
        m = await connect(server)
        await asyncio.gather(send(m), send(m), ask(m), ask(m))
        assert (await m.wait()).accepted == 4000
        await m.close()

    asyncio.run(work())


def test_a_call_that_is_cancelled_leaves_the_connection_usable(daemon, rows, freeze):
    server = daemon()
    X, y = rows(10)

    async def work():
        async with connect(server) as m:
            freeze(server)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(m.predict(X), 0.1)
            os.kill(server.pid, signal.SIGCONT)
            assert len(await m.predict(X[:3])) == 3  # and not the ten of before

    asyncio.run(work())


def test_every_row_once_over_a_restart(daemon, rows, tmp_path):
    server = daemon(
        data__folder=tmp_path / "data", data__log_bytes=1 << 26, data__segment_bytes=1 << 22
    )
    X, y = rows(20_000)

    async def work():
        async with connect(server, producer=7, durable=True) as m:
            for i, begin in enumerate(range(0, 20_000, 200)):
                await m.observe(X[begin : begin + 200], y[begin : begin + 200])
                if i == 50:
                    await asyncio.to_thread(server.kill)
                    await asyncio.to_thread(server.start)
            totals = await m.wait()
            assert totals.accepted + totals.duplicate == totals.sent == 20_000
            assert (await m.status()).head == 20_000

    asyncio.run(work())


def test_refusals_timeouts_and_nobody(daemon, tmp_path, freeze):
    server = daemon()

    async def work():
        with pytest.raises(windhover.RowsRefused, match="row 1"):
            async with connect(server) as m:
                await m.observe([[1.0, 2, 3], [np.nan, 0, 0]], [1.0, 2.0])
        with pytest.raises(windhover.UnknownModel):
            await connect(server, model="weather")
        with pytest.raises(windhover.Unreachable):
            await windhover.aio.connect(f"unix:{tmp_path}/nobody")
        async with connect(server, reply_timeout=0.1) as m:
            freeze(server)
            with pytest.raises(TimeoutError, match="does not answer"):
                await m.status()
            os.kill(server.pid, signal.SIGCONT)

    asyncio.run(work())
