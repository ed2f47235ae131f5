"""Rows that the server has lost or forgotten, and nobody keeps any more."""

import warnings

import numpy as np
import pytest
from sending import connect, exported, total_of

import windhover


def small(server):
    """Keeps 20,000 bytes: some 600 rows of the 3000."""
    return connect(server, producer=7, resend_bytes=20_000, max_rows_per_frame=100)


@pytest.mark.parametrize("goes_back", [True, False])
def test_rows_that_nobody_keeps_are_missing_until_the_caller_says(daemon, rows, goes_back):
    server = daemon()
    X, y = rows(3000)
    with small(server) as m:
        for begin in range(0, 3000, 100):
            m.observe(X[begin : begin + 100], y[begin : begin + 100])
        m.wait()
        server.kill()
        server.start()
        with pytest.raises(windhover.RowsMissing) as missing:
            m.reconnect()
        assert missing.value.first == 0 and 2000 < missing.value.count < 3000
        with pytest.raises(windhover.RowsMissing):
            m.observe(X[:1], y[:1])
        assert len(m.predict(X[:1])) == 1  # questions go on
        if goes_back:
            with pytest.raises(windhover.InvalidInput, match="not among the missing"):
                m.go_back(3000)
            m.go_back(1000)
            assert m.next_sequence == 1000
            m.observe(X[1000:], y[1000:])
            totals = m.wait()
            assert totals.lost == 1000 and totals.restored == 2000 and m.status().head == 2000
            assert totals.sent == 5000 == total_of(totals)
        else:
            m.leave_missing()
            totals = m.wait()
            assert totals.lost == missing.value.count
            assert m.status().head == 3000 - missing.value.count == totals.restored
            m.observe(X[:10], y[:10])
            assert m.wait().producer_next == 3010


def test_without_a_producer_nothing_is_lost_either(daemon, rows, break_off):
    server = daemon()
    X, y = rows(2000)
    with connect(server) as m:
        break_off(server, m, X, y)
        totals = m.wait()
        assert totals.accepted == 2000 and totals.restored == 1000
        assert totals.unknown == totals.lost == 0 and m.status().head == 2000
        server.kill()
        server.start()
        m.observe(X[:10], y[:10])
        assert m.wait().restored == 3000 and m.status().head == 2010


def test_without_a_producer_rows_that_nobody_has_are_said_to_be_lost(daemon, rows):
    server = daemon()
    X, y = rows(3000)
    with pytest.warns(windhover.RowsLostWarning, match="without up to [0-9]+ rows that it had ack"):
        with connect(server, resend_bytes=20_000, max_rows_per_frame=100) as m:
            m.observe(X, y)
            m.wait()
            server.kill()
            server.start()
            m.observe(X[:10], y[:10])
    totals = m.totals
    assert 0 < totals.lost and 0 < totals.restored and totals.lost + totals.restored == 3000
    with connect(server) as m:
        assert m.status().head == totals.restored + 10


def test_a_client_that_the_server_has_forgotten(daemon, rows):
    server = daemon(server__max_producers=2)
    X, y = rows(300)

    def others():
        for _ in range(3):
            with connect(server) as visitor:
                visitor.observe(X[:1], y[:1])

    with connect(server) as m:
        m.observe(X[:100], y[:100])
        m.wait()
        m._rows.close()
        others()
        m.observe(X[100:200], y[100:200])
        assert m.wait().accepted == 200
        assert m.status().head == 203
        m.observe(X[200:], y[200:])
        m._rows.close()
        others()
        with pytest.raises(windhover.Disconnected, match="of 100 rows on their way"):
            m.wait()
        m.observe(X[200:], y[200:])
        totals = m.wait()
        assert totals.unknown == 100 and totals.accepted == 300 and totals.lost == 0
        assert totals.sent == total_of(totals)


@pytest.mark.parametrize("others", [0, 3])
def test_a_server_that_has_forgotten_clients_is_killed_and_comes_back(
    daemon, rows, tmp_path, windhover_command, others
):
    """`others` come before the client is back, which the server may have forgotten by then. Its rows
    are acknowledged before they are on disk: how many of them the server still has nobody knows.
    """
    folder = tmp_path / "data"
    server = daemon(
        server__max_producers=2,
        data__folder=folder,
        data__log_bytes=1 << 23,
        data__segment_bytes=1 << 20,
        data__commit_bytes=1 << 18,
        data__commit_interval=200_000,
    )
    X, y = rows(2000)
    X[:, 0] = np.arange(len(X))  # so that each row says which it is

    def visit(count):
        for _ in range(count):
            with connect(server) as visitor:
                visitor.observe(-np.ones((1, 3)), [0.0])

    visit(3)  # one of them is forgotten
    with connect(server, durable=False) as m:
        for batch in np.array_split(np.arange(1000), 20):
            m.observe(X[batch], y[batch])
        assert m.wait().accepted == 1000
        server.kill()
        server.start()
        visit(others)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", windhover.RowsLostWarning)
            m.observe(X[1000:], y[1000:])
            totals = m.wait()
        assert totals.sent == 2000 == total_of(totals) and totals.unknown == 0
        head = m.status().head
    server.stop()
    table = exported(windhover_command, folder, tmp_path / "rows.csv")
    learned = table["x1"][table["x1"] >= 0].astype(int)
    assert len(np.unique(learned)) == len(learned), "a row was learned twice"
    assert len(table) == head and set(range(1000, 2000)) <= set(learned)
    missing = 2000 - len(learned)
    assert missing <= totals.lost, "rows are missing and nobody says so"
    if others == 0:
        assert totals.lost == missing == 0


def test_where_nothing_is_sent_again_what_was_on_its_way_is_unknown(daemon, rows, break_off):
    server = daemon()
    X, y = rows(2000)
    m = connect(server, resend=False)
    break_off(server, m, X, y)
    with pytest.raises(windhover.Disconnected, match="1000 rows on their way"):
        m.wait()
    m.observe(X[:100], y[:100])  # connects again
    with pytest.raises(ConnectionError, match="1000 rows on their way"):
        m.wait()
    totals = m.wait()
    assert totals.unknown == 1000 and totals.lost == 1000 and totals.accepted == 1100
    assert totals.sent == 2100 == total_of(totals)
    m.close()
