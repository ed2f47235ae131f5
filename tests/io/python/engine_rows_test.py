"""windhover.Engine: rows of every kind and their outcomes, events, and that nothing is copied."""

import numpy as np
import pytest

import windhover

pytestmark = [
    pytest.mark.filterwarnings("ignore::windhover.PosteriorWarning"),
    pytest.mark.usefixtures("library"),
]


class Watched:
    """The compiled half of an engine, and the arguments that its functions were called with."""

    def __init__(self, compiled):
        self._compiled = compiled
        self.calls = {}

    def __getattr__(self, name):
        found = getattr(self._compiled, name)
        if not callable(found):
            return found

        def watched(*arguments, **named):
            self.calls.setdefault(name, []).append(named or arguments)
            return found(*arguments, **named)

        return watched


def watch(engine):
    engine._handle = rows_of = Watched(engine._handle)
    engine._reader._reader = asked = Watched(engine._reader._reader)
    return rows_of.calls, asked.calls


def address(array):
    return array.ctypes.data


def rows(n, columns=3, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns))
    return X, X.sum(axis=1) + random.normal(size=n)


def test_reads_rows_where_they_lie():
    X, y = rows(256)
    with windhover.Engine(3, threads=0) as engine:
        observed, asked = watch(engine)
        engine.observe(X, y)
        engine.observe(X[100:], y[100:])
        engine.observe(X.astype(np.float32)[::2], y[::2])  # another layout is copied
        engine.predict(X[7:], outcomes=y[7:])
        assert engine.rows == 540
    frames, question = observed["observe"], asked["predict"][0]
    assert address(frames[0]["features"]) == address(X)
    assert address(frames[0]["targets"]) == address(y)
    assert address(frames[1]["features"]) == address(X[100:])
    assert not np.shares_memory(frames[2]["features"], X)
    assert address(question["features"]) == address(X[7:])
    assert address(question["outcomes"]) == address(y[7:])


def test_reads_sparse_rows_where_they_lie():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    X = scipy_sparse.random(64, 20, density=0.2, format="csr", random_state=1)
    assert X.indices.dtype == np.int32
    with windhover.Engine(20, max_nonzeros=20, threads=0) as engine:
        observed, _ = watch(engine)
        engine.observe(X, np.zeros(64))
        frame = observed["observe"][0]
    assert address(frame["features"]) == address(X.data)
    assert address(frame["indices"]) == address(X.indices)


def test_answers_are_the_memory_that_the_library_wrote():
    X, y = rows(600)
    with windhover.Engine(3, threads=0, max_query_rows=256) as engine:
        engine.observe(X, y)
        engine.wait()
        _, asked = watch(engine)
        answer = engine.predict(X, quantiles=[0.1, 0.9], thresholds=[0.0])
        pieces = asked["predict"]
        p = engine.posterior()
        (table,) = asked["posterior"][0]
        draws = engine.draws()
        (theta,) = asked["draws"][0]
    assert len(pieces) == 3 and len(answer) == 600
    for piece, begin in zip(pieces, (0, 256, 512)):
        assert address(piece["quantile_table"]) == address(answer.quantile([0.1, 0.9])[begin:])
        assert address(piece["quantile_table"]) + 8 == address(answer.quantile(0.9)[begin:])
        assert address(piece["exceedance"]) == address(answer.exceedance[begin:])
        # The first number of a prediction is linpred_mean, and the others lie behind it.
        assert address(piece["predictions"]) == address(answer.linpred_mean[begin:])
        assert np.shares_memory(piece["predictions"], answer.mean[begin:])
    assert address(table) == address(p.mean)
    assert address(theta) == address(draws.theta)


# The engine copies nothing that it is given: it refuses what it would have to copy.
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"features": lambda X: X[:, ::-1]}, TypeError),
        ({"features": lambda X: X.astype(np.float32)}, TypeError),
        ({"features": lambda X: X.tolist()}, TypeError),
        ({"targets": lambda X: X[::2, 0]}, TypeError),
        ({"offsets": lambda X: np.zeros(7)}, ValueError),
        ({"weights": lambda X: np.zeros(7)}, ValueError),
        ({"trials": lambda X: np.zeros(9)}, ValueError),
        ({"row_ends": lambda X: np.zeros(7, dtype=np.uint32)}, ValueError),
    ],
)
def test_the_compiled_half_takes_arrays_as_the_library_reads_them(change, error):
    X, y = rows(8)
    with windhover.Engine(3, threads=0) as engine:
        frame = {"features": X, "targets": y} | {name: of(X) for name, of in change.items()}
        with pytest.raises(error):
            engine._handle.observe(**frame)
        assert engine.rows == 0


