"""The blocking client against a daemon."""

import os
import pickle
import re
import socket
import subprocess
import sys
import threading
import time
import types
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

import windhover

ROOT = Path(__file__).resolve().parents[3]


def connect(daemon, **options):
    return windhover.connect(daemon.observe, query=daemon.query, **options)


def test_rows_go_in_and_predictions_come_out(daemon, rows, settled):
    X, y = rows(5000)
    with connect(daemon()) as m:
        assert (m.features, m.dimension, m.kind, m.model) == (3, 4, "linear", "default")
        assert m.observe(X[:4000], y[:4000]) == 0
        assert m.observe(X[4000:], y[4000:]) == 4000
        totals = m.wait()
        assert (totals.sent, totals.accepted, totals.refused) == (5000, 5000, 0)
        settled(m)
        answer = m.predict(X[:600], interval=0.8, quantiles=[0.1, 0.9], thresholds=[0.0, 1.0])
        assert len(answer) == 600 and len(answer.provenances) == 3  # 256 rows a question
        np.testing.assert_allclose(answer.mean, X[:600] @ [1, 2, 3] + 0.5, atol=0.05)
        np.testing.assert_allclose(answer.sd, 0.1, rtol=0.1)
        lower, upper = answer.interval(0.8)
        np.testing.assert_allclose([lower, upper], answer.quantile([0.1, 0.9]).T, atol=0.02)
        assert answer.exceedance.shape == (600, 2)
        assert (answer.exceedance[:, 0] >= answer.exceedance[:, 1]).all()
        assert answer.probs.shape == (600, 0)
        assert answer.age > 0 and answer.provenance.sequence == 5000


def test_intervals_and_quantiles_not_asked_for_are_asked_when_wanted(daemon, rows, settled):
    X, y = rows(2000)
    with connect(daemon()) as m:
        m.observe(X, y)
        m.wait()
        settled(m)
        answer = m.predict(X[:4])
        narrow, wide = answer.interval(0.5), answer.interval()
        assert (narrow[0] > wide[0]).all() and (narrow[1] < wide[1]).all()
        assert answer.quantile(0.5).shape == (4,)
        assert answer.quantile([0.25, 0.75]).shape == (4, 2)
        scored = m.predict(X[:4], outcomes=y[:4], thompson_id=3)
        assert (scored.crps > 0).all() and scored.thompson.any()
        with pytest.raises(windhover.InvalidInput, match="between 0 and 1"):
            m.predict(X[:4], interval=1.0)
        with pytest.raises(windhover.InvalidInput, match="the server takes 16"):
            m.predict(X[:4], quantiles=np.linspace(0.01, 0.99, 17))
        with pytest.raises(windhover.InvalidInput, match="no rows"):
            m.predict(X[:0])


def test_posterior_draws_status_and_models(daemon, rows, settled):
    X, y = rows(3000)
    with connect(daemon()) as m:
        m.observe(X, y)
        m.wait()
        status = settled(m)
        assert status.head == 3000 and status.runtime_counters["rows_accepted"] == 3000
        assert status.query_latency.count > 0 and not status.durable.keeps_folder
        posterior = m.posterior()
        np.testing.assert_allclose(posterior.mean, [1, 2, 3, 0.5], atol=0.02)
        assert posterior.names == ("x1", "x2", "x3", "intercept")
        pandas = pytest.importorskip("pandas")
        frame = posterior.to_dataframe()
        assert isinstance(frame, pandas.DataFrame) and frame.loc["x1", "mean"] == posterior.mean[0]
        draws = m.draws()
        assert draws.theta.shape == (draws.provenance.draws, 4)
        np.testing.assert_allclose(draws.theta.mean(axis=0), posterior.mean, atol=0.05)
        assert list(draws.to_dataframe().columns) == list(posterior.names)
        events = m.events()
        assert [event.id for event in events] == sorted(event.id for event in events)
        assert events[0].kind == "started" and events[0].row == 0
        assert "cold_start_over" in [event.kind for event in events]
        assert events[-1].status == m.status().status
        age = datetime.now(timezone.utc) - events[-1].time
        assert timedelta(0) <= age < timedelta(minutes=10)
        (model,) = m.models()
        assert (model.name, model.head, model.paused) == ("default", 3000, False)
        assert m.pause().paused and not m.resume().paused


