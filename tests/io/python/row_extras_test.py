"""What rows have beside their features: offsets, weights, trials, and outcomes that come later."""

import numpy as np
import pytest

import windhover


def connect(daemon, **options):
    return windhover.connect(daemon.observe, query=daemon.query, **options)


def test_offsets_go_with_rows_and_questions(daemon, rows, settled):
    X, _ = rows(3000)
    rng = np.random.default_rng(5)
    exposure = rng.uniform(0.5, 20, 3000)
    y = rng.poisson(exposure * np.exp(0.3 * X[:, 0] - 1))
    named = {"model.name": "poisson", "model.offset": True}
    with connect(daemon(**named)) as m:
        m.observe(X, y, offsets=np.log(exposure))
        m.wait()
        settled(m)
        mean = m.posterior().mean
        assert np.allclose(mean[[0, -1]], [0.3, -1], atol=0.1)  # 5 sd of 3000 rows
        one = m.predict(X[:2])
        many = m.predict(X[:2], offsets=np.log([8.0, 1.0]))
        assert np.allclose(many.mean / one.mean, [8, 1])
        assert many.quantile(0.5)[0] > one.quantile(0.5)[0]  # asked again, with the offsets
        with pytest.raises(windhover.InvalidInput, match="offsets has shape"):
            m.observe(X, y, offsets=[1.0])
        m.observe(X[:2], y[:2], offsets=[0, 1e3])
        with pytest.raises(windhover.RowsRefused, match="the offset is NaN or too large"):
            m.wait()
    with connect(daemon()) as m:
        with pytest.raises(windhover.InvalidInput, match="model.offset is false"):
            m.observe(X, y, offsets=np.log(exposure))
        with pytest.raises(windhover.InvalidInput, match="model.offset is false"):
            m.predict(X[:1], offsets=[0.0])


def test_outcomes_are_told_later(daemon, rows):
    X, y = rows(300)
    options = {"labels.pending": 64, "labels.timeout_seconds": 60}
    with connect(daemon(**options)) as m:
        m.observe(X, y)
        m.wait()
        one = m.predict(X[:1], key="view 1")
        assert one.pending == ["kept"]
        assert m.predict(X[1:4], key=["a", "", "view 1"]).pending == ["kept", "none", "replaced"]
        assert m.status().pending_keys == 2
        told = m.outcome(["a", "nobody", "a"], [1.0, 2.0, 3.0])
        assert (told.accepted, told.refused, told.duplicate) == (1, 1, 1)
        assert told.refused_keys == {1: windhover.Reason.UNKNOWN_KEY}
        assert m.outcome("view 1", y[3]).accepted == 1
        assert m.outcome("view 1", y[3]).duplicate == 1
        assert m.outcome("view 1", y[3]).head == 302
        with pytest.raises(windhover.InvalidInput, match="2 keys for 1 rows"):
            m.predict(X[:1], key=["a", "b"])
        with pytest.raises(windhover.InvalidInput, match="at most 64 ASCII"):
            m.predict(X[:1], key="k" * 65)
        with pytest.raises(windhover.InvalidInput, match="1 keys for 2 rows"):
            m.outcome("a", [1.0, 2.0])
    with connect(daemon()) as m:
        with pytest.raises(windhover.InvalidInput, match="labels.pending"):
            m.predict(X[:1], key="a")
        with pytest.raises(windhover.InvalidInput, match="labels.pending"):
            m.outcome("a", 1)


def test_weights_are_so_many_equal_rows(daemon, rows, settled):
    X, y = rows(2000)
    weights = np.random.default_rng(6).integers(1, 4, 2000)
    with connect(daemon(**{"model.weight": True})) as m:
        m.observe(X, y, weights=weights)
        m.wait()
        settled(m)
        weighted = m.posterior()
        with pytest.raises(windhover.InvalidInput, match="weights has shape"):
            m.observe(X, y, weights=[1.0])
        m.observe(X[:4], y[:4], weights=[0, -1, np.nan, 1e300])
        with pytest.raises(windhover.RowsRefused, match="the weight is not between 1e-6 and 1e6"):
            m.wait()
    again = np.concatenate([np.flatnonzero(weights >= copy) for copy in (1, 2, 3)])
    with connect(daemon()) as m:
        with pytest.raises(windhover.InvalidInput, match="model.weight is false"):
            m.observe(X, y, weights=weights)
        m.observe(X[again], y[again])
        m.wait()
        settled(m)
        equal = m.posterior()
    assert np.allclose(weighted.mode, equal.mode, rtol=0, atol=1e-3 * equal.sd.min())
    assert np.allclose(weighted.sd, equal.sd, rtol=1e-3)


def test_trials_are_of_each_row(daemon, rows, settled):
    X, _ = rows(2000)
    generator = np.random.default_rng(8)
    trials = generator.integers(1, 30, 2000)
    y = generator.binomial(trials, 1 / (1 + np.exp(-0.5 * X[:, 0])))
    with connect(daemon(**{"model.name": "binomial"})) as m:
        assert m.kind == windhover.ModelKind.BINOMIAL
        with pytest.raises(windhover.InvalidInput, match="give trials"):
            m.observe(X, y)
        m.observe(X, y, trials=trials)
        m.wait()
        settled(m)
        answer = m.predict(X[:2], trials=[1, 1000], outcomes=[1, 500])
        one = m.predict(X[:2])
        assert np.allclose(answer.mean, one.mean * [1, 1000])
        lower, upper = answer.interval()
        assert lower[1] < answer.mean[1] < upper[1] <= 1000
        assert np.all(answer.interval(0.5)[1] <= upper)
        coefficient = m.posterior().mean[0]
        assert abs(coefficient - 0.5) < 5 * m.posterior().sd[0]
        with pytest.raises(windhover.InvalidInput, match="trials has shape"):
            m.observe(X, y, trials=[1.0])
        m.observe(X[:4], [0, 0, 0, 3], trials=[0, 1.5, np.nan, 2])
        with pytest.raises(windhover.RowsRefused, match="a whole number of 1 to 1e9"):
            m.wait()
    with connect(daemon()) as m:
        with pytest.raises(windhover.InvalidInput, match="it is not binomial"):
            m.observe(X, y, trials=trials)
        with pytest.raises(windhover.InvalidInput, match="it is not binomial"):
            m.predict(X, trials=trials)