def test_the_compiled_half_writes_into_tables_of_the_right_size():
    X, y = rows(8)
    with windhover.Engine(3, threads=0, labels_pending=8) as engine:
        engine.observe(X, y)
        _, asked = watch(engine)
        engine.predict(X, quantiles=[0.5], thresholds=[0.0], outcomes=y, key=[*"abcdefgh"])
        question = asked["predict"][0]
        reader = engine._reader._reader._compiled
        for name in ("quantile_table", "exceedance", "probabilities", "outcomes"):
            with pytest.raises(ValueError):
                reader.predict(**question | {name: np.zeros(9)})
        with pytest.raises(ValueError):
            reader.predict(**question | {"keys": [b"a"]})
        with pytest.raises(ValueError):
            engine._handle.outcomes([b"a", b"b"], np.zeros(1))


def sparse_rows(n, columns=40, nonzeros=4, seed=1):
    random = np.random.default_rng(seed)
    indices = np.sort(np.argsort(random.random((n, columns)), axis=1)[:, :nonzeros], axis=1).astype(
        np.int32
    )
    data = random.normal(size=(n, nonzeros))
    X = np.zeros((n, columns))
    np.put_along_axis(X, indices, data, axis=1)
    y = X @ np.linspace(-1, 1, columns) + 3 + 0.5 * random.normal(size=n)
    return X, y, windhover.SparseRows(data.ravel(), indices.ravel(), np.arange(n + 1) * nonzeros)


def test_sparse_rows_teach_what_dense_ones_do():
    X, y, sparse = sparse_rows(4000)
    given = {"SparseRows": sparse, "dense": X}
    try:
        import scipy.sparse

        given["scipy"] = scipy.sparse.coo_matrix(X)
    except ImportError:
        pass
    A = np.column_stack([X, np.ones(len(X))])
    exact = np.linalg.lstsq(A, y, rcond=None)[0]
    sd = 0.5 * np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
    draws = []
    for rows_ in given.values():
        options = {"max_nonzeros": 4, "max_frame_rows": 1000, "window_size": 4000}
        with windhover.Engine(40, threads=0, **options) as engine:
            assert engine.observe(rows_, y) == engine.rows == 4000
            engine.wait(ok=True)
            # The prior of a coefficient is as wide as 2.5 sd of y: it pulls by less than 0.1 sd.
            assert np.all(np.abs(engine.posterior().mean - exact) < 4 * sd)
            answer = engine.predict(rows_)
            lower, upper = answer.interval()
            inside = np.mean((lower <= y) & (y <= upper))
            assert abs(inside - 0.9) < 4 * np.sqrt(0.09 / 4000)
            while engine.poll():
                pass
            draws.append(engine.draws().theta)
    for other in draws[1:]:
        assert np.array_equal(draws[0], other)


def test_sparse_rows_of_a_dense_model_are_filled_up():
    X, y, sparse = sparse_rows(200)
    means = []
    for rows_ in (X, sparse):
        with windhover.Engine(40, threads=0) as engine:
            engine.observe(rows_, y)
            engine.wait()
            means.append(engine.predict(rows_).mean)
    assert np.array_equal(*means)


def test_sparse_rows_that_cannot_be_are_refused():
    with windhover.Engine(5, max_nonzeros=2, threads=0) as engine:
        empty = windhover.SparseRows([], [], [0, 0])
        assert engine.observe(empty, [1.0]) == 1
        assert engine.predict(empty).mean.shape == (1,)
        for data, indices, indptr, why in (
            ([1.0], [0], [0, 2], "indptr goes"),
            ([1.0], [0], [1, 1], "indptr goes"),
            ([1.0, 2.0], [0, 1], [0, 2, 1, 2], "decrease"),
            ([1.0, 2.0], [0], [0, 2], "values in data"),
            ([1.0], [0.5], [0, 1], "whole numbers"),
            ([1.0], [-1], [0, 1], "below 0"),
            ([1.0], [2**32], [0, 1], "32 bits"),
            (["a"], [0], [0, 1], "numbers"),
        ):
            with pytest.raises(windhover.InvalidInput, match=why):
                y = np.zeros(len(indptr) - 1)
                engine.observe(windhover.SparseRows(data, indices, indptr), y)
        for data, indices, reason in (
            ([1.0], [5], windhover.Reason.INDEX_OUT_OF_RANGE),
            ([1.0], np.array([-1], dtype=np.int32), windhover.Reason.INDEX_OUT_OF_RANGE),
            ([1.0, 2.0], [3, 3], windhover.Reason.INDICES_NOT_INCREASING),
            ([1.0, 2.0, 3.0], [0, 1, 2], windhover.Reason.TOO_MANY_NONZEROS),
            ([np.nan], [0], windhover.Reason.NOT_FINITE),
        ):
            with pytest.raises(windhover.RowsRefused) as refused:
                engine.observe(windhover.SparseRows(data, indices, [0, len(data)]), [0.0])
            assert refused.value.reasons == [reason]
        assert engine.rows == 1
    with windhover.Engine(5, threads=0) as engine:
        with pytest.raises(windhover.InvalidInput, match="not below 5"):
            engine.observe(windhover.SparseRows([1.0], [5], [0, 1]), [0.0])


