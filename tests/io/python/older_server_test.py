"""A client against a server from before what it can do: here one that says what the test wants."""

import contextlib
import socket
import threading

import numpy as np
import pytest

import windhover
from windhover import windhover_pb2 as pb
from windhover.frames import varint


class OlderServer:
    """Accepts every row, and answers what it was asked: Welcome says what `welcome` does, so not
    what came to the protocol later. `breaks`: the connection that brings rows, once, ends instead.
    """

    def __init__(self, path, **welcome):
        self.address = f"unix:{path}"
        self.welcome = {"features": 3, "dimension": 4, "model": pb.MODEL_KIND_LINEAR, **welcome}
        self.breaks = False
        self.observed = []
        self.head = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _run(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer, peer.makefile("rb") as stream, contextlib.suppress(OSError):
                while request := self._request(stream):
                    if self.breaks and request.WhichOneof("body") == "observe":
                        self.breaks = False
                        break
                    body = self._answer(request).SerializeToString()
                    peer.sendall(varint(len(body)) + body)

    def _request(self, stream):
        size = shift = 0
        while byte := stream.read(1):
            size |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                return pb.Request.FromString(stream.read(size))
        return None

    def _answer(self, request):
        answer = pb.Response(id=request.id)
        kind = request.WhichOneof("body")
        if kind == "hello":
            answer.welcome.CopyFrom(pb.Welcome(version=1, frame_cap=65536, reply_cap=65536))
            answer.welcome.MergeFrom(
                pb.Welcome(
                    max_rows=4096, observes=True, instance_id=1, max_query_rows=16, head=self.head
                )
            )
            answer.welcome.MergeFrom(pb.Welcome(**self.welcome))
        elif kind == "observe":
            self.observed.append(request.observe)
            self.head += request.observe.rows
            answer.observe_ack.CopyFrom(
                pb.ObserveAck(accepted=request.observe.rows, head=self.head, frames=1)
            )
        elif kind == "posterior_summary":
            numbers = [0.0] * self.welcome["dimension"]
            result = answer.posterior_summary_result
            result.provenance.state = pb.POSTERIOR_STATE_OK
            for field in result.DESCRIPTOR.fields:
                if field.name not in ("provenance", "drift_score"):  # newer
                    getattr(result, field.name).extend(numbers)
        else:
            answer.refusal.reason = pb.REASON_UNSUPPORTED
        return answer


@pytest.fixture
def older_server(tmp_path):
    started = []

    def start(**welcome):
        started.append(OlderServer(tmp_path / f"s{len(started)}", **welcome))
        return started[-1]

    yield start
    for server in started:
        server.close()


def test_one_that_never_forgets_a_number_is_given_none(older_server, rows):
    server = older_server()
    X, y = rows(200)
    with windhover.connect(server.address) as m:
        m.observe(X[:100], y[:100])
        assert m.wait().accepted == 100
        server.breaks = True
        m.observe(X[100:], y[100:])
        with pytest.raises(windhover.Disconnected, match="100 rows on their way"):
            m.wait()
        m.observe(X[100:], y[100:])  # connects again
        with pytest.raises(windhover.Disconnected, match="100 rows on their way"):
            m.wait()
        totals = m.wait()
    assert {observe.producer for observe in server.observed} == {0}
    assert sum(observe.rows for observe in server.observed) == server.head == 200
    assert (totals.sent, totals.accepted, totals.unknown, totals.lost) == (300, 200, 100, 0)


SOFTMAX = {"model": pb.MODEL_KIND_SOFTMAX, "classes": 3, "dimension": 8}


@pytest.mark.parametrize(
    "welcome, first",
    [
        ({}, "x1"),
        (SOFTMAX, "1: x1"),
        (SOFTMAX | {"dimension": 9}, "theta0"),  # as softmax never has
        (SOFTMAX | {"network": True}, "theta0"),  # a newer one says it
    ],
)
def test_parameters_of_one_that_does_not_tell_networks_are_named_by_their_number(
    older_server, welcome, first
):
    server = older_server(**welcome)
    with windhover.connect(server.address) as m:
        posterior = m.posterior()
        assert posterior.names[0] == first
        assert len(posterior.names) == len(posterior.mean) == server.welcome["dimension"]
        assert not np.any(posterior.mean)


def test_what_one_cannot_do_is_said(older_server):
    server = older_server()
    with windhover.connect(server.address) as m:
        with pytest.raises(windhover.WindhoverError, match="unsupported"):
            m.events()
        with pytest.raises(windhover.InvalidInput, match="key"):
            m.predict(np.zeros((1, 3)), key="a")