@pytest.mark.filterwarnings("ignore")  # arviz's own
def test_draws_become_inference_data(daemon, rows, settled):
    pytest.importorskip("arviz")
    X, y = rows(1000)
    with connect(daemon()) as m:
        m.observe(X, y)
        m.wait()
        settled(m)
        theta = m.draws().to_inferencedata()["posterior"]["theta"]
        assert theta.dims == ("chain", "draw", "parameter") and theta.shape == (1, 64, 4)
        assert theta.coords["parameter"].values.tolist() == ["x1", "x2", "x3", "intercept"]


@pytest.mark.parametrize("version", ["0.22.0", "1.0.0"])
def test_draws_are_handed_to_arviz_as_it_takes_them(daemon, rows, monkeypatch, version):
    """A stand-in, which has the signatures of arviz.from_dict before and from 1.0 on."""
    given = {}

    class Group:
        def __init__(self):
            self.attrs = {}

    def before(posterior=None, *, posterior_predictive=None, coords=None, dims=None):
        given.update(posterior=posterior, coords=coords, dims=dims)
        return {"posterior": Group()}

    def since(data, *, name=None, sample_dims=None, coords=None, dims=None):
        return before(**data, coords=coords, dims=dims)

    arviz = types.ModuleType("arviz")
    arviz.__version__ = version
    arviz.from_dict = before if version < "1" else since
    monkeypatch.setitem(sys.modules, "arviz", arviz)
    X, y = rows(100)
    with warnings.catch_warnings(), connect(daemon()) as m:
        warnings.simplefilter("ignore")
        m.observe(X, y)
        m.wait()
        draws = m.draws()
        data = draws.to_inferencedata()
    assert np.array_equal(given["posterior"]["theta"], draws.theta[np.newaxis])
    assert given["coords"] == {"parameter": ["x1", "x2", "x3", "intercept"]}
    assert given["dims"] == {"theta": ["parameter"]}
    said = data["posterior"].attrs
    assert said["status"] == str(draws.status) and said["inference_library"] == "windhover"
    assert "posterior()" in said["comment"]
    given["posterior"]["theta"][:] = 0
    assert draws.theta.any()  # a copy


def test_a_posterior_that_is_not_ok_is_warned_of_where_it_was_asked_for(daemon, rows):
    X, y = rows(10)
    with connect(daemon()) as m:
        with pytest.warns(windhover.PosteriorWarning, match="warming_up") as caught:
            answer = m.predict(X)
            answer.interval(0.5)
        assert answer.status == "warming_up" and answer.reason == "few_draws"
        assert [one.filename for one in caught] == [__file__] * 2


def test_refused_rows_are_told_by_their_index(daemon, rows):
    X, y = rows(2000)
    X[7, 1] = np.nan
    y[1500] = np.inf
    with connect(daemon()) as m:
        m.observe(X[:1000], y[:1000])
        with pytest.raises(windhover.RowsRefused, match="row 7: a number is NaN") as refused:
            m.wait()
        assert refused.value.rows.tolist() == [7]
        first = m.observe(X[1000:], y[1000:])
        with pytest.raises(windhover.RowsRefused) as refused:
            m.wait()
        assert (refused.value.rows - first).tolist() == [500]
        assert refused.value.reasons == [windhover.Reason.NOT_FINITE]
        totals = m.wait()  # said once
        assert (totals.sent, totals.accepted, totals.refused) == (2000, 1998, 2)
    with connect(daemon(), refused_rows="warn") as m:
        m.observe(X[:10], y[:10])
        with pytest.warns(windhover.RowsRefusedWarning, match="1 row"):
            m.wait()
    with connect(daemon(), refused_rows="keep") as m:
        m.observe(X[:10], y[:10])
        m.wait()
        assert m.take_refused_rows().rows.tolist() == [7] and m.take_refused_rows() is None


