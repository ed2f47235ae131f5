"""What a forked process may do with a client, an estimator and a daemon: end its own copy."""

import asyncio
import atexit
import os
import pickle
import signal
import threading
import traceback

import numpy as np
import pytest
from sending import connect, total_of

import windhover
from windhover.daemon import Daemon
from windhover.river import Regressor

FORKED = "of the process that this one was forked from"


def in_a_fork(work, *, ends=False):
    """Whether `work` went well there; with `ends` the fork ends as a program does."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        if ends:
            atexit._run_exitfuncs()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def refused(call, *arguments, **named):
    with pytest.raises(windhover.InvalidInput, match=FORKED):
        call(*arguments, **named)


def test_every_call_of_a_client_is_refused_in_a_fork_and_its_rows_are_counted_once(daemon, rows):
    server = daemon()
    X, y = rows(100)
    with connect(server) as m:
        m.observe(X, y)
        m.wait()

        def work():
            refused(m.observe, X, y)
            for name in "wait reconnect leave_missing posterior draws status models events".split():
                refused(getattr(m, name))
            for name in "pause resume take_checkpoint take_refused_rows".split():
                refused(getattr(m, name))
            refused(m.predict, X)
            refused(m.outcome, "key", 1.0)
            refused(m.contrasts, [0, 1])
            refused(m.answer_by, "")
            refused(m.producer_status, 7)
            refused(m.go_back, 0)
            with m:  # as a block ends: it waits for nothing
                pass
            refused(m.observe, X, y)
            with connect(server) as own:
                own.observe(X, y)

        for _ in range(3):
            assert in_a_fork(work)
        m.observe(X, y)
        totals = m.wait()
        assert totals.accepted == 200 and totals.duplicate == 0
        assert totals.head == 500


def test_a_fork_that_ends_sends_none_of_the_rows_on_their_way(daemon, rows, freeze):
    server = daemon()
    X, y = rows(100)
    with connect(server) as m:
        m.observe(X, y)
        m.wait()
        freeze(server)
        for _ in range(20):
            m.observe(X, y)
        assert m.outstanding_rows == 2000

        def work():
            m.__exit__(None, None, None)
            assert not m.connected

        assert in_a_fork(work, ends=True)
        os.kill(server.pid, signal.SIGCONT)
        totals = m.wait()
        assert totals.accepted == totals.sent == total_of(totals) == 2100 and totals.histories == 0


def test_a_fork_is_refused_though_a_thread_of_then_had_the_lock(daemon, rows):
    server = daemon()
    X, y = rows(10)
    with connect(server) as m:
        lock = m._turns[id(m._rows)]
        held, go_on = threading.Event(), threading.Event()

        def hold():
            with lock:
                held.set()
                go_on.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()

        def work():
            refused(m.observe, X, y)
            m.close()

        assert in_a_fork(work)
        go_on.set()
        thread.join()


def test_a_client_of_asyncio_is_refused_in_a_fork(daemon, rows):
    server = daemon()
    X, y = rows(100)

    async def parent():
        async with windhover.aio.connect(server.observe) as m:
            await m.observe(X, y)
            await m.wait()

            def work():
                for call in (m.observe(X, y), m.wait(), m.predict(X), m.status()):
                    with pytest.raises(windhover.InvalidInput, match=FORKED):
                        call.send(None)
                with pytest.raises(StopIteration):
                    m.__aexit__(None, None, None).send(None)

            assert in_a_fork(work)
            await m.observe(X, y)
            totals = await m.wait()
            assert totals.accepted == 200 and totals.duplicate == 0

    asyncio.run(parent())


def test_a_fork_leaves_an_estimators_daemon_and_its_folder_alone(windhoverd, rows):
    pytest.importorskip("sklearn")
    from windhover.sklearn import StreamingRegressor

    X, y = rows(500)
    model = StreamingRegressor(settle=0.5).fit(X, y)
    before = model.predict(X[:5])

    def work():
        refused(model.predict, X)
        refused(model.partial_fit, X, y)
        refused(pickle.dumps, model)
        refused(lambda: model.client_)
        model.close()
        assert np.allclose(
            model.fit(X, y).predict(X[:5]), before, atol=0.1
        )  # in a daemon of its own

    assert in_a_fork(work)
    assert in_a_fork(lambda: None, ends=True)
    assert np.allclose(model.predict(X[:5]), before, atol=0.1)
    pickle.dumps(model)  # the daemon's folder is there
    model.close()


def test_a_fork_leaves_a_model_of_river_alone(windhoverd):
    with Regressor() as model:
        model.learn_one({"a": 1.0}, 2.0)

        def work():
            refused(model.learn_one, {"a": 1.0}, 2.0)
            refused(model.predict_one, {"a": 1.0})
            model.close()

        assert in_a_fork(work, ends=True)
        model.learn_one({"a": 1.0}, 2.0)
        assert model.client.wait().accepted == 2


def test_a_fork_leaves_a_daemon_alone(windhoverd):
    with Daemon({"model.features": 2}) as server:

        def work():
            refused(server.kill)
            refused(server.start)
            server.stop()

        assert in_a_fork(work, ends=True)
        assert server.running
        windhover.connect(server.observe).close()
