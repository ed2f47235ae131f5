"""A private `windhoverd`: a child process that listens only on Unix-domain sockets."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from .errors import InvalidInput, WindhoverError


# Ends the daemon $0 once this script's input is closed, then removes the folders. It waits for at
# most 15 s: where nobody reaps orphans the number of an ended daemon stays in use.
_WARDEN = """read -r _
kill -TERM "$0"
left=150
while kill -0 "$0" 2>/dev/null && [ $left -gt 0 ]; do
  sleep 0.1
  left=$((left - 1))
done
rm -rf -- "$@"
"""


class DaemonFailed(WindhoverError):
    """The daemon, or the command `windhover`, was not found or has failed; the text says why."""


def find_program(
    program: str | os.PathLike[str] | None = None,
    name: str = "windhoverd",
    otherwise: str = "give the address of a server that runs",
) -> str:
    """Path of a program: `program`, or what the environment variable says that has its `name` in
    capitals, or `name`; one without a folder is looked up in PATH. `otherwise`: advice for the
    error's text.

    Raises:
        DaemonFailed: there is none.
    """
    variable = name.upper()
    wanted = os.fspath(program) if program else os.environ.get(variable) or name
    found = shutil.which(wanted)
    if found is None:
        raise DaemonFailed(
            f"{wanted} is not a program that is found: set {variable} to the path of {name}, "
            f"or {otherwise}"
        )
    return found


class Daemon:
    """Runs from its construction until stop(), or until this process ends in whatever way.

    Attributes:
        observe, query: addresses for `windhover.connect`.
        pid: of the daemon's process.
        ready: the line that it printed when it began to serve.
    """

    def __init__(
        self,
        options: Mapping[str, object],
        *,
        program: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
        temporary: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        """Starts it and waits until it serves.

        Args:
            options: those that `windhoverd --print-config` lists, by dotted name, as in
                `{"model.features": 10}`. Values may be bool.
            program: its path; see find_program().
            timeout: seconds to wait for its first line.
            temporary: more folders that are removed if this process ends without stop().

        Raises:
            DaemonFailed: it cannot be found, did not start, or refuses an option.
        """
        self._owner = os.getpid()
        self._program = find_program(program)
        self._folder = tempfile.mkdtemp(prefix="windhover-")
        self.observe = f"unix:{self._folder}/observe"
        self.query = f"unix:{self._folder}/query"
        own: dict[str, object] = {
            "server.observe.tcp_address": "",
            "server.query.tcp_address": "",
            "server.observe.unix_path": self.observe[5:],
            "server.query.unix_path": self.query[5:],
        }
        self._arguments: list[str] = []
        for name, value in {**own, **options}.items():
            self._arguments += [f"--{name}", _text(value)]
        self._log = Path(self._folder, "log")
        self._temporary = [self._folder, *(os.fspath(folder) for folder in temporary)]
        self._process: subprocess.Popen[bytes] | None = None
        self._warden: subprocess.Popen[bytes] | None = None
        self.ready = ""
        try:
            self.start(timeout)
        except BaseException:
            self.stop()
            raise
        self._finalizer = self._at_the_end()

    def _at_the_end(self) -> Any:
        return weakref.finalize(self, _end, self._owner, self._process, self._warden, self._folder)

    def _of_this_process(self) -> None:
        if self._owner != os.getpid():
            raise InvalidInput("the daemon is of the process that this one was forked from")

    def start(self, timeout: float = 60.0) -> None:
        """Starts it again with the same options, after kill()."""
        self._of_this_process()
        for path in (self.observe[5:], self.query[5:]):
            Path(path).unlink(missing_ok=True)
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [self._program, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal interrupts only this process
            )
        # The warden's input is closed also when a signal ends this process.
        self._warden = subprocess.Popen(
            ["sh", "-c", _WARDEN, str(self._process.pid), *self._temporary],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.ready = _first_line(self._process.stdout, timeout).strip()
        if not self.ready.startswith("ready"):
            raise DaemonFailed(f"{self._program} did not start: {self._said}")
        if hasattr(self, "_finalizer"):
            self._finalizer.detach()
            self._finalizer = self._at_the_end()

    @property
    def pid(self) -> int:
        if self._process is None:
            raise DaemonFailed("the daemon does not run")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def check_running(self) -> None:
        """
        Raises:
            DaemonFailed: it has ended.
        """
        self._of_this_process()
        if self.running:
            return
        code = self._process.returncode if self._process is not None else 0
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        raise DaemonFailed(f"{self._program} has ended {how}: {self._said}")

    @property
    def _said(self) -> str:
        try:
            said = self._log.read_text(errors="replace").strip()[-2000:]
        except OSError:  # stop() has removed it
            said = ""
        return said or "it said nothing"

    def kill(self) -> None:
        """Ends the daemon as a crash would."""
        self._of_this_process()
        _end_processes(self._process, self._warden, signal.SIGKILL)

    def stop(self) -> None:
        """Ends the daemon in an orderly way and removes its sockets; in a fork it does nothing."""
        if hasattr(self, "_finalizer"):
            self._finalizer()
        else:
            _end(self._owner, self._process, self._warden, self._folder)

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if "\n" in text:
        raise InvalidInput(f"{text!r}: an option is one line")
    return text


def _first_line(stream: IO[bytes], timeout: float) -> str:
    end = time.monotonic() + timeout
    line = b""
    while not line.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            break
        more = os.read(stream.fileno(), 4096)
        if not more:
            break
        line += more
    return line.decode(errors="replace")


def _end_processes(
    process: subprocess.Popen[bytes] | None,
    warden: subprocess.Popen[bytes] | None,
    how: signal.Signals,
) -> None:
    if warden is not None:  # first: later it might signal another process with the same number
        warden.kill()
        warden.wait()
        if warden.stdin is not None:
            warden.stdin.close()
    if process is None:
        return
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _end(
    owner: int,
    process: subprocess.Popen[bytes] | None,
    warden: subprocess.Popen[bytes] | None,
    folder: str,
) -> None:
    if os.getpid() != owner:  # a fork of the process that started it
        return
    _end_processes(process, warden, signal.SIGTERM)
    shutil.rmtree(folder, ignore_errors=True)