def test_a_refused_row_names_what_is_to_blame(daemon, library):
    X = np.ones((6, 3))
    y = np.arange(6.0)
    X[1, 2], X[2], y[4] = np.nan, np.inf, -1
    why = "a number is NaN, infinite or beyond 1e35"
    text = (
        f"4 rows refused (row 1: {why} (column 2 is nan); row 2: {why} (column 0 is inf, column 1 "
        "is inf, column 2 is inf); row 4: the target is not one that the model knows (y is -1); ...)"
    )
    X[5, 0] = -1e40
    with connect(daemon(model__name="poisson")) as m:
        m.observe(X, y)
        with pytest.raises(windhover.RowsRefused) as refused:
            m.wait()
        assert str(refused.value) == text
        assert refused.value.cells[3] == "column 0 is -1e+40"
        assert str(pickle.loads(pickle.dumps(refused.value))) == text
        # Numbers go on where they are: a row is told by them, and none before it is named.
        first = m.observe(X[1:2], y[1:2])
        with pytest.raises(windhover.RowsRefused, match=rf"row {first}: .*\(column 2 is nan"):
            m.wait()
        with pytest.raises(windhover.Refused, match="row 1: column 2 is nan"):
            m.predict(X)
        with pytest.raises(windhover.Refused, match="row 1: y is -2"):
            m.predict(np.ones((2, 3)), outcomes=[1, -2])
    with windhover.Engine(3, model="poisson", threads=0) as engine:
        with pytest.raises(windhover.RowsRefused) as refused:
            engine.observe(X, y)
        assert str(refused.value) == text


def test_a_refused_row_of_a_frame_or_sparse_matrix_names_its_column(daemon):
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0], "b": [np.nan], "c": [1.0]})
    with connect(daemon()) as m:
        m.observe(frame, [1.0])
        with pytest.raises(windhover.RowsRefused, match=r"\(column 'b' is nan"):
            m.wait()


def test_a_refused_sparse_row_names_its_column(daemon):
    rows = windhover.SparseRows([1.0, 2.0, np.nan, 4.0], [0, 1, 2, 0], [0, 1, 3, 4])
    with connect(daemon(model__max_nonzeros=2)) as m:
        m.observe(rows, [1.0, 2.0, 3.0])
        with pytest.raises(windhover.RowsRefused, match=r"row 1: .*\(column 2 is nan"):
            m.wait()


def test_leaving_the_block_waits_and_says_what_was_refused(daemon):
    with pytest.raises(windhover.RowsRefused):
        with connect(daemon()) as m:
            m.observe([[np.nan, 0, 0]], [1.0])
    with pytest.raises(ZeroDivisionError):
        with connect(daemon()) as m:
            m.observe([[np.nan, 0, 0]], [1.0])
            1 / 0


def test_a_wrong_dimension_is_refused_before_anything_is_sent(daemon):
    with connect(daemon()) as m:
        with pytest.raises(windhover.InvalidInput, match="4 columns, the model has 3"):
            m.observe(np.ones((5, 4)), np.ones(5))
        with pytest.raises(ValueError):
            m.predict(np.ones((5, 2)))
        assert m.totals.sent == 0


def test_targets_outside_their_domain_are_refused(daemon):
    with connect(daemon(model__name="logistic")) as m:
        m.observe(np.ones((4, 3)), [0, 1, 2, 1])
        with pytest.raises(windhover.RowsRefused, match="row 2: the target is not one"):
            m.wait()
        assert m.kind == "logistic"


def test_softmax_has_a_column_a_class(daemon, rows, settled):
    X, y = rows(3000)
    labels = np.digitize(y, [-1, 2])
    with connect(daemon(model__name="softmax", model__classes=3)) as m:
        m.observe(X, labels)
        m.wait()
        settled(m)
        answer = m.predict(X[:50])
        assert m.classes == 3 and answer.probs.shape == (50, 3)
        np.testing.assert_allclose(answer.probs.sum(axis=1), 1)
        lower, upper = answer.interval()
        assert (lower <= answer.probs).all() and (answer.probs <= upper).all()
        assert (answer.probs.argmax(axis=1) == labels[:50]).mean() > 0.9


def test_sparse_rows_teach_what_dense_ones_do(daemon, rows, settled):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    X, y = rows(3000)
    X[np.abs(X) < 0.5] = 0
    y = X @ [1.0, 2, 3]
    with connect(daemon(model__max_nonzeros=3)) as m:
        m.observe(scipy_sparse.csr_matrix(X[:1500]), y[:1500])
        csr = scipy_sparse.csr_matrix(X[1500:2000])
        m.observe(windhover.SparseRows(csr.data, csr.indices, csr.indptr), y[1500:2000])
        m.observe(X[2000:], y[2000:])
        assert m.wait().accepted == 3000
        settled(m)
        np.testing.assert_allclose(m.posterior().mean, [1, 2, 3, 0], atol=0.01)
        np.testing.assert_allclose(
            m.predict(X[:5]).mean, m.predict(scipy_sparse.csr_matrix(X[:5])).mean
        )


