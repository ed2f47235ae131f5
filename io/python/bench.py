"""Rows a second that observe() sends, beside the C++ client and the limit of the server.

    python3 io/python/bench.py [--rows 1024] [--columns 10] [--seconds 1.5] [--rounds 3]
                               [--unix | --tls] [--producer N]

Both clients take turns: the same arrays, the same calls, the same daemon, whose learner of four
chains is past its cold start. The clock stops when all rows are acknowledged, and medians are
printed. The C++ client is that of libwindhover.so, called through ctypes. Then `windhover bench
ingest` sends prepared frames to a server in its own process, in the clear also with --tls, which
needs openssl.

The daemon is found as by `windhover.daemon`; `windhover`, with windhover-bench beside it, by the
environment variable WINDHOVER or in PATH; the library as by `windhover.Engine`.
"""

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import windhover
from windhover import _library
from windhover.daemon import Daemon


def fields(text):
    """From "TYPE name name; TYPE name"."""
    types = {"i": ctypes.c_int, "s": ctypes.c_char_p, "z": ctypes.c_size_t, "p": ctypes.c_void_p}
    types |= {"u32": ctypes.c_uint32, "u64": ctypes.c_uint64}
    groups = [group.split() for group in text.split(";")]
    return [(name, types[group[0]]) for group in groups for name in group[1:]]


class Rows(ctypes.Structure):
    """windhover_rows of io/c/types.h."""

    _fields_ = fields(
        "z struct_size rows; p features; z feature_values; p targets indices row_ends"
        " offsets weights trials"
    )


class ClientOptions(ctypes.Structure):
    """windhover_client_options of io/c/client.h."""

    _fields_ = fields(
        "z struct_size; u64 producer first_sequence; i begins_here durability;"
        "s model token ca_file server_name certificate key;"
        "u64 fingerprint; u32 connect_timeout_ms reply_timeout_ms retry_for_ms; i wire_float;"
        "z resend_bytes"
    )


class CppClient:
    """The client of libwindhover.so."""

    def __init__(self, address, producer, ca):
        self._c = ctypes.CDLL(os.environ.get("WINDHOVER_LIBRARY") or _library.NAME)
        self._c.windhover_client_error.restype = ctypes.c_char_p
        self._handle = ctypes.c_void_p()
        self._called("create", ctypes.byref(self._handle))
        options = ClientOptions()
        self._c.windhover_client_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.producer, options.ca_file = producer, str(ca).encode()
        self._called("connect", self._handle, address.encode(), ctypes.byref(options))
        self._send = self._c.windhover_client_send

    def _called(self, name, *arguments):
        if getattr(self._c, f"windhover_client_{name}")(*arguments):
            raise RuntimeError(self._c.windhover_client_error(self._handle).decode())

    @staticmethod
    def prepared(X, y):
        rows = Rows(ctypes.sizeof(Rows), len(X), X.ctypes.data, X.size, y.ctypes.data)
        return (rows,)

    def observe(self, rows):
        if self._send(self._handle, ctypes.byref(rows)):
            raise RuntimeError(self._c.windhover_client_error(self._handle).decode())

    def wait(self):
        self._called("wait", self._handle)

    def close(self):
        self._c.windhover_client_destroy(self._handle)


def certificate(folder):
    """Options of a daemon with a certificate of its own, and of connect()."""
    files = {"certificate": folder / "server.pem", "key": folder / "server.key"}
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=bench"
    more = ["-addext", "subjectAltName=IP:127.0.0.1"]
    to = ["-keyout", files["key"], "-out", files["certificate"]]
    subprocess.run(["openssl", *words.split(), *more, *to], check=True, stderr=subprocess.DEVNULL)
    files["key"].chmod(0o600)
    return {f"server.tls.{name}": file for name, file in files.items()}, files["certificate"]


def measured(client, calls, options):
    """Rows a second, and seconds of this process a row."""
    done = 0
    began, processor = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < options.seconds:
        for call in calls:
            client.observe(*call)
        done += len(calls) * options.rows
    client.wait()
    return done / (time.perf_counter() - began), (time.process_time() - processor) / done


def in_turns(options, folder):
    """What measured() returns in each round, by the client's name."""
    random = np.random.default_rng(1)
    pool = 64 * options.rows  # so that the learner sees different rows
    X = random.normal(size=(pool, options.columns))
    y = X.sum(axis=1) + random.normal(size=pool)
    starts = range(0, pool, options.rows)
    calls = [(X[i : i + options.rows], y[i : i + options.rows]) for i in starts]
    prepared = [CppClient.prepared(*call) for call in calls]
    settings = {"model.features": options.columns, "sampler.chains": 4}
    if not options.unix:
        settings["server.observe.tcp_address"] = "127.0.0.1"
    ca = ""
    if options.tls:
        tls, ca = certificate(folder)
        settings.update(tls)
    figures = {"python": [], "c++": []}
    with Daemon(settings) as server:
        place = server.observe if options.unix else server.ready.split("observe=")[1].split(",")[0]
        address = f"tls://{place}" if options.tls else place
        query = server.query
        with windhover.connect(address, query=query, ca=ca) as m:
            end = time.monotonic() + 10
            while m.status().status == "warming_up" and time.monotonic() < end:
                for call in calls:
                    m.observe(*call)
                m.wait()
        for turn in range(options.rounds + 1):  # the first fills caches and is not counted
            producer = options.producer and options.producer + 2 * turn
            with windhover.connect(address, query=query, producer=producer, ca=ca) as m:
                ours = measured(m, calls, options)
                assert m.totals.accepted == m.totals.sent
            other = CppClient(address, producer and producer + 1, ca)
            theirs = measured(other, prepared, options)
            other.close()
            if turn:
                figures["python"].append(ours)
                figures["c++"].append(theirs)
    return figures


def command_rows_per_second(options):
    """The figure of `windhover bench ingest`, and how many rows it put into a frame."""
    command = os.environ.get("WINDHOVER") or shutil.which("windhover")
    if not command:
        return None, "windhover is not found: set WINDHOVER"
    given = f"--dimension {options.columns + 1} --rows-per-frame {options.rows} --connections 1"
    given += f" --seconds {options.seconds} --chains 4 --json{' --unix' if options.unix else ''}"
    done = subprocess.run(
        [command, "bench", "ingest", *given.split()], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it failed"
    (run,) = json.loads(done.stdout)["runs"]
    return run["rows_per_second"], run["name"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1024, help="a call")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.5, help="a client and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unix", action="store_true", help="a Unix-domain socket, not TCP")
    parser.add_argument("--tls", action="store_true", help="TLS over TCP")
    parser.add_argument("--producer", type=int, default=0, help="rows are kept to be sent again")
    options = parser.parse_args()
    if options.unix and options.tls:
        parser.error("TLS is of TCP alone")
    with tempfile.TemporaryDirectory() as folder:
        figures = in_turns(options, Path(folder))
    print(f"{options.rows} rows a call, D = {options.columns}, medians of {options.rounds} rounds")
    middle = {}
    for name, each in figures.items():
        middle[name] = statistics.median(rate for rate, _ in each)
        processor = statistics.median(cost for _, cost in each)
        rate = middle[name] / 1e6
        print(f"{name}: {rate:.2f} million rows/s, {processor * 1e6:.3f} us of this process a row")
    print(f"ratio: {middle['python'] / middle['c++']:.2f}")
    limit, name = command_rows_per_second(options)
    if limit is None:
        print(f"windhover bench ingest: not run ({name})")
    else:
        share = middle["python"] / limit
        print(f"frames made before: {limit / 1e6:.2f} million rows/s, {name}; of it: {share:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
