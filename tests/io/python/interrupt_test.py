"""Every row once though calls are interrupted, as by Ctrl-C, wherever that happens.

The handler of a signal may raise between any two lines. Here each line of what keeps count of rows is
interrupted in turn, and each send and receive before and after it was made.
"""

import asyncio
import os
import sys

import numpy as np
import pytest
from sending import connect, total_of

import windhover
from windhover import channel

KEEPS_COUNT = (
    "acknowledged",
    "connection",
    "exchange",
    "frames",
    "sent_frames",
    "stream",
    "taken_up",
)
FOLDER = os.path.dirname(windhover.__file__)
FILES = {os.path.join(FOLDER, name + ".py") for name in KEEPS_COUNT}

# A socket that is opened and not yet kept when the interrupt comes ends with its last reference.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


class Stop(Exception):
    """What a handler may raise that is no KeyboardInterrupt."""


class AtLine:
    """Raises at the k-th line, from 0, in the block."""

    def __init__(self, k, error):
        self._left, self._error = k, error
        self.raised = False

    def _global(self, frame, event, _):
        return self._local if frame.f_code.co_filename in FILES else None

    def _local(self, frame, event, _):
        if event == "line" and not self.raised:
            if self._left == 0:
                self.raised = True
                raise self._error
            self._left -= 1
        return self._local

    def __enter__(self):
        sys.settrace(self._global)
        return self

    def __exit__(self, *_):
        sys.settrace(None)


class AtSocket:
    """Raises before (even k) or after (odd k) a send or receive."""

    def __init__(self, k, error):
        self._k, self._error = k, error
        self._calls = 0
        self.raised = False
        self._patch = pytest.MonkeyPatch()

    def _wrapped(self, call):
        def wrapper(*arguments):
            at, self._calls = self._calls, self._calls + 1
            if at == self._k // 2 and self._k % 2 == 0:
                self.raised = True
                raise self._error
            answer = call(*arguments)
            if at == self._k // 2:
                self.raised = True
                raise self._error
            return answer

        return wrapper

    def __enter__(self):
        for name in ("send", "receive"):
            self._patch.setattr(
                channel.Channel, name, self._wrapped(getattr(channel.Channel, name))
            )
        return self

    def __exit__(self, *_):
        self._patch.undo()


def observed(m, X, y):
    m.observe(X, y)
    m.wait()


def taken_up(m, X, y):
    """Rows are on their way when the connection breaks."""
    m._rows.close()
    m.observe(X, y)
    m.wait()


def asked(m, X, y):
    m.predict(X[:2])
    m.observe(X, y)


WORK = {"observe": observed, "reconnect": taken_up, "ask": asked}


@pytest.mark.parametrize(
    "where, error",
    [(AtLine, KeyboardInterrupt)]
    + [(AtSocket, error) for error in (KeyboardInterrupt, Stop, TimeoutError)],
)
@pytest.mark.parametrize("resend", [True, False])
@pytest.mark.parametrize("work", WORK)
def test_rows_are_counted_once_wherever_a_call_is_interrupted(
    daemon, rows, work, resend, where, error
):
    server = daemon()
    X, y = rows(12)
    X[3] = np.nan  # refused
    before = k = 0
    while True:
        m = connect(server, max_rows_per_frame=5, refused_rows="keep", resend=resend)
        if work == "reconnect":
            m.observe(X, y)
            m._rows.close()
        interrupted = False
        with where(k, error) as breaker:
            try:
                WORK[work](m, X, y)
            except error as got:
                assert not isinstance(got, windhover.WindhoverError)
                interrupted = True
            except windhover.Disconnected:
                assert not resend
        assert interrupted or not breaker.raised or work == "reconnect", k
        m.observe(X, y)
        try:
            totals = m.wait()
        except windhover.Disconnected:
            assert not resend
            totals = m.wait()
        assert totals.sent == total_of(totals) and m.outstanding_rows == 0, (k, totals)
        took = totals.head - before
        before = totals.head
        if resend:
            # No row comes twice, and none is missing: a row of 12 is refused wherever it comes.
            assert totals.unknown == totals.lost == 0, (k, totals)
            whole, rest = divmod(totals.sent, 12)
            assert took == 11 * whole + rest - (rest > 3), (k, totals, took)
            told = m.take_refused_rows()
            assert len(set(told.rows.tolist())) == len(told.rows) == told.count == totals.refused
        else:
            assert totals.accepted <= took <= totals.accepted + totals.unknown, (k, totals)
        m.close()
        if not breaker.raised:
            break
        k += 1
    assert k > 3


def test_answers_of_questions_that_were_interrupted_are_nobodys(daemon, rows):
    server = daemon()
    X, y = rows(50)
    with connect(server) as m:
        observed(m, X, y)
        k = 0
        while True:
            with AtSocket(k, KeyboardInterrupt) as breaker:
                try:
                    m.predict(X)
                except KeyboardInterrupt:
                    pass
            assert len(m.predict(X[: k + 1])) == min(k + 1, 50)
            if not breaker.raised:
                break
            k += 1
        assert k >= 4


def test_a_call_of_asyncio_that_a_handler_ends(daemon, rows):
    server = daemon()
    X, y = rows(12)

    async def work():
        k = 0
        while True:
            async with windhover.aio.connect(server.observe, max_rows_per_frame=5) as m:
                before = (await m.status()).head
                with AtSocket(k, Stop) as breaker:
                    try:
                        await m.observe(X, y)
                        await m.wait()
                    except Stop:
                        pass
                await m.observe(X, y)
                totals = await m.wait()
                assert totals.sent == total_of(totals) == totals.head - before
            if not breaker.raised:
                return k
            k += 1

    assert asyncio.run(work()) >= 4


def test_what_ends_a_call_says_whether_its_connection_stays(daemon):
    def steps():
        yield

    with connect(daemon()) as m:
        place = m._rows
        for error, ends, stays in [
            (windhover.InvalidInput("an error of the package"), (), True),
            (Stop(), (Stop,), True),
            (Stop(), (), False),
        ]:
            with pytest.raises(type(error)):
                with place.calling(steps(), *ends):
                    raise error
            assert place.connected is stays
        m.reconnect()
        assert place.connected