def test_floats_go_over_the_wire_as_floats(daemon, rows):
    X, y = rows(1000)
    server = daemon()
    received = []
    for given in ((X, y), (X.astype("f4"), y.astype("f4"))):
        with connect(server) as m:
            before = m.status().io_counters["bytes_received"]
            m.observe(*given)
            m.wait()
            received.append(m.status().io_counters["bytes_received"] - before)
    assert received[1] < 0.6 * received[0]


def test_one_address_will_do(daemon, rows):
    X, y = rows(100)
    with windhover.connect(daemon().observe) as m:
        m.observe(X, y)
        assert len(m.predict(X[:2])) == 2 and m.wait().accepted == 100


def test_a_query_endpoint_takes_no_rows(daemon):
    with windhover.connect(daemon().query, producer=3) as m:
        with pytest.raises(windhover.InvalidInput, match="takes no rows"):
            m.observe(np.ones((1, 3)), [1.0])
        assert m.status().head == 0


def test_threads_share_a_client(daemon, rows):
    X, y = rows(1000)
    with connect(daemon()) as m:

        def work():
            for _ in range(20):
                m.observe(X[:50], y[:50])
                m.predict(X[:3])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert m.wait().accepted == 4000


# --- What goes wrong


@pytest.mark.parametrize(
    "text",
    ["", "host", "host:", ":7171", "host:0", "host:70000", "::1:7171", "unix:", "host:7a", "tls://"]
    + ["tls://host", "tls://:1", "tls://::1:7171", "tls://tcp:host:1", "https://host:1"],
)
def test_addresses_that_are_none(text):
    with pytest.raises(windhover.InvalidInput, match="expected host:port"):
        windhover.connect(text)


def test_addresses_that_are_some():
    from windhover.address import Address, parse

    assert parse("localhost:7171") == parse("tcp:localhost:7171") == Address("localhost", 7171)
    assert parse("[::1]:7171") == Address("::1", 7171)
    assert parse("tls://host:1") == Address("host", 1, tls=True)
    assert parse("tls://[::1]:7171") == Address("::1", 7171, tls=True)
    assert parse("unix:/run/w") == Address(unix_path="/run/w")


def test_nobody_listens(tmp_path):
    with pytest.raises(windhover.Unreachable, match="No such file"):
        windhover.connect(f"unix:{tmp_path}/nobody")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionError, match="refused"):
            windhover.connect(f"127.0.0.1:{taken.getsockname()[1]}")


def test_a_server_that_does_not_answer():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(TimeoutError, match="does not answer"):
            windhover.connect(address, reply_timeout=0.2)
        assert 0.2 <= time.monotonic() - began < 2


def test_an_answer_that_cannot_be_read():
    def answer(server):
        peer, _ = server.accept()
        with peer:
            peer.recv(1000)
            peer.sendall(b"\x03\xff\xff\xff")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        with pytest.raises(windhover.ProtocolError, match="cannot be read"):
            windhover.connect(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def test_over_tcp(windhoverd, rows):
    from windhover.daemon import Daemon

    options = {"model.features": 3, "server.observe.tcp_address": "127.0.0.1"}
    with Daemon(options) as server:
        address = server.ready.split("observe=")[1].split(",")[0]
        with windhover.connect(address) as m:
            m.observe(*rows(100))
            assert m.wait().accepted == 100


def test_a_fingerprint_that_differs(daemon):
    with pytest.raises(windhover.Refused) as refused:
        connect(daemon(), fingerprint=1)
    assert refused.value.reason is windhover.Reason.FINGERPRINT_MISMATCH


def test_the_example_of_a_row_at_a_time(windhoverd):
    program = ROOT / "io/examples/learn_one.py"
    houses = ROOT / "tools/manual/pages/data/houses.csv"
    path = os.pathsep.join([str(Path(windhover.__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    said = subprocess.run(
        [sys.executable, program, houses],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    mean, lower, upper = map(float, re.findall(r"\d+", said))
    # The mean of 3,000 rows whose own interval is a fifth of it wide and more.
    assert lower < mean < upper and 200_000 < mean < 290_000, said
