"""Rows a second that observe() sends, beside `windhover bench ingest` in the same minute.

    python3 io/python/bench.py [--rows 1024] [--columns 10] [--seconds 1.5] [--unix | --tls]
                               [--producer N]

The daemon is found as by `windhover.daemon`; `windhover`, with windhover-bench beside it, by the
environment variable WINDHOVER or in PATH. Both send rows of 8-byte numbers over one connection to a
learner of four chains that is past its cold start, and stop the clock when all is acknowledged. Of
TLS, which wants openssl, the command sends in the clear.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import windhover
from windhover.daemon import Daemon


def certificate(folder):
    """Options of a daemon with a certificate of its own, and of connect()."""
    files = {"certificate": folder / "server.pem", "key": folder / "server.key"}
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=bench"
    more = ["-addext", "subjectAltName=IP:127.0.0.1"]
    to = ["-keyout", files["key"], "-out", files["certificate"]]
    subprocess.run(["openssl", *words.split(), *more, *to], check=True, stderr=subprocess.DEVNULL)
    files["key"].chmod(0o600)
    return {f"server.tls.{name}": file for name, file in files.items()}, files["certificate"]


def rows_per_second(options, folder):
    random = np.random.default_rng(1)
    pool = 64 * options.rows  # the learner is to see rows that differ
    X = random.normal(size=(pool, options.columns))
    y = X.sum(axis=1) + random.normal(size=pool)
    calls = [
        (X[i : i + options.rows], y[i : i + options.rows]) for i in range(0, pool, options.rows)
    ]
    settings = {"model.features": options.columns, "sampler.chains": 4}
    if not options.unix:
        settings["server.observe.tcp_address"] = "127.0.0.1"
    ca = ""
    if options.tls:
        tls, ca = certificate(folder)
        settings.update(tls)
    with Daemon(settings) as server:
        address = (
            server.observe if options.unix else server.ready.split("observe=")[1].split(",")[0]
        )
        if options.tls:
            address = f"tls://{address}"
        with windhover.connect(address, query=server.query, producer=options.producer, ca=ca) as m:
            end = time.monotonic() + 10
            while m.status().status == "warming_up" and time.monotonic() < end:
                for call in calls:
                    m.observe(*call)
                m.wait()
            before = m.totals.accepted
            began = time.perf_counter()
            processor = time.process_time()
            while time.perf_counter() - began < options.seconds:
                for call in calls:
                    m.observe(*call)
            totals = m.wait()
            seconds = time.perf_counter() - began
            processor = time.process_time() - processor
            assert totals.accepted == totals.sent
            sent = totals.accepted - before
            return sent / seconds, processor / sent


def command_rows_per_second(options):
    """The figure of `windhover bench ingest`, and how many rows it put into a frame."""
    command = os.environ.get("WINDHOVER") or shutil.which("windhover")
    if not command:
        return None, "windhover is not found: set WINDHOVER"
    arguments = ["--dimension", str(options.columns + 1), "--rows-per-frame", str(options.rows)]
    arguments += [
        "--connections",
        "1",
        "--seconds",
        str(options.seconds),
        "--chains",
        "4",
        "--json",
    ]
    if options.unix:
        arguments.append("--unix")
    done = subprocess.run(
        [command, "bench", "ingest", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it failed"
    (run,) = json.loads(done.stdout)["runs"]
    return run["rows_per_second"], run["name"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1024, help="a call")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--unix", action="store_true", help="a Unix-domain socket, not TCP")
    parser.add_argument("--tls", action="store_true", help="TLS over TCP")
    parser.add_argument("--producer", type=int, default=0, help="rows are kept to be sent again")
    options = parser.parse_args()
    if options.unix and options.tls:
        parser.error("TLS is of TCP alone")
    with tempfile.TemporaryDirectory() as folder:
        ours, processor = rows_per_second(options, Path(folder))
    print(
        f"python: {ours / 1e6:.2f} million rows/s, {options.rows} a call, D = {options.columns}, "
        f"{processor * 1e6:.3f} us of this process a row"
    )
    theirs, name = command_rows_per_second(options)
    if theirs is None:
        print(f"windhover bench ingest: not run ({name})")
    else:
        print(f"windhover bench ingest: {theirs / 1e6:.2f} million rows/s, {name}")
        print(f"ratio: {ours / theirs:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
