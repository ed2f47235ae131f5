"""What a user gets wrong, and what is said then."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import windhover
from windhover.river import Classifier

pytestmark = pytest.mark.filterwarnings("ignore::windhover.PosteriorWarning")
WRONG = [
    ({"interval": 90}, r"interval=90: between 0 and 1"),
    ({"interval": "0.9"}, r"interval=0.9: between 0 and 1"),
    ({"quantiles": [0.5, 1.2]}, r"quantiles=\[0.5, 1.2\]: between 0 and 1"),
    ({"quantiles": [float("nan")]}, r"quantiles=\[nan\]: between 0 and 1"),
    ({"quantiles": 0.5}, r"quantiles=0.5: a list of numbers"),
    ({"quantiles": [0.5] * 17}, r"17 quantiles; the (server|engine) takes 16"),
    ({"thresholds": [float("nan")]}, r"thresholds=\[nan\]: numbers within"),
    ({"thresholds": ["many"]}, r"thresholds=\['many'\]: a list of numbers"),
    ({"thompson_id": -1}, r"thompson_id=-1: 0 to"),
    ({"thompson_id": 1.5}, r"thompson_id=1.5: 0 to"),
]


def connect(server, **options):
    return windhover.connect(server.observe, query=server.query, **options)


def test_a_question_that_cannot_be_names_its_argument(daemon, library):
    X = np.zeros((1, 3))
    with connect(daemon()) as m, windhover.Engine(3, threads=0) as engine:
        for asked, why in WRONG:
            for one in (m, engine):
                with pytest.raises(windhover.InvalidInput, match=why):
                    one.predict(X, **asked)
        assert len(m.predict(X, thresholds=np.array([1.0]), quantiles=(0.5,))) == 1


def test_other_columns_than_the_models(daemon, library, rows):
    server = daemon()
    advice = "4 columns.*model.schema.*windhover.Schema.load"
    with connect(server) as m:
        with pytest.raises(windhover.InvalidInput, match=advice):
            m.predict(np.zeros((1, 4)))
        with pytest.raises(windhover.InvalidInput, match=advice):
            m.observe(np.zeros((2, 4)), [1, 2])
    with windhover.Engine(3, threads=0) as engine:  # which has no server to ask
        with pytest.raises(windhover.InvalidInput, match="4 columns, the model has 3$"):
            engine.predict(np.zeros((1, 4)))


def answering(data):
    """A server that answers whatever it hears with these bytes; where it listens."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        peer, _ = listener.accept()
        with peer, listener:
            peer.recv(1000)
            peer.sendall(data)
            peer.recv(1000)  # until the client has gone

    threading.Thread(target=serve, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "data, begins",
    [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 60\r\n\r\n" + b"?" * 60, "HTTP/1.1 400"),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "SSH-2.0-OpenSSH_9.2p1 Debian-2'"),
        (b"\xff" * 40, "no length"),
        (b"\x04\x08\xff\xff\xff", "cannot be read"),
    ],
)
def test_another_protocol_there(data, begins):
    address = answering(data)
    with pytest.raises(windhover.ProtocolError) as said:
        windhover.connect(address, reply_timeout=5)
    text = str(said.value)
    assert text.startswith(f"this is no Windhover endpoint: {address}")
    assert begins in text and "server.observe" in text and "protobuf" not in text
    assert "windhover.v1" not in text


@pytest.mark.filterwarnings("error")
def test_the_port_of_http(windhoverd):
    from windhover.daemon import Daemon

    with Daemon({"model.features": 3, "server.http.tcp_address": "127.0.0.1"}) as server:
        address = server.ready.split("http=")[1].split(",")[0].split()[0]
        with pytest.raises(windhover.ProtocolError, match="no Windhover endpoint.*HTTP/1.1"):
            windhover.connect(address)


def test_a_client_that_is_closed_stays_closed(daemon, rows):
    server = daemon()
    X, y = rows(10)

    with connect(server, producer=7) as m:
        m.observe(X, y)
        m.close()
        for call in (
            lambda: m.predict(X),
            lambda: m.observe(X, y),
            m.wait,
            m.status,
            m.reconnect,
        ):
            with pytest.raises(windhover.InvalidInput, match="the client is closed"):
                call()
        m.close()
        assert not m.connected

    async def work():
        async with windhover.aio.connect(server.observe, query=server.query) as m:
            await m.close()
            with pytest.raises(windhover.InvalidInput, match="the client is closed"):
                await m.predict(X)

    asyncio.run(work())


