"""Over TLS: who is believed, who is believed by the server, and every row once all the same."""

import asyncio
import shutil
import socket
import subprocess

import numpy as np
import pytest

import windhover
import windhover.aio
from sending import Cutter
from windhover.daemon import Daemon


class Authority:
    """Makes certificates, each NAME.pem and NAME.key in its folder."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = folder / "ca.pem"
        self._openssl("-x509", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")

    def _openssl(self, *words):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        command = ["openssl", "req", *key, *words]
        subprocess.run(command, cwd=self.folder, check=True, stderr=subprocess.DEVNULL)

    def make(self, name, *alternatives):
        by = ["-CA", "ca.pem", "-CAkey", "ca.key"]
        more = ["-addext", f"subjectAltName={','.join(alternatives)}"] if alternatives else []
        files = ["-keyout", f"{name}.key", "-out", f"{name}.pem"]
        self._openssl("-x509", "-subj", f"/CN={name}", *by, *more, *files)
        (self.folder / f"{name}.key").chmod(0o600)
        return {"certificate": self.folder / f"{name}.pem", "key": self.folder / f"{name}.key"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def tls_server(windhoverd, authority):
    """Starts servers that speak TLS on a port; the address of one, and the daemon."""
    started = []

    def start(name="server", alternatives=("DNS:localhost", "IP:127.0.0.1"), **options):
        files = authority.make(name, *alternatives)
        named = {key.replace("__", "."): value for key, value in options.items()}
        own = {
            "model.features": 3,
            "process.prefault": False,
            "server.observe.tcp_address": "127.0.0.1",
            "server.tls.certificate": files["certificate"],
            "server.tls.key": files["key"],
        }
        daemon = Daemon({**own, **named})
        started.append(daemon)
        place = daemon.ready.split("observe=")[1].split(",")[0].split()[0]
        return f"tls://{place}", daemon

    yield start
    for daemon in started:
        daemon.stop()


def test_rows_and_answers_of_many_records(tls_server, authority, rows, settled):
    address, _ = tls_server()
    X, y = rows(60_000)
    with windhover.connect(address, ca=authority.ca, producer=3) as m:
        for begin in range(0, len(X), 20_000):
            m.observe(X[begin : begin + 20_000], y[begin : begin + 20_000])
        assert m.wait().accepted == 60_000
        settled(m)
        # An answer of several records, and one that is a single one.
        np.testing.assert_allclose(m.predict(X[:4000]).mean, X[:4000] @ [1, 2, 3] + 0.5, atol=0.1)
        assert len(m.predict(X[:1])) == 1
        assert m.draws().theta.shape[1] == 4


def test_the_server_is_checked(tls_server, authority, tmp_path):
    address, _ = tls_server()
    port = address.rpartition(":")[2]
    another = tmp_path / "another"
    another.mkdir()
    with pytest.raises(windhover.CertificateRefused, match="not good"):
        windhover.connect(address, ca=Authority(another).ca)
    with pytest.raises(windhover.CertificateRefused, match="self-signed|unable to get"):
        windhover.connect(address)
    with pytest.raises(windhover.CertificateRefused, match="[Hh]ostname mismatch"):
        windhover.connect(address, ca=authority.ca, server_name="example.org")
    with windhover.connect(f"tls://localhost:{port}", ca=authority.ca) as m:
        assert m.features == 3
    with windhover.connect(address, ca=authority.ca, server_name="localhost") as m:
        assert m.features == 3


def test_an_address_is_another_thing_than_a_name(tls_server, authority):
    address, _ = tls_server("named", ("DNS:localhost",))
    with pytest.raises(ConnectionError, match="IP address mismatch"):
        windhover.connect(address, ca=authority.ca)


def test_the_client_is_known_by_its_certificate(tls_server, authority, tmp_path, rows):
    identities = tmp_path / "identities"
    identities.write_text("cert:ada query *\n")
    identities.chmod(0o600)
    address, _ = tls_server(server__tls__client_ca=authority.ca, server__identities_file=identities)
    X, y = rows(20)
    with windhover.connect(address, ca=authority.ca, **authority.make("ada")) as m:
        assert len(m.predict(X)) == 20
        with pytest.raises(windhover.NotPermitted, match="observe"):
            m.observe(X, y)
            m.wait()
    with pytest.raises(windhover.NotPermitted):
        windhover.connect(address, ca=authority.ca, **authority.make("eve"))
    with pytest.raises(windhover.NotPermitted):
        windhover.connect(address, ca=authority.ca)
    together = tmp_path / "both.pem"
    files = authority.make("ada")
    together.write_bytes(files["key"].read_bytes() + files["certificate"].read_bytes())
    with windhover.connect(address, ca=authority.ca, certificate=together) as m:
        m.status()


def test_a_token_goes_over_tls(tls_server, authority, tmp_path):
    import hashlib

    identities = tmp_path / "identities"
    identities.write_text(f"asker query * {hashlib.sha256(b'secret').hexdigest()}\n")
    identities.chmod(0o600)
    address, _ = tls_server(server__identities_file=identities)
    with windhover.connect(address, ca=authority.ca, token="secret") as m:
        m.status()
    with pytest.raises(windhover.NotPermitted):
        windhover.connect(address, ca=authority.ca, token="another")


def test_files_and_arguments_that_cannot_be(authority, tmp_path):
    somewhere = "tls://127.0.0.1:1"
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    locked = tmp_path / "locked.pem"
    files = authority.make("locked")
    command = ["openssl", "ec", "-aes128", "-passout", "pass:x", "-in", files["key"]]
    subprocess.run([*command, "-out", locked], check=True, stderr=subprocess.DEVNULL)
    other_key = authority.make("other")["key"]
    for options, match in (
        ({"ca": tmp_path / "missing.pem"}, "missing.pem: No such file"),
        ({"ca": empty}, "empty.pem"),
        ({"certificate": tmp_path / "missing.pem"}, "missing.pem"),
        ({"certificate": files["certificate"], "key": other_key}, "other.key.*mismatch"),
        ({"certificate": files["certificate"], "key": locked}, "asks for a password"),
        ({"key": files["key"]}, "certificate, which is missing"),
    ):
        with pytest.raises(windhover.InvalidInput, match=match):
            windhover.connect(somewhere, **options)
    # Nothing of TLS is wanted of an address that is in the clear.
    with pytest.raises(windhover.InvalidInput, match="tls://"):
        windhover.connect("127.0.0.1:1", ca=authority.ca)


def test_a_server_that_speaks_no_tls(windhoverd, authority):
    options = {"model.features": 3, "server.observe.tcp_address": "127.0.0.1"}
    with Daemon(options) as server:
        place = server.ready.split("observe=")[1].split(",")[0]
        with pytest.raises(windhover.Unreachable, match="does the server speak it"):
            windhover.connect(f"tls://{place}", ca=authority.ca)


def test_a_server_that_never_ends_its_handshake(authority):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(TimeoutError, match="TLS gets no answer"):
            windhover.connect(f"tls://127.0.0.1:{port}", ca=authority.ca, connect_timeout=0.2)


def test_one_address_with_tls_and_one_without(tls_server, authority, rows):
    address, server = tls_server()
    with windhover.connect(server.observe, query=address, ca=authority.ca) as m:
        m.observe(*rows(10))
        assert m.wait().accepted == 10
        assert len(m.predict(rows(10)[0])) == 10


def test_every_row_once_over_broken_connections(tls_server, authority, rows):
    address, server = tls_server()
    to = ("127.0.0.1", int(address.rpartition(":")[2]))
    cutter = Cutter(to, [(200_000, None), (300_000, None), (None, 3000)])
    X, y = rows(20_000)
    with windhover.connect(f"tls://{cutter.address}", ca=authority.ca, producer=9) as m:
        for begin in range(0, len(X), 500):
            m.observe(X[begin : begin + 500], y[begin : begin + 500])
        totals = m.wait()
    assert totals.accepted + totals.duplicate == totals.sent == 20_000
    assert cutter.cuts >= 2
    cutter.close()
    with windhover.connect(address, ca=authority.ca) as m:
        assert m.status().head == 20_000


def test_in_an_event_loop(tls_server, authority, rows):
    address, _ = tls_server()
    X, y = rows(30_000)

    async def work():
        async with windhover.aio.connect(address, ca=authority.ca, producer=5) as m:
            for begin in range(0, len(X), 10_000):
                await m.observe(X[begin : begin + 10_000], y[begin : begin + 10_000])
            assert (await m.wait()).accepted == 30_000
            assert len(await m.predict(X[:3000])) == 3000
        with pytest.raises(windhover.CertificateRefused):
            await windhover.aio.connect(address)

    asyncio.run(work())


def test_an_estimator_of_a_server_with_tls(tls_server, authority, rows):
    pytest.importorskip("sklearn")
    from windhover.sklearn import StreamingRegressor

    address, _ = tls_server()
    X, y = rows(2000)
    model = StreamingRegressor(address=address, tls={"ca": str(authority.ca)}).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:10]), X[:10] @ [1, 2, 3] + 0.5, atol=0.1)
    model.close()
    with pytest.raises(windhover.InvalidInput, match="cafile is no word"):
        StreamingRegressor(address=address, tls={"cafile": "ca.pem"}).fit(X, y)
