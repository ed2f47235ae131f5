"""Connections and rows that the server refuses, and what is told of it."""

import hashlib
import os
import signal
import socket
import threading
import time

import pytest
from sending import connect

import windhover
from windhover import windhover_pb2 as pb
from windhover.frames import varint


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


def test_a_token_that_is_taken_away_ends_what_it_began(daemon, rows, tmp_path):
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
