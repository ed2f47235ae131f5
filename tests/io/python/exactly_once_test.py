"""Every row once, and answers too, though daemons and connections die."""

import os
import signal
import socket
import threading
import time

import numpy as np
import pytest
from sending import Cutter, connect, exported, total_of

import windhover


def restart_after(server, seconds):
    def work():
        server.kill()
        time.sleep(seconds)
        server.start()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_every_row_once_over_daemons_killed_and_started_again(
    daemon, rows, tmp_path, windhover_command
):
    folder = tmp_path / "data"
    server = daemon(data__folder=folder, data__log_bytes=1 << 26, data__segment_bytes=1 << 22)
    X, y = rows(200_000)
    X[:, 0] = np.arange(len(X))  # so that each row says which it is
    batches = np.array_split(np.arange(len(X)), 400)
    with connect(server, producer=7, durable=True) as m:
        for i, batch in enumerate(batches):
            m.observe(X[batch], y[batch])
            if i % 100 == 50:
                server.kill()
                server.start()
        totals = m.wait()
        assert totals.sent == len(X) == total_of(totals)
        assert totals.accepted + totals.duplicate == len(X) and totals.unknown == totals.lost == 0
        assert totals.durable == len(X) and totals.histories == 0
        assert m.status().head == len(X)
        assert m.producer_status(7).next == len(X)
    server.stop()
    table = exported(windhover_command, folder, tmp_path / "rows.csv")
    names = table.dtype.names
    sequence, first = table[names[2]].astype(int), table[names[3]].astype(int)
    assert (sequence == first).all(), "a row stands under another's number"
    assert len(np.unique(sequence)) == len(sequence) and sequence[-1] == len(X) - 1


def test_rows_go_on_by_themselves_while_the_daemon_is_away(daemon, rows, tmp_path):
    server = daemon(
        data__folder=tmp_path / "data", data__log_bytes=1 << 26, data__segment_bytes=1 << 22
    )
    X, y = rows(20_000)
    with connect(server, producer=3) as m:
        m.observe(X[:10_000], y[:10_000])
        restarting = restart_after(server, 0.5)
        time.sleep(0.2)  # it is dead now
        for begin in range(10_000, 20_000, 500):
            m.observe(X[begin : begin + 500], y[begin : begin + 500])
        assert total_of(m.wait()) == 20_000 and m.status().head == 20_000
        restarting.join()


def test_a_client_that_comes_back_goes_on_where_the_server_stands(daemon, rows, tmp_path):
    server = daemon(
        data__folder=tmp_path / "data", data__log_bytes=1 << 26, data__segment_bytes=1 << 22
    )
    X, y = rows(1000)
    with connect(server, producer=9) as m:
        m.observe(X[:600], y[:600])
    server.kill()
    server.start()
    with connect(server, producer=9) as m:  # all of it again: the server knows what it has
        m.observe(X, y)
        totals = m.wait()
        assert (totals.accepted, totals.duplicate) == (400, 600)
    with connect(server, producer=9, first_sequence="next") as m:
        assert m.next_sequence == 1000 and m.producer.known
        m.observe(X, y)
        assert m.wait().accepted == 1000


def test_what_a_server_in_memory_lost_is_sent_again(daemon, rows):
    server = daemon()
    X, y = rows(5000)
    with connect(server, producer=7) as m:
        m.observe(X, y)
        m.wait()
        instance = m.instance_id
        server.kill()
        server.start()
        m.reconnect()
        totals = m.wait()
        assert m.instance_id != instance and totals.histories == 1
        assert totals.restored == 5000 and totals.lost == 0 and m.status().head == 5000


def test_questions_are_asked_again_after_a_restart(daemon, rows):
    server = daemon()
    X, y = rows(10)
    with connect(server) as m:
        m.predict(X)
        restarting = restart_after(server, 0.3)
        time.sleep(0.1)
        assert len(m.predict(X)) == 10
        restarting.join()


def test_it_gives_up_after_retry_for(daemon, rows):
    server = daemon()
    X, y = rows(10)
    m = connect(server, producer=7, retry_for=0.3)
    n = connect(server, reconnect=False)
    server.kill()
    with pytest.raises(windhover.Unreachable, match="gave up after 0 seconds"):
        m.observe(X, y)
        m.wait()
    with pytest.raises(windhover.Unreachable, match="gave up"):
        m.predict(X)
    with pytest.raises(windhover.Disconnected):
        n.predict(X)
    m.close()
    n.close()


def test_memory_is_bounded_while_nothing_is_acknowledged(daemon, rows, freeze):
    server = daemon()
    X, y = rows(1000)
    with connect(server, producer=7, resend_bytes=200_000, reply_timeout=0.3) as m:
        freeze(server)
        with pytest.raises(windhover.TimedOut):
            for _ in range(100):
                m.observe(X, y)
        assert m._rows.frames.bytes_on_the_way < 200_000 + 65_536
        sent = m.totals.sent
        os.kill(server.pid, signal.SIGCONT)
        assert m.wait().accepted == sent == m.next_sequence


@pytest.mark.parametrize("seed", range(5))
def test_every_row_once_over_connections_cut_anywhere(daemon, rows, seed):
    random = np.random.default_rng(seed)
    # 20 connections take 600 of the 960 kB at most, so that each of them is cut.
    limits = [(int(random.integers(200, 30_000)), int(random.integers(60, 600))) for _ in range(20)]
    server = daemon()
    cutter = Cutter(server.observe[5:], [(None, None), *limits])
    X, y = rows(30_000)
    with windhover.connect(
        cutter.address, query=server.query, producer=7, max_rows_per_frame=97
    ) as m:
        m._rows._channel._sock.shutdown(
            socket.SHUT_RDWR
        )  # the first one, which was for Hello alone
        for begin in range(0, len(X), 500):
            m.observe(X[begin : begin + 500], y[begin : begin + 500])
        totals = m.wait()
        assert cutter.cuts >= 20
        assert totals.sent == len(X) == totals.accepted + totals.duplicate
        assert m.status().head == len(X) and totals.histories == 0
    cutter.close()


def test_an_idle_connection_that_was_let_go_is_taken_up_again(daemon, rows):
    server = daemon(server__idle_timeout=200)
    X, y = rows(10)
    with connect(server) as m:
        m.observe(X, y)
        m.wait()
        time.sleep(0.8)
        m.observe(X, y)
        assert m.wait().accepted == 20 and len(m.predict(X)) == 10
