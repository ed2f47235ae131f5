"""Answers in pickles, as of joblib and multiprocessing: the numbers, and nobody who is asked."""

import copy
import pickle

import numpy as np
import pytest
from sending import connect

import windhover
from windhover.results import Predictions, _Column

NUMBERS = [name for name, value in vars(Predictions).items() if isinstance(value, _Column)]


def the_same(one, other):
    assert len(NUMBERS) == 22 and len(one) == len(other)
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("interval", "conformal_interval", "conformal_set"):
        np.testing.assert_array_equal(getattr(one, name)(), getattr(other, name)(), err_msg=name)
    np.testing.assert_array_equal(one.quantile([0.9, 0.1]), other.quantile([0.9, 0.1]))
    assert one.pending == other.pending and repr(one) == repr(other)
    assert repr(one.provenances) == repr(other.provenances) and one.status == other.status
    for ask in (lambda: other.interval(0.5), lambda: other.quantile(0.3)):
        with pytest.raises(windhover.InvalidInput, match="asks nobody: give interval="):
            ask()


@pytest.mark.parametrize("model", ["linear", "softmax"])
def test_answers_of_a_client_in_a_pickle(daemon, rows, settled, model):
    options = {"model__classes": 3} if model == "softmax" else {}
    X, y = rows(500)
    y = np.digitize(y, [-1, 1]) if model == "softmax" else y
    with connect(daemon(model__name=model, labels__pending=16, **options)) as m:
        m.observe(X, y)
        m.wait()
        settled(m)
        asked = {"quantiles": [0.1, 0.9], "thresholds": [0.5], "thompson_id": 3}
        asked = {} if model == "softmax" else asked
        answer = m.predict(X[:4], **asked, key=["a", "", "c", "d"])
        kept = pickle.dumps(answer)  # before anything of it is read
        if model == "linear":
            the_same(answer, pickle.loads(kept))
            the_same(answer, pickle.loads(pickle.dumps(pickle.loads(kept))))
            answer.interval(0.5)  # who was pickled goes on asking
        else:
            other = pickle.loads(kept)
            assert (other.probs == answer.probs).all() and other.probs.shape == (4, 3)
            np.testing.assert_array_equal(other.interval(), answer.interval())
            assert other.conformal_set() == answer.conformal_set()
        for one in (m.posterior(), m.draws(), m.contrasts([0, 1]), m.status(), m.events()):
            assert repr(pickle.loads(pickle.dumps(one))) == repr(one)


def test_answers_of_an_engine_in_a_pickle(library, rows):
    X, y = rows(500)
    with windhover.Engine(3, threads=0, labels_pending=16) as engine:
        engine.observe(X, y)
        engine.wait()
        answer = engine.predict(X[:4], quantiles=[0.1, 0.9], key=["a", "", "c", "d"])
        kept = pickle.dumps(answer)
    the_same(answer, pickle.loads(kept))


def test_a_client_is_neither_copied_nor_pickled(daemon):
    with connect(daemon()) as m:
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="neither copied nor pickled.*connect"):
                way(m)
        assert m.status().head == 0
