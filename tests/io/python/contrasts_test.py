"""What columns of categories do beside one another."""

import asyncio
import time

import numpy as np
import pytest

import windhover

DRAWN = 4 / np.sqrt(2 * 64)  # how far the sd of 64 draws may be off: four standard errors


def categories(n=3000, seed=3):
    """A number and three columns of which each row has one 1, and which it is."""
    rng = np.random.default_rng(seed)
    which = rng.choice(3, n, p=[0.5, 0.4, 0.1])
    number = rng.normal(size=n)
    return np.column_stack([number, np.eye(3)[which]]), which, rng


def least_squares(X, which, y, reference):
    """Mean and covariance of what the others do above it, from columns for the others alone."""
    others = [k for k in range(3) if k != reference]
    design = np.column_stack([X[:, 0], *(which == k for k in others), np.ones(len(y))])
    mean, *_ = np.linalg.lstsq(design, y, rcond=None)
    noise = ((y - design @ mean) ** 2).sum() / (len(y) - 4)
    return others, mean[1:3], (noise * np.linalg.inv(design.T @ design))[1:3, 1:3]


def check(contrasts, X, which, y):
    """Above column 1: the sd of each by itself is that of the prior."""
    others, mean, covariance = least_squares(X, which, y, 0)
    sd = np.sqrt(np.diag(covariance))
    assert contrasts.draws == 0 and contrasts.names == ("x2", "x3", "x4")
    assert (contrasts.mean[0], contrasts.sd[0]) == pytest.approx((0, 0), abs=1e-6)
    np.testing.assert_allclose(contrasts.mean[others], mean, atol=0.05 * sd.min())
    np.testing.assert_allclose(contrasts.sd[others], sd, rtol=0.02)


def test_against_one_they_are_those_of_a_model_without_its_column(daemon, settled):
    X, which, rng = categories()
    y = 1000 + 20 * X[:, 0] + 30 * which + 10 * rng.normal(size=len(X))
    one = daemon(model__features=4, engine__horizon="window")
    with windhover.connect(one.observe, query=one.query) as m:
        m.observe(X, y)
        m.wait()
        settled(m)
        against = m.contrasts([1, 2, 3], against=1)
        check(against, X, which, y)
        assert (m.posterior().sd[1:4] > 20 * against.sd.max()).all()
        above = m.contrasts(range(1, 4))
        assert above.mean.sum() == pytest.approx(0, abs=1e-6)
        np.testing.assert_allclose(np.diff(above.mean), np.diff(against.mean), atol=1e-6)
        table = above.to_dataframe(["north", "south", "far"])
        assert list(table.columns) == ["mean", "sd", "q5", "q95"]
        np.testing.assert_allclose(table.q95 - table.q5, 2 * 1.6449 * table.sd, rtol=1e-4)

        async def ask():
            async with await windhover.aio.connect(one.observe, query=one.query) as client:
                return await client.contrasts([1, 2, 3], against=1)

        np.testing.assert_allclose(asyncio.run(ask()).sd, against.sd, rtol=1e-6)
        for columns, wrong in (
            ([1], "two or more"),
            ([1, 1, 2], "each once"),
            ([1, 4], "of 0 to 3"),
            ([-1, 2], "of 0 to 3"),
        ):
            with pytest.raises(windhover.InvalidInput, match=wrong):
                m.contrasts(columns)
        with pytest.raises(windhover.InvalidInput, match="against=0: one of"):
            m.contrasts([1, 2], against=0)


def test_of_the_engine_they_are_the_same(library):
    X, which, rng = categories()
    y = 1000 + 20 * X[:, 0] + 30 * which + 10 * rng.normal(size=len(X))
    with windhover.Engine(4, horizon="window", window_size=4000) as engine:
        engine.observe(X, y)
        engine.wait(ok=True)
        check(engine.contrasts([1, 2, 3], against=1), X, which, y)


def test_of_classes_each_has_its_own_by_the_draws(library):
    X, which, rng = categories(6000)
    scores = np.column_stack([np.zeros(len(X)), 0.8 * which, 0.5 * X[:, 0] - 0.4 * which])
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    options = {"model": "softmax", "classes": 3, "horizon": "window", "window_size": 8000}
    with windhover.Engine(4, **options) as engine, windhover.Engine(3, **options) as plain:
        engine.observe(X, y)
        plain.observe(np.delete(X, 1, axis=1), y)
        engine.wait(ok=True)
        expected = plain.wait(ok=True) and plain.posterior()
        told = engine.contrasts([1, 2, 3], against=1)
    assert told.draws == 64
    assert told.names == ("1: x2", "1: x3", "1: x4", "2: x2", "2: x3", "2: x4")
    at = [1, 2, 5, 6]
    here = [1, 2, 4, 5]
    np.testing.assert_allclose(told.mean[here], expected.mean[at], atol=0.2 * expected.sd[at].min())
    np.testing.assert_allclose(told.sd[here], expected.sd[at], rtol=DRAWN)


def test_weights_of_a_network_are_of_no_column(daemon):
    one = daemon(model__name="mlp-linear")
    with windhover.connect(one.observe, query=one.query) as m:
        with pytest.raises(windhover.InvalidInput, match="network"):
            m.contrasts([0, 1])


def test_a_server_that_says_fewer_parameters_than_columns_is_not_believed():
    from windhover.contrasts import Group

    for names in ((), ("x1",)):
        with pytest.raises(windhover.InvalidInput, match="too few for 3 columns"):
            Group([0, 1], None, 3, names)


def dependent_rows(n=3000, seed=5):
    """Rows of categories() whose errors resemble those of their neighbours."""
    X, which, rng = categories(n, seed)
    error = np.zeros(n)
    for i in range(1, n):
        error[i] = 0.9 * error[i - 1] + rng.normal()
    return X, 20 * X[:, 0] + 30 * which + error


def check_spreads(m, contrasts):
    """Predictions are as wide as sd_robust says, unless asked not to be, and contrasts never."""
    at = np.array([[0.0, 1, 0, 0]])
    wide, own = m.predict(at), m.predict(at, posterior_spread=True)
    assert wide.provenance.robust_spread and not own.provenance.robust_spread
    assert wide.linpred_sd[0] > 1.5 * own.linpred_sd[0]
    assert wide.linpred_mean[0] == own.linpred_mean[0]
    assert np.ptp(own.interval(0.5)) < np.ptp(wide.interval(0.5))
    draws = m.draws().theta[:, 1:4]
    exact = (draws - draws.mean(axis=1, keepdims=True)).std(axis=0, ddof=1)
    np.testing.assert_allclose(contrasts.sd, exact, rtol=DRAWN)


@pytest.mark.filterwarnings("ignore::windhover.PosteriorWarning")
def test_are_the_posteriors_where_rows_depend_on_one_another(daemon, settled, library):
    X, y = dependent_rows()
    one = daemon(model__features=4, engine__horizon="window")
    with windhover.connect(one.observe, query=one.query) as m:
        m.observe(X, y)
        m.wait()
        settled(m)
        check_spreads(m, m.contrasts([1, 2, 3]))

        async def ask():
            async with await windhover.aio.connect(one.observe, query=one.query) as client:
                return await client.predict(np.zeros((1, 4)), posterior_spread=True)

        assert not asyncio.run(ask()).provenance.robust_spread
    with windhover.Engine(4, horizon="window", window_size=4000) as engine:
        engine.observe(X, y)
        end = time.monotonic() + 60
        while engine.wait().reason != "dependent_rows":
            assert time.monotonic() < end, engine.provenance()
            time.sleep(0.01)
        check_spreads(engine, engine.contrasts([1, 2, 3]))