def test_what_is_kept_of_the_curvature_is_said_by_name():
    given = {"model": "logistic", "max_nonzeros": 4, "window_size": 1000, "threads": 0}
    bytes_of = {}
    for structure in ("chosen", "full", "diagonal"):
        with windhover.Engine(1000, structure=structure, **given) as engine:
            bytes_of[structure] = engine.footprint
    assert bytes_of["chosen"] == bytes_of["full"] > 4 * bytes_of["diagonal"]
    with pytest.raises(windhover.InvalidInput, match="65536, or to 16777216 with a diagonal"):
        windhover.Engine(100_000, structure="full", **given)
    with windhover.Engine(100_000, structure="diagonal", **given) as engine:
        sparse = windhover.SparseRows([1.0, 1.0], [7, 99_999], [0, 1, 2])
        assert engine.observe(sparse, [1, 0]) == 2
        engine.wait()
        assert engine.posterior().names[-2:] == ("x100000", "intercept")


def test_outcomes_are_heard_of_later():
    X, y = rows(300)
    with windhover.Engine(3, threads=0, labels_pending=300) as engine:
        keys = [f"row {i}" for i in range(300)]
        answer = engine.predict(X, key=keys)
        assert answer.pending == ["kept"] * 300 and engine.pending == 300
        assert engine.predict(X[:1], key="one more").pending == ["table_full"]
        assert engine.predict(X[:2], key=["", keys[0]]).pending == ["none", "replaced"]
        joined = engine.outcome(keys[:200], y[:200])
        assert (joined.accepted, joined.refused, joined.duplicate) == (200, 0, 0)
        assert joined.head == engine.rows == 200 and engine.pending == 100
        again = engine.outcome([keys[0], "nobody", keys[200]], [0.0, 0.0, np.nan])
        assert (again.accepted, again.refused, again.duplicate) == (0, 2, 1)
        assert again.refused_keys == {
            1: windhover.Reason.UNKNOWN_KEY,
            2: windhover.Reason.NOT_FINITE,
        }
        assert engine.outcome(keys[201], y[201]).accepted == 1
        engine.wait()
        A = np.column_stack([X[:201], np.ones(201)])
        exact = np.linalg.lstsq(A, y[:201], rcond=None)[0]
        # An sd of 1 / sqrt(201) = 0.07 a column.
        assert np.all(np.abs(engine.posterior().mean - exact) < 4 * 0.08)
        with pytest.raises(windhover.InvalidInput, match="2 keys for 1"):
            engine.predict(X[:1], key=["a", "b"])
        with pytest.raises(windhover.InvalidInput, match="character 0"):
            engine.predict(X[:1], key="a\0b")
        with pytest.raises(windhover.InvalidInput, match="y has shape"):
            engine.outcome(["a", "b"], [1.0])
    with windhover.Engine(3, threads=0) as engine, pytest.raises(windhover.Refused, match="key"):
        engine.predict(X[:1], key="a")


def test_an_outcome_that_nobody_tells_is_what_was_agreed():
    X, _ = rows(50)
    options = {"labels_timeout_seconds": 1e-3, "labels_timeout_outcome": 0.0}
    with windhover.Engine(3, model="logistic", threads=0, labels_pending=50, **options) as engine:
        engine.predict(X, key=[str(i) for i in range(50)])
        while engine.pending:
            engine.settle()
        assert engine.rows == 50
        assert engine.outcome("0", 1).refused_keys == {0: windhover.Reason.KEY_TIMED_OUT}


def test_tells_how_it_stands_and_what_has_happened():
    X, y = rows(3000)
    with windhover.Engine(3, threads=0, window_size=3000) as engine:
        where = engine.provenance()
        assert where.status is windhover.PosteriorStatus.WARMING_UP and where.sequence == 0
        engine.observe(X, y)
        engine.wait(ok=True)
        assert engine.provenance().reason is windhover.PosteriorReason.NONE
        engine.pause()
        engine.observe(X, y)
        assert engine.poll() == 0 and engine.provenance().sequence == 3000
        engine.resume()
        engine.wait()
        events = engine.events()
    kinds = [event.kind for event in events]
    assert windhover.EventKind.COLD_START_OVER in kinds
    assert windhover.EventKind.PAUSED in kinds and windhover.EventKind.WENT_ON in kinds
    status = next(event for event in events if event.kind is windhover.EventKind.STATUS)
    assert status.before is windhover.PosteriorStatus.WARMING_UP
    assert [event.id for event in events] == sorted(event.id for event in events)
    assert all(event.time is not None for event in events)


def test_what_becomes_of_surprising_rows_is_said_by_name():
    X, y = rows(2000)
    y[1500] = 1e6
    with windhover.Engine(3, threads=0, surprising_rows="set-aside", window_size=2000) as engine:
        engine.observe(X[:1500], y[:1500])
        engine.wait()
        engine.observe(X[1500:], y[1500:])
        engine.wait()
        # Without the limit one row of a million would move the intercept by 500.
        assert abs(engine.posterior().mean[-1]) < 1
    with pytest.raises(windhover.InvalidInput, match="surprising_rows='drop': one of keep"):
        windhover.Engine(3, surprising_rows="drop")
