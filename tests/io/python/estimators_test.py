"""Estimators for scikit-learn and in the manner of River, and the daemon behind them."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import ROOT

import windhover
from windhover import blocking
from windhover.daemon import Daemon, DaemonFailed, find_program
from windhover.steps import Sleep

sklearn = pytest.importorskip("sklearn")
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from windhover.hosted import MOST_CLASSES  # noqa: E402
from windhover.river import Classifier, Regressor  # noqa: E402
from windhover.sklearn import StreamingClassifier, StreamingRegressor  # noqa: E402

pytestmark = pytest.mark.usefixtures("windhoverd")


def gone(pid, seconds=5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                return True
        time.sleep(0.01)
    return False


@pytest.mark.filterwarnings("ignore")  # the checks' own, on purpose
@parametrize_with_checks([StreamingRegressor(), StreamingClassifier()])
def test_the_checks_of_scikit_learn_hold(estimator, check):
    check(estimator)
    gc.collect()


def test_a_regressor_knows_how_sure_it_is(rows):
    X, y = rows(4000)
    model = StreamingRegressor().fit(X, y)
    test_X, test_y = rows(4000, seed=2)
    assert model.score(test_X, test_y) > 0.99
    lower, upper = model.predict_interval(test_X, 0.8)
    assert abs(((lower <= test_y) & (test_y <= upper)).mean() - 0.8) < 0.03  # 4.7 sd of 4000 rows
    mean, sd = model.predict(test_X[:10], return_std=True)
    assert mean.shape == sd.shape == (10,) and np.allclose(sd, 0.1, rtol=0.1)
    assert model.client_.posterior().status == "ok"
    assert model.predictions(test_X[:10], quantiles=[0.5]).quantile(0.5).shape == (10,)
    model.close()


def test_sample_weights_are_so_many_equal_rows(rows):
    X, y = rows(600)
    weights = np.random.default_rng(7).integers(0, 4, 600)
    again = np.concatenate([np.flatnonzero(weights >= copy) for copy in (1, 2, 3)])
    kinds = (StreamingRegressor, y), (StreamingClassifier, y > y.mean())
    for kind, target in kinds:
        with_weights = kind().fit(X, target, sample_weight=weights)
        equal = kind().fit(X[again], target[again])
        one, other = with_weights.client_.posterior(), equal.client_.posterior()
        assert np.allclose(one.mode, other.mode, rtol=0, atol=1e-3 * other.sd.min())
        assert np.allclose(one.sd, other.sd, rtol=1e-3)
        with pytest.raises(windhover.InvalidInput, match="counts every row once"):
            equal.partial_fit(X, target, sample_weight=weights)
        with_weights.partial_fit(X[:5], target[:5])  # each counts as one
        with_weights.predict(X[:1])


def test_a_regressor_of_trials_predicts_so_many(rows):
    X, _ = rows(600)
    trials = np.full(600, 10)
    y = np.random.default_rng(9).binomial(10, 0.3, 600)
    model = StreamingRegressor(likelihood="binomial").fit(
        X, y, sample_weight=np.arange(600) % 3, trials=trials
    )
    model.partial_fit(X[:5], y[:5], trials=trials[:5])
    assert np.all(np.abs(model.predict(X[:3], trials=[100] * 3) - 30) < 10)
    assert np.all(np.abs(model.predict(X[:3], trials=[1] * 3) - 0.3) < 0.1)
    lower, upper = model.predict_interval(X[:3], trials=[100] * 3)
    assert np.all((10 < lower) & (lower < 30) & (30 < upper) & (upper < 50))
    many = np.random.default_rng(10).integers(1, 1000, 600)
    # Nearly all that there is to know of these counts is their number of trials.
    assert model.score(X, 0.3 * many, trials=many) > 0.95
    for other in (model, pickle.loads(pickle.dumps(model))):
        for ask in (other.predict, other.predict_interval, other.predictions):
            with pytest.raises(windhover.InvalidInput, match="fitted with trials=: give trials="):
                ask(X[:3])
    with pytest.raises(windhover.InvalidInput, match="give trials="):
        model.score(X, y)
    model.close()


def test_a_question_says_the_exposure_as_the_rows_did(rows):
    X, _ = rows(1000)
    rng = np.random.default_rng(11)
    exposure = rng.uniform(1, 50, 1000)
    y = rng.poisson(exposure * 2)
    model = StreamingRegressor("poisson").fit(X, y, offset=np.log(exposure))
    offset = np.full(3, np.log(100))
    lower, upper = model.predict_interval(X[:3], 0.9, offset=offset)
    # Counts of mean 200: 1.645 sd of 14.1 on either side; that mean is known to a few.
    assert np.all(np.abs(lower - 177) < 12) and np.all(np.abs(upper - 223) < 12)
    for name in ("offset", "offsets"):
        answer = model.predictions(X[:3], **{name: offset})
        assert np.allclose(answer.mean, model.predict(X[:3], offset=offset))
    with pytest.raises(windhover.InvalidInput, match="the same: give one"):
        model.predictions(X[:3], offset=offset, offsets=offset)
    assert model.score(X, y, offset=np.log(exposure)) > 0.9
    for ask in (model.predict, model.predict_interval, model.predictions):
        with pytest.raises(windhover.InvalidInput, match="fitted with offset=: give offset="):
            ask(X[:3])
    model.fit(X, y)  # without: nothing is asked for any more
    assert model.predict(X[:3]).shape == (3,)
    model.close()


def test_parameters_are_called_by_the_columns_of_the_data_frame(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows(300)
    frame = pandas.DataFrame(X, columns=["a", "b", "the intercept"])
    for intercept in (True, False):
        model = StreamingRegressor(options={"model.intercept": intercept}, settle=0.5)
        model.fit(frame, y)
        names = ("a", "b", "the intercept") + ("intercept",) * intercept
        for one in (model, pickle.loads(pickle.dumps(model))):
            assert one.client_.posterior().names == one.client_.draws().names == names
            assert one.client_.contrasts([0, 2]).names == ("a", "the intercept")
            one.close()
    labels = np.digitize(y, [-1, 1])
    model = StreamingClassifier(settle=0.5, options={"model.intercept": False}).fit(frame, labels)
    blocks = [f"{k}: {name}" for k in (1, 2) for name in ("a", "b", "the intercept")]
    assert list(model.client_.posterior().names) == blocks
    contrasts = model.client_.contrasts([0, 2])
    assert contrasts.names == tuple(blocks[i] for i in (0, 2, 3, 5))
    assert model.client_.posterior().to_dataframe().index[0] == "1: a"
    model.close()


def test_the_same_rows_lead_to_the_same_bits(rows):
    X, y = rows(3000)
    one, other = (StreamingRegressor(random_state=3).fit(X, y) for _ in range(2))
    assert (one.predict(X[:50]) == other.predict(X[:50])).all()
    assert (one.client_.draws().theta == other.client_.draws().theta).all()


def test_predictions_wait_for_the_rows_of_partial_fit(rows):
    X, y = rows(10_000)
    model = StreamingRegressor(window_size=2000)
    for begin in range(0, 10_000, 500):
        model.partial_fit(X[begin : begin + 500], y[begin : begin + 500])
    answer = model.predictions(X[:3])
    assert answer.provenance.sequence == 10_000 and answer.provenance.n_eff == 2000
    model.partial_fit(X[:1000], y[:1000] + 1)
    model.partial_fit(X[:1000], y[:1000] + 1)
    np.testing.assert_allclose(model.predict(X[:3]), X[:3] @ [1, 2, 3] + 1.5, atol=0.1)


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 5, 9]])
def test_a_classifier_has_a_column_a_label(rows, labels):
    X, y = rows(4000)
    chosen = np.array(labels)[np.digitize(y, [0, 3][: len(labels) - 1])]
    model = StreamingClassifier().fit(X, chosen)
    assert model.score(*[X, chosen]) > 0.95 and model.classes_.tolist() == labels
    proba = model.predict_proba(X[:20])
    assert proba.shape == (20, len(labels)) and np.allclose(proba.sum(axis=1), 1)
    lower, upper = model.predict_interval(X[:20], 0.9)
    assert (lower <= proba).all() and (proba <= upper).all()


def test_a_classifier_learns_labels_that_come_later(rows):
    X, y = rows(2000)
    chosen = (y > 0).astype(int)
    model = StreamingClassifier()
    model.partial_fit(X[chosen == 0], chosen[chosen == 0], classes=[0, 1])
    model.partial_fit(X[chosen == 1], chosen[chosen == 1])
    assert model.score(X, chosen) > 0.95
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], [0, 7])
    with pytest.raises(ValueError, match="at the first call"):
        model.partial_fit(X[:2], [0, 1], classes=[0, 1, 2])


def test_a_classifier_has_as_many_classes_as_a_model():
    config = (ROOT / "samplers/config.h").read_text()
    assert f"kMaxClasses = {MOST_CLASSES};" in config
    X, labels = np.ones((2 * MOST_CLASSES, 1)), np.arange(2 * MOST_CLASSES) // 2
    model = StreamingClassifier(settle=0.1).fit(X, labels)
    assert model.predict_proba(X[:1]).shape == (1, MOST_CLASSES)
    model.close()
    more = np.r_[labels, MOST_CLASSES]
    with pytest.raises(ValueError, match="65 classes; a model has at most 64"):
        StreamingClassifier().fit(np.ones((len(more), 1)), more)
    with Classifier(range(MOST_CLASSES)) as one:
        one.learn_one({"a": 1.0}, 63)
        assert len(one.predict_proba_one({"a": 1.0})) == MOST_CLASSES
    with pytest.raises(ValueError, match="65 classes; a model has at most 64"):
        Classifier(range(65))


def test_a_copy_and_a_pickle_go_on_with_the_same_posterior(rows):
    X, y = rows(3000)
    model = StreamingRegressor().fit(X[:2000], y[:2000])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (other.predict(X[:20]) == model.predict(X[:20])).all()
        other.partial_fit(X[2000:], y[2000:])
        assert other.predictions(X[:1]).provenance.sequence == 3000
    assert model.predictions(X[:1]).provenance.sequence == 2000


def test_it_stands_in_pipelines_and_cross_validation(rows):
    X, y = rows(1500)
    model = make_pipeline(StandardScaler(), StreamingRegressor())
    assert cross_val_score(model, X * 50 + 7, y, cv=3).min() > 0.99


def test_counts_and_outliers_have_their_likelihood(rows):
    X, y = rows(3000)
    counts = np.random.default_rng(1).poisson(np.exp(0.3 * X[:, 0] + 1))
    poisson = StreamingRegressor("poisson").fit(X, counts)
    np.testing.assert_allclose(poisson.client_.posterior().mean, [0.3, 0, 0, 1], atol=0.1)
    prices = np.exp(y)
    positive = StreamingRegressor("log-normal").fit(X, prices)
    np.testing.assert_allclose(positive.client_.posterior().mean, [1, 2, 3, 0.5], atol=0.05)
    assert (positive.predict_interval(X)[0] > 0).all()
    y[::20] += 100
    robust = StreamingRegressor("student-t").fit(X, y)
    np.testing.assert_allclose(robust.client_.posterior().mean, [1, 2, 3, 0.5], atol=0.05)


def test_an_estimator_speaks_to_a_server_that_runs(daemon, rows):
    X, y = rows(2000)
    server = daemon()
    model = StreamingRegressor(address=server.observe, query=server.query, producer=4)
    model.fit(X, y)
    assert model.predictions(X[:2]).provenance.sequence == 2000
    model.close()
    model.fit(X[:100], y[:100])  # its rows come after those that are there
    assert model.client_.status().head == 2100
    with pytest.raises(ValueError, match="the model has 3 columns, X has 2"):
        StreamingRegressor(address=server.observe).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="two classes want logistic"):
        StreamingClassifier(address=server.observe).fit(X, y > 0)


def test_the_name_of_a_servers_model_is_no_likelihood(rows):
    X, y = rows(50)
    with pytest.raises(windhover.InvalidInput, match="no address=.*likelihood="):
        StreamingRegressor(model="poisson").fit(X, y)
    with pytest.raises(windhover.InvalidInput, match="no address=.*model.name"):
        Regressor(model="poisson").learn_one({"a": 1.0}, 2.0)


def test_options_of_the_daemon_and_what_it_says_of_wrong_ones(rows):
    X, y = rows(500)
    model = StreamingRegressor(options={"model.intercept": False}).fit(X, y)
    assert model.client_.dimension == 3
    with pytest.raises(DaemonFailed, match="retained_draws"):
        StreamingRegressor(options={"engine.retained_draws": 0}).fit(X, y)
    with pytest.raises(DaemonFailed, match="did not start"):
        StreamingRegressor("gaussian-process").fit(X, y)


@pytest.mark.filterwarnings("always::windhover.PosteriorWarning")
def test_warnings_point_at_who_asked(rows):
    X, y = rows(20)
    model = StreamingRegressor().fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(X)
        model.predict_interval(X)
        model.predictions(X)
    assert [one.filename for one in caught] == [__file__] * 3
    assert all(one.category is windhover.PosteriorWarning for one in caught)


# --- In the manner of River


def test_a_row_at_a_time_as_dicts(rows):
    X, y = rows(3000)
    with Regressor() as model:
        assert model.predict_one({"a": 1.0}) == 0.0
        for x, target in zip(X, y):
            model.learn_one(dict(zip("abc", x)), target)
        model.client.wait()
        end = time.monotonic() + 10
        while model.client.status().provenance.sequence < 3000 and time.monotonic() < end:
            time.sleep(0.01)
        assert abs(model.predict_one({"a": 1, "b": 1, "c": 1}) - 6.5) < 0.1
        assert abs(model.predict_one({"b": 1}) - 2.5) < 0.1
        lower, upper = model.predict_interval_one({"c": 1, "b": 0})
        assert lower < 3.5 < upper
        with pytest.raises(windhover.InvalidInput, match="feature 'd': the model knows a, b, c"):
            model.learn_one({"d": 1}, 0)


@pytest.mark.filterwarnings("always::windhover.PosteriorWarning")
def test_warnings_of_a_row_at_a_time_point_at_who_asked():
    with Regressor() as model, Classifier() as other:
        for one in (model, other):
            one.learn_one({"a": 1.0}, 1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.predict_one({"a": 1.0})
            model.predict_interval_one({"a": 1.0})
            other.predict_proba_one({"a": 1.0})
            other.predict_one({"a": 1.0})
    caught = [one for one in caught if one.category is windhover.PosteriorWarning]
    assert [one.filename for one in caught] == [__file__] * 4


@pytest.mark.parametrize("labels", [(False, True), ("low", "middle", "high")])
def test_labels_a_row_at_a_time(rows, labels):
    X, y = rows(3000)
    places = np.digitize(y, [0, 3][: len(labels) - 1])
    with Classifier(labels, features="abc") as model:
        assert model.predict_one({"a": 0}) is None
        assert sum(model.predict_proba_one({"a": 0}).values()) == pytest.approx(1)
        for x, place in zip(X, places):
            model.learn_one(dict(zip("abc", x)), labels[place])
        model.client.wait()
        end = time.monotonic() + 10
        while model.client.status().provenance.sequence < 3000 and time.monotonic() < end:
            time.sleep(0.01)
        assert model.predict_one({"c": 5}) == labels[-1]
        assert model.predict_proba_one({"c": -5})[labels[0]] > 0.9
        with pytest.raises(windhover.InvalidInput, match="the classes are"):
            model.learn_one({"a": 1}, "none of them")


# --- The daemon


def test_a_daemon_ends_with_what_held_it(rows):
    model = StreamingRegressor().fit(*rows(100))
    pid = model.hosted_._daemon.pid
    del model
    gc.collect()
    assert gone(pid)
    with Daemon({"model.features": 2}) as server:
        folder = os.path.dirname(server.observe[5:])
        assert server.running and os.path.isdir(folder)
    assert not server.running and not os.path.exists(folder)


@pytest.mark.parametrize("how", [signal.SIGKILL, None])
def test_a_daemon_ends_with_the_process_that_started_it(how, tmp_path):
    program = (
        "import sys\n"
        "from windhover.sklearn import StreamingRegressor\n"
        "model = StreamingRegressor().fit([[1, 2], [3, 4], [5, 7]], [1, 2, 3])\n"
        "print(model.hosted_._daemon.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(tmp_path),
    }
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        pid = int(process.stdout.readline())
        if how is None:
            process.stdin.close()
        else:
            process.send_signal(how)
        process.wait()
    assert gone(pid)
    end = time.monotonic() + 60
    while any(tmp_path.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(tmp_path.iterdir()), "folders of a process that has been killed"


@pytest.mark.parametrize("under_way", [False, True])
def test_an_estimator_whose_daemon_has_died_says_so_at_once(rows, freeze, under_way, monkeypatch):
    pauses = []

    def perform(effect, really=blocking._perform):
        if isinstance(effect, Sleep):
            pauses.append(effect.seconds)
        return really(effect)

    X, y = rows(100)
    model = StreamingRegressor(settle=0.5).fit(X, y)
    daemon = model.hosted_._daemon
    monkeypatch.setattr(blocking, "_perform", perform)
    if under_way:
        freeze(daemon)
        threading.Timer(0.3, daemon._process.kill).start()
    else:
        daemon._process.kill()
    for ask in (lambda: model.predict(X), lambda: model.partial_fit(X, y), model.client_.status):
        with pytest.raises(DaemonFailed, match="has ended by signal 9"):
            ask()
    assert sum(pauses) < 20  # it went on trying to connect for 60
    model.fit(X, y)
    assert model.predict(X).shape == (100,)
    model.close()


def test_a_model_of_river_whose_daemon_has_died_says_so_at_once():
    with Regressor() as model:
        model.learn_one({"a": 1.0}, 2.0)
        begin = time.monotonic()
        model._hosted._daemon._process.kill()
        with pytest.raises(DaemonFailed, match="has ended by signal 9"):
            for _ in range(100):  # the first may still be handed over
                model.learn_one({"a": 1.0}, 2.0)
                time.sleep(0.01)
        with pytest.raises(DaemonFailed, match="has ended by signal 9"):
            model.predict_one({"a": 1.0})
        assert time.monotonic() - begin < 20


def test_a_daemon_that_is_not_there(monkeypatch):
    monkeypatch.setenv("WINDHOVERD", "/nowhere/windhoverd")
    with pytest.raises(DaemonFailed, match="set WINDHOVERD"):
        find_program()
