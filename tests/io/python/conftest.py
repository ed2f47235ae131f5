"""Tests of Windhover's Python client against a real daemon.

WINDHOVERD is the daemon's path and WINDHOVER its command's; without them they are looked for in the
build folder. The package is the one that Python finds, or is built from the checkout into a folder
of its own.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _build_package(folder):
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-lib", folder]
        + ["--build-temp", os.path.join(folder, "temp")],
        cwd=ROOT / "io" / "python",
        check=True,
        capture_output=True,
    )
    sys.path.insert(0, str(folder))


def pytest_configure(config):
    if importlib.util.find_spec("windhover") is None:
        import tempfile

        config.stash_folder = tempfile.TemporaryDirectory(prefix="windhover-package-")
        _build_package(config.stash_folder.name)


def _program(variable, name):
    path = os.environ.get(variable) or str(ROOT / "build" / "bin" / name)
    if not os.access(path, os.X_OK):
        pytest.skip(f"{path} is not there: build it, or set {variable}")
    return path


@pytest.fixture(scope="session")
def windhoverd():
    path = _program("WINDHOVERD", "windhoverd")
    os.environ["WINDHOVERD"] = path
    return path


@pytest.fixture(scope="session")
def windhover_command():
    return _program("WINDHOVER", "windhover")


def _engine_can_be_compiled():
    compiler = shutil.which("c++")
    if compiler is None:
        return False
    include = ["-std=c++20", "-I", sysconfig.get_paths()["include"]]
    return not subprocess.run(
        [compiler, *include, "-fsyntax-only", "-x", "c++", "-"],
        input=b"#include <pybind11/pybind11.h>\n",
        capture_output=True,
    ).returncode


@pytest.fixture(scope="session")
def library():
    """libwindhover.so beside the daemon, and the compiled module, for `Engine`."""
    from windhover import _library

    beside = Path(os.environ.get("WINDHOVERD", ROOT / "build/bin/windhoverd")).parents[1]
    path = os.environ.get("WINDHOVER_LIBRARY") or str(beside / "lib" / _library.NAME)
    if not os.path.exists(path):
        pytest.skip(f"{path} is not there: build windhover_c, or set WINDHOVER_LIBRARY")
    if importlib.util.find_spec("windhover._engine") is None and not _engine_can_be_compiled():
        pytest.skip(
            "windhover.Engine is not compiled: g++, python3-dev or pybind11-dev are missing"
        )
    os.environ["WINDHOVER_LIBRARY"] = path
    return _library.load()


@pytest.fixture
def daemon(windhoverd):
    """Starts daemons with the options given, and ends them after the test."""
    from windhover.daemon import Daemon

    started = []

    def start(**options):
        named = {name.replace("__", "."): value for name, value in options.items()}
        named.setdefault("model.features", 3)
        named.setdefault("process.prefault", False)
        one = Daemon(named)
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def rows():
    """A function of n: X of shape (n, 3), y = X (1, 2, 3) + 0.5 + noise of sd 0.1."""
    import numpy as np

    def make(n, seed=1):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        return X, X @ [1.0, 2.0, 3.0] + 0.5 + 0.1 * rng.normal(size=n)

    return make


@pytest.fixture
def settled():
    """Waits until the answer has all rows and the learner rests; the newest status."""
    import time

    def wait(client, seconds=20.0):
        end = time.monotonic() + seconds
        before = None
        while True:
            status = client.status()
            where = (status.provenance.snapshot_id, status.provenance.steps)
            if status.provenance.sequence >= status.head and where == before:
                return status
            assert time.monotonic() < end, status.provenance
            before = where
            time.sleep(0.05)

    return wait


@pytest.fixture
def freeze():
    """Stops a daemon's threads, and waits until they stand still; SIGCONT goes on."""
    import signal
    import time

    def stop(server):
        os.kill(server.pid, signal.SIGSTOP)
        tasks = Path(f"/proc/{server.pid}/task")
        while any(
            (task / "stat").read_text().rpartition(")")[2].split()[0] != "T"
            for task in tasks.iterdir()
        ):
            time.sleep(0.001)

    return stop


@pytest.fixture
def break_off(freeze):
    """Half of the rows are learned, the others on their way when the server dies; it comes again."""

    def send(server, client, X, y):
        half = len(X) // 2
        client.observe(X[:half], y[:half])
        client.wait()
        freeze(server)
        client.observe(X[half:], y[half:])
        server.kill()
        server.start()

    return send