def test_a_call_under_way_connects_no_more_once_its_client_is_closed(daemon, rows, freeze):
    server = daemon()
    X, y = rows(5000)
    m = connect(server, producer=9)
    freeze(server)
    m.observe(X, y)
    said = []

    def wait():
        try:
            m.wait()
        except windhover.WindhoverError as error:
            said.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    m.close()
    os.kill(server.pid, signal.SIGCONT)
    thread.join()
    assert [str(error) for error in said] == ["the client is closed: connect() makes another"]
    assert not m.connected


def test_rows_lost_while_it_asked_are_told_at_the_end_of_a_block(daemon, rows, break_off):
    server = daemon()
    X, y = rows(2000)
    with pytest.raises(windhover.Disconnected, match="of 1000 rows"):
        with connect(server, resend=False) as m:
            break_off(server, m, X, y)
            m.producer_status(1)  # on the connection of the rows


def test_asyncio_comes_with_the_package():
    package = str(Path(windhover.__file__).parents[1])
    said = subprocess.run(
        [sys.executable, "-c", "import windhover; print(windhover.aio.connect.__name__)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([package, *sys.path])},
        capture_output=True,
        text=True,
    )
    assert (said.stdout, said.stderr) == ("connect\n", "")


def test_a_label_that_was_not_announced():
    with pytest.raises(windhover.InvalidInput, match=r"\[False, True\].*classes="):
        Classifier().learn_one({"a": 1}, "upgrade")


@pytest.mark.parametrize(
    "model, options, names",
    [
        ("linear", {}, ["x1", "x2", "x3", "intercept"]),
        ("linear", {"model.intercept": "false"}, ["x1", "x2", "x3"]),
        (
            "softmax",
            {"model.classes": 3},
            [f"{k}: {name}" for k in (1, 2) for name in ("x1", "x2", "x3", "intercept")],
        ),
        (
            "heteroscedastic",
            {},
            [
                f"{block}{name}"
                for block in ("log variance: ", "")
                for name in ("x1", "x2", "x3", "intercept")
            ],
        ),
        ("mlp-linear", {"model.hidden": 2}, [f"theta{i}" for i in range(11)]),
        # As many weights as softmax of so many columns has coefficients.
        (
            "mlp-softmax",
            {"model.hidden": 1, "model.classes": 3},
            [f"theta{i}" for i in range(8)],
        ),
    ],
)
def test_parameters_are_called_as_the_command_calls_them(
    daemon, library, windhover_command, model, options, names
):
    server = daemon(**{"model.name": model}, **options)
    said = subprocess.run(
        [windhover_command, "posterior", "--to", server.query],
        capture_output=True,
        text=True,
        check=True,
    )
    with connect(server) as m:
        assert list(m.posterior().names) == names
    lines = [line.split("  ")[0].strip() for line in said.stdout.splitlines()]
    assert [line for line in lines if line in names] == names
    own = {k.split(".")[1]: 0 if v == "false" else int(v) for k, v in options.items()}
    with windhover.Engine(3, model=model, threads=0, **own) as engine:
        assert list(engine.posterior().names) == names


@pytest.mark.parametrize("address", [None, 7171, b"127.0.0.1:7171"])
def test_an_address_that_is_no_text(address):
    with pytest.raises(windhover.InvalidInput, match=r"address=.*: a text, as 127.0.0.1:7171"):
        windhover.connect(address)
    with pytest.raises(windhover.InvalidInput, match=r"query=7172: a text"):
        windhover.connect("127.0.0.1:7171", query=7172)


def test_columns_and_quantiles_that_are_no_numbers(daemon, rows):
    X, y = rows(100)
    with windhover.connect(daemon().observe) as m:
        m.observe(X, y)
        m.wait()
        for columns in ("ab", [1.5, 2.5], [None, 1], 3):
            with pytest.raises(windhover.InvalidInput, match="whole numbers, counted from 0"):
                m.contrasts(columns)
        assert len(m.contrasts(np.array([0, 2], dtype=np.int8))) == 2
        answer = m.predict(X[:5], quantiles=[0.1, 0.5])
        for one in (0.1, np.float64(0.1), np.float32(0.1)):
            assert (answer.quantile(one) == answer.quantile([0.1, 0.5])[:, 0]).all()
        assert (answer.quantile(np.float32([0.1, 0.5])) == answer.quantile([0.1, 0.5])).all()
        assert (answer.quantile(np.float32([0.5])) == answer.quantile([0.5])).all()
        assert answer.quantile(np.float32(0.3)).shape == (5,)  # is asked for now
        for wrong in ("0.5", [0.1, "a"], None):
            with pytest.raises(windhover.InvalidInput, match="a number, or several"):
                answer.quantile(wrong)
