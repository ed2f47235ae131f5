"""windhover.Engine: whatever a program does, it is told so, and goes on."""

import copy
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import windhover
from windhover import _library

pytestmark = [
    pytest.mark.filterwarnings("ignore::windhover.PosteriorWarning"),
    pytest.mark.usefixtures("library"),
]


def rows(n, columns=3, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns))
    return X, X.sum(axis=1) + random.normal(size=n)


def run(program):
    path = os.pathsep.join([str(Path(windhover.__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


LEFT_OPEN = """
import threading, time
import numpy as np
import windhover
X = np.ones((4000, 3))
engine = windhover.Engine(3, threads=1)
def use():
    while True:
        engine.predict(X[:256])
for _ in range({threads}):
    threading.Thread(target=use, daemon=True).start()
engine.observe(X, X[:, 0])
time.sleep(0.1)
class Slow:  # while Python ends, calls of the other threads return
    def __del__(self, sleep=time.sleep):
        sleep(0.3)
slow = Slow()
print("end", flush=True)
"""


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_a_program_may_end_with_an_engine_that_is_used(threads):
    done = run(LEFT_OPEN.format(threads=threads))
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_an_engine_is_neither_copied_nor_pickled():
    with windhover.Engine(3, threads=0) as engine:
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="save"):
                attempt(engine)
        assert engine.observe(*rows(10)) == 10


def test_ctrl_c_ends_many_rounds():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # It never rests: only the signal ends that many rounds within a day.
        with windhover.Engine(3, threads=0, draws_per_observation=0) as engine:
            engine.observe(*rows(100))
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                engine.poll(2**31 - 1)
            assert engine.poll(1000) == 1000
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("odd", [np.complex128, "datetime64[D]", "timedelta64[s]"])
def test_what_is_no_real_number_is_refused(odd):
    X = np.ones((2, 3))
    with windhover.Engine(3, threads=0) as engine:
        with pytest.raises(windhover.InvalidInput, match="^X must be real numbers; it is"):
            engine.observe(X.astype(int).astype(odd), [1, 2])
        with pytest.raises(windhover.InvalidInput, match="^y must be real numbers; it is"):
            engine.observe(X, np.arange(2).astype(odd))
        assert engine.rows == 0


def test_names_are_text_without_zeros():
    for option in ({"model": "linear\0"}, {"sampler": "calibrated\0x"}, {"model": b"linear"}):
        with pytest.raises(windhover.InvalidInput, match="a name, without a character 0"):
            windhover.Engine(3, **option)


def test_a_sparse_matrix_that_lost_columns_is_refused():
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(64, 20, density=0.2, format="csr", random_state=1)
    X.sum_duplicates()
    X.indices = X.indices[:5]
    with windhover.Engine(20, max_nonzeros=20, threads=0) as engine:
        for use in (lambda: engine.observe(X, np.zeros(64)), lambda: engine.predict(X)):
            with pytest.raises(ValueError, match="one column a value"):
                use()


def test_the_compiled_half_refuses_who_is_ended():
    from windhover import _engine

    options = _engine.Options(_library.load())
    options.features = 3
    engine = _engine.Engine(_library.load(), options)
    reader = _engine.Reader(engine)
    table = np.zeros(4, dtype=_engine.PARAMETER)
    assert reader.posterior(table)[0] == windhover.Reason.OK
    engine.destroy()
    for _ in range(2):
        assert reader.posterior(table)[0] == windhover.Reason.INVALID_ARGUMENT
        assert reader.draws(np.zeros((64, 4)))[0] == windhover.Reason.INVALID_ARGUMENT
        assert reader.events() == (windhover.Reason.INVALID_ARGUMENT, [])
        assert engine.poll(1) == (windhover.Reason.INVALID_ARGUMENT, 0)
        reader.destroy()
        engine.destroy()
    with pytest.raises(RuntimeError):
        _engine.Reader(engine)
