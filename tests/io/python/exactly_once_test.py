"""What becomes of rows when daemons and connections die."""

import os
import signal
import socket
import threading
import time
import warnings

import numpy as np
import pytest

import windhover
from windhover import windhover_pb2 as pb
from windhover.frames import varint


def connect(server, **options):
    return windhover.connect(server.observe, query=server.query, **options)


def total_of(totals):
    return totals.accepted + totals.refused + totals.duplicate + totals.unknown


def restart_after(server, seconds):
    def work():
        server.kill()
        time.sleep(seconds)
        server.start()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def exported(windhover_command, folder, path):
    """The rows of a data folder, by their producer's sequence numbers."""
    import subprocess

    with open(path, "w") as out:
        subprocess.run(
            [windhover_command, "log", "export", str(folder)],
            stdout=out,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return np.genfromtxt(path, delimiter=",", names=True)


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


def test_two_clients_cannot_be_one_producer(daemon, rows):
    server = daemon()
    X, y = rows(10)
    with connect(server, producer=7) as first:
        first.observe(X, y)
        first.wait()
        with pytest.raises(windhover.ProducerBusy, match="another connection"):
            connect(server, producer=7)


def test_a_gap_is_refused_with_the_number_expected(daemon, rows):
    server = daemon()
    X, y = rows(10)
    with connect(server, producer=7) as m:
        m.observe(X, y)
    with connect(server, producer=7, first_sequence=20) as m:
        m.observe(X, y)
        with pytest.raises(windhover.Refused, match="it expects sequence number 10"):
            m.wait()
        assert m.totals.refused == 10 == m.totals.sent
    with connect(server, producer=8, first_sequence=20, begins_here=True) as m:
        m.observe(X, y)
        assert m.wait().accepted == 10 and m.producer_status(8).next == 30


def test_arguments_of_a_given_producer_need_one(daemon):
    server = daemon()
    for wrong in (
        {"first_sequence": 5},
        {"first_sequence": "next"},
        {"begins_here": True},
        {"producer": 7, "resend": False},
    ):
        with pytest.raises(windhover.InvalidInput, match="producer"):
            connect(server, **wrong)


def test_durability_is_refused_where_there_is_no_log(daemon):
    with pytest.raises(windhover.Refused, match="no log on disk"):
        connect(daemon(), durable=True)


class Cutter:
    """Between client and server: passes so many bytes on in each direction, then cuts."""

    def __init__(self, target, limits):
        self._target, self._limits = target, list(limits)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0
        self._sockets = [self._listener]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            unix = isinstance(self._target, str)
            server = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
            self._sockets += [client, server]
            server.connect(self._target)
            limit = self._limits.pop(0) if self._limits else None
            to_server, to_client = limit or (None, None)
            for way in ((client, server, to_server), (server, client, to_client)):
                threading.Thread(target=self._pass, args=way, daemon=True).start()

    def _pass(self, source, sink, limit):
        try:
            while limit is None or limit > 0:
                data = source.recv(65536 if limit is None else min(65536, limit))
                if not data:
                    break
                sink.sendall(data)
                limit = limit and limit - len(data)
            else:
                self.cuts += 1
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        for one in self._sockets:
            one.close()


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


def test_a_token_that_is_taken_away_ends_what_it_began(daemon, rows, tmp_path):
    import hashlib

    identities = tmp_path / "identities"

    def write(token):
        digest = hashlib.sha256(token.encode()).hexdigest()
        identities.write_text(f"feeder observe,query * {digest}\n")
        identities.chmod(0o600)

    write("first")
    server = daemon(server__identities_file=identities)
    X, y = rows(10)
    m = connect(server, token="first")
    m.observe(X, y)
    m.wait()
    write("second")
    os.kill(server.pid, signal.SIGHUP)
    with pytest.raises(windhover.NotPermitted):
        end = time.monotonic() + 60
        while time.monotonic() < end:  # until the file has been read
            m.predict(X)
    with pytest.raises(windhover.NotPermitted):
        m.observe(X, y)
        m.wait()
    m.close()


def test_a_reason_for_closing_is_told(daemon):
    """A server that refuses with its last word and closes."""

    def serve(listener):
        peer, _ = listener.accept()
        with peer:
            peer.recv(1000)
            answer = pb.Response(
                refusal=pb.Refusal(reason=pb.REASON_UNAVAILABLE, number=64, closing=True)
            )
            body = answer.SerializeToString()
            peer.sendall(varint(len(body)) + body)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        with pytest.raises(windhover.Refused, match="no room") as refused:
            windhover.connect(f"127.0.0.1:{listener.getsockname()[1]}")
        thread.join()
    assert refused.value.number == 64 and refused.value.closing
