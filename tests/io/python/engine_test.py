"""windhover.Engine: the engine in this process, over libwindhover.so."""

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import windhover
from windhover import _library

pytestmark = [
    pytest.mark.filterwarnings("ignore::windhover.PosteriorWarning"),
    pytest.mark.usefixtures("library"),
]
ROOT = Path(__file__).resolve().parents[3]
COEFFICIENTS = np.array([1.0, -2.0, 0.5])


def rows(n, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, X @ COEFFICIENTS + 4 + 0.5 * random.normal(size=n)


def test_words_are_those_of_the_library(library):
    reasons = list(windhover.PosteriorReason)[:-1]
    assert [library.reason_text(i) for i in range(len(reasons))] == [str(r) for r in reasons]
    assert library.status_text(windhover.Reason.TRIALS_MISSING) != "unknown status"


@pytest.mark.parametrize("threads", [0, 2])
def test_learns_and_answers(threads):
    X, y = rows(4000)
    with windhover.Engine(3, threads=threads, window_size=4000, seed=3) as engine:
        assert engine.observe(X, y) == engine.rows == 4000
        where = engine.wait()
        assert where.sequence >= 4000
        # From 4,000 rows the least-squares estimate has an sd of 0.5 / sqrt(4000) = 0.008 a column.
        p = engine.posterior()
        A = np.column_stack([X, np.ones(len(X))])
        exact = np.linalg.lstsq(A, y, rcond=None)[0]
        assert np.all(np.abs(p.mean - exact) < 4 * 0.008)
        assert p.names == ("x1", "x2", "x3", "intercept")
        answer = engine.predict(X[:600], quantiles=[0.25, 0.75], thresholds=[4.0])
        assert len(answer) == 600 and answer.exceedance.shape == (600, 1)
        lower, upper = answer.interval()
        inside = np.mean((lower <= y[:600]) & (y[:600] <= upper))
        assert abs(inside - 0.9) < 4 * np.sqrt(0.09 / 600)
        assert np.all(answer.quantile(0.25) < answer.quantile(0.75))
        again = engine.predict(X[:600], interval=0.5, quantiles=[0.1])
        narrow, asked = answer.interval(0.5), again.interval()
        assert np.allclose(narrow, asked, rtol=0.05, atol=0.05) and np.all(narrow[0] > lower)
        assert answer.quantile([0.1, 0.25]).shape == (600, 2)
        assert np.allclose(answer.quantile(0.1), again.quantile(0.1), rtol=0.05, atol=0.05)
        narrow, asked = answer.conformal_interval(0.5), again.conformal_interval()
        assert np.allclose(narrow, asked, rtol=0.2, atol=0.2)
        draws = engine.draws()
        assert draws.theta.shape == (64, 4)
        assert np.all(np.abs(draws.theta.mean(axis=0) - exact) < 4 * 0.008)


def test_the_same_rows_and_seed_give_the_same_bits():
    X, y = rows(500)
    means = []
    for _ in range(2):
        with windhover.Engine(3, threads=0, seed=5) as engine:
            engine.observe(X, y)
            engine.wait()
            while engine.poll():
                pass
            means.append(engine.draws().theta)
    assert np.array_equal(*means)


def test_goes_on_where_it_was_saved():
    X, y = rows(500)
    with windhover.Engine(3, threads=1) as engine, windhover.Engine(3, threads=0) as other:
        engine.observe(X, y)
        engine.wait()
        saved = engine.save()
        engine.stop()
        other.restore(saved)
        assert other.rows == 500
        with windhover.Engine(3, threads=0) as again:
            again.restore(saved)
            assert np.array_equal(again.predict(X).mean, other.predict(X).mean)
        with windhover.Engine(3, threads=0) as broken, pytest.raises(windhover.InvalidInput):
            broken.restore(saved[: len(saved) // 2])
        with windhover.Engine(2, threads=0) as narrow, pytest.raises(windhover.InvalidInput):
            narrow.restore(saved)


def test_refuses_in_words():
    with pytest.raises(windhover.InvalidInput, match="window_sise.*window_size"):
        windhover.Engine(3, window_sise=1)
    with pytest.raises(windhover.InvalidInput, match="horizon"):
        windhover.Engine(3, horizon="long")
    for name, value in (
        ("seed", -1),
        ("chains", 2**32),
        ("window_size", "many"),
        ("classes", 2.5),
    ):
        with pytest.raises(windhover.InvalidInput, match=name):
            windhover.Engine(3, **{name: value})
    with pytest.raises(windhover.InvalidInput, match="features"):
        windhover.Engine(-1)
    with pytest.raises(windhover.InvalidInput, match="`windhover models` lists"):
        windhover.Engine(3, model="linaer")
    with pytest.raises(windhover.InvalidInput, match="chosen, full, diagonal"):
        windhover.Engine(3, structure="sparse")
    with pytest.raises(windhover.InvalidInput, match="one of robust, posterior"):
        windhover.Engine(3, dependent_spread="wide")
    with windhover.Engine(3, threads=0) as engine:
        with pytest.raises(windhover.InvalidInput, match="4 columns, the model has 3"):
            engine.observe(np.zeros((2, 4)), [1, 2])
        with pytest.raises(windhover.InvalidInput, match="2 rows, y has 3"):
            engine.observe(np.zeros((2, 3)), [1, 2, 3])
        with pytest.raises(windhover.RowsRefused) as refused:
            engine.observe([[0, 0, 0], [0, np.nan, 0], [1, 1, 1]], [1, 2, 3])
        assert refused.value.rows.tolist() == [1] and engine.rows == 2
        assert refused.value.reasons == [windhover.Reason.NOT_FINITE]
        with pytest.raises(windhover.Refused):
            engine.observe(np.zeros((1, 3)), [1], weights=[2])
        with pytest.raises(windhover.TimedOut, match="warming_up"):
            engine.wait(timeout=0, ok=True)
    with pytest.raises(windhover.InvalidInput, match="closed"):
        engine.predict(np.zeros((1, 3)))
    engine.close()


def test_classes_and_binomial():
    random = np.random.default_rng(2)
    X = random.normal(size=(3000, 3))
    with windhover.Engine(3, model="softmax", classes=3, threads=0) as engine:
        engine.observe(X, np.argmax(X + 0.5 * random.normal(size=X.shape), axis=1))
        engine.wait()
        p = engine.predict([[3.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
        assert p.probs.shape == (2, 3) and np.argmax(p.probs, axis=1).tolist() == [0, 2]
        assert np.allclose(p.probs.sum(axis=1), 1)
        assert p.interval()[0].shape == (2, 3)
    with windhover.Engine(3, model="binomial", threads=0) as engine:
        engine.observe(X, random.binomial(20, 0.5, size=3000), trials=np.full(3000, 20))
        engine.wait()
        # 60,000 trials: the sd of the share is 0.002.
        assert np.all(np.abs(engine.predict(np.zeros((1, 3))).mean - 0.5) < 4 * 0.0021)


def test_the_example_says_what_the_one_in_c_says():
    program = ROOT / "io/examples/embedded.py"
    path = os.pathsep.join([str(Path(windhover.__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    said = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=True
    )
    assert re.fullmatch(
        r"y at 2\.5: 9\.[45]\d, 90 % of y within 9\.3\d .. 9\.6\d \(ok\)\n", said.stdout
    )


@pytest.mark.parametrize("features, classes", [(3, 3), (2, 4), (3, 5)])
def test_weights_of_a_network_have_no_names_also_where_softmax_has_as_many(features, classes):
    with windhover.Engine(
        features, model="mlp-softmax", classes=classes, hidden=1, threads=0
    ) as engine:
        assert engine.dimension in [(classes - 1) * width for width in (features, features + 1)]
        assert engine.posterior().names == tuple(f"theta{i}" for i in range(engine.dimension))


def test_questions_beside_rows():
    X, y = rows(20_000)
    with windhover.Engine(3, threads=1, window_slack=1024, max_frame_rows=512) as engine:
        asked = []
        done = threading.Event()

        def ask():
            while not done.is_set():
                asked.append(engine.predict(X[:8]).provenance.sequence)

        thread = threading.Thread(target=ask)
        thread.start()
        engine.observe(X, y)  # more than fits before the learner has gone on
        engine.wait()
        done.set()
        thread.join()
        assert engine.rows == 20_000 and asked == sorted(asked)


def test_restores_what_was_saved_from_any_bytes():
    X, y = rows(500)
    with windhover.Engine(3, threads=0) as engine:
        engine.observe(X, y)
        engine.wait()
        saved = engine.save()
        assert len(engine.save()) == len(saved)
        with windhover.Engine(3, threads=0) as other:
            other.restore(bytearray(saved))
            assert other.rows == 500
            assert np.array_equal(other.predict(X[:5]).mean, engine.predict(X[:5]).mean)
            for damaged in (b"", saved[:-1], saved[:1000]):
                with pytest.raises(windhover.InvalidInput):
                    other.restore(damaged)
            assert other.rows == 0


def test_waits_beside_a_thread_that_saves():
    X, y = rows(2000)
    with windhover.Engine(3, threads=1) as engine:
        saves = threading.Thread(target=lambda: [engine.save() for _ in range(20)])
        saves.start()
        for i in range(40):
            engine.observe(X[50 * i : 50 * i + 50], y[50 * i : 50 * i + 50])
            engine.wait()
        saves.join()
        assert engine.rows == 2000


def test_closes_beside_threads_that_look():
    for _ in range(50):
        engine = windhover.Engine(3, threads=0)

        def look(engine=engine):
            with pytest.raises(windhover.InvalidInput, match="closed"):
                while True:
                    assert engine.rows == 0 and engine.dimension == 4

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        engine.close()
        for thread in threads:
            thread.join()


def test_closes_though_a_thread_waits_for_room():
    X, y = rows(4000)
    engine = windhover.Engine(3, window_size=1000, window_slack=1000, max_frame_rows=100)
    engine.pause()

    def fill():
        with pytest.raises(windhover.InvalidInput, match="closed"):
            engine.observe(X, y)

    thread = threading.Thread(target=fill)
    thread.start()
    while engine.rows < 1000:  # no more have room
        pass
    engine.close()
    thread.join()


def test_a_forked_process_is_refused():
    with windhover.Engine(3, threads=1) as engine:
        child = os.fork()
        if child == 0:
            try:
                engine.observe(np.zeros((1, 3)), [1.0])
            except windhover.InvalidInput as error:
                os._exit(0 if "forked" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert engine.observe(np.zeros((1, 3)), [1.0]) == 1


def test_a_fork_closes_what_a_thread_had_locked():
    with windhover.Engine(3, threads=4) as engine:
        held, done = threading.Event(), threading.Event()

        def hold():
            with engine._asking, engine._writing:
                held.set()
                done.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(windhover.InvalidInput, match="forked"):
                    engine.rows
                engine.close()
            except BaseException:
                os._exit(1)
            os._exit(0)
        done.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert engine.observe(np.zeros((1, 3)), [1.0]) == 1


@pytest.mark.parametrize("model", ["softmax", "mlp-softmax", "drbm"])
def test_classes_have_probabilities(model):
    options = {"hidden": 4} if model != "softmax" else {}
    with windhover.Engine(3, threads=0, model=model, classes=3, **options) as engine:
        X, _ = rows(300)
        engine.observe(X, np.arange(300) % 3)
        while engine.poll():
            pass
        answer = engine.predict(X[:5])
        assert answer.probs.shape == (5, 3)
        assert np.allclose(answer.probs.sum(axis=1), 1, atol=1e-6)


def test_rounds_are_a_number_that_the_library_takes():
    with windhover.Engine(3, threads=0) as engine:
        for rounds in (-1, 2**31, 2**40):
            with pytest.raises(windhover.InvalidInput, match="rounds"):
                engine.poll(rounds)


def test_a_column_stands_once_in_a_row():
    for indices in ([0, 0], [2, 1]):
        with windhover.Engine(3, threads=0) as engine:
            with pytest.raises(windhover.InvalidInput, match="increase"):
                engine.predict(windhover.SparseRows([1.0, 5.0], indices, [0, 2]))
    with windhover.Engine(3, threads=0) as engine:
        X = windhover.SparseRows([1.0, 5.0, 2.0], [1, 2, 0], [0, 2, 2, 3])
        assert engine.observe(X, [1.0, 2.0, 3.0]) == 3


def test_odd_arrays_are_copied_or_refused():
    X, y = rows(64)
    misaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    with windhover.Engine(3, threads=0) as engine:
        assert not misaligned.flags.aligned
        assert engine.observe(misaligned.reshape(64, 3), y) == 64
        with pytest.raises(windhover.InvalidInput, match="masked"):
            engine.observe(np.ma.masked_array(X, X > 0), y)


def test_another_library_is_refused():
    with pytest.MonkeyPatch.context() as patched, pytest.raises(OSError, match="not the library"):
        patched.setenv("WINDHOVER_LIBRARY", "libc.so.6")
        _library.load()


def test_the_horizon_is_chosen_and_the_answer_says_which():
    X, y = rows(500)
    for model, horizon in ("linear", "adaptive"), ("mlp-linear", "window"):
        with windhover.Engine(3, model=model, threads=0, horizon="chosen", hidden=2) as engine:
            engine.observe(X, y)
            assert str(engine.wait().horizon) == horizon


def test_predictions_are_as_wide_as_dependent_rows_make_them_unless_told_otherwise():
    random = np.random.default_rng(5)
    steps = random.normal(size=(2000, 4))
    for i in range(1, len(steps)):
        steps[i] += 0.95 * steps[i - 1]
    X, y = steps[:, :3], steps[:, :3] @ COEFFICIENTS + steps[:, 3]
    sd = {}
    for spread in "robust", "posterior":
        with windhover.Engine(3, threads=0, window_size=2000, dependent_spread=spread) as engine:
            engine.observe(X, y)
            assert engine.wait().robust_spread == (spread == "robust")
            sd[spread] = engine.predict(X[:1]).linpred_sd[0]
    assert sd["robust"] > sd["posterior"]
