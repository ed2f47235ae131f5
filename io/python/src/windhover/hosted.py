"""The model behind an estimator: in a daemon of its own, or on a server that runs already."""

from __future__ import annotations

import os
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from .client import Client
from .daemon import Daemon
from .errors import InvalidInput, WindhoverError
from .known import OTHER_COLUMNS
from .opening import connect
from .results import Predictions

PAUSED_AT_MOST = 32_768  # rows that wait in the window's slack while the model is paused
TLS_WORDS = ("ca", "server_name", "certificate", "key")  # arguments of `connect`
MOST_CLASSES = 64  # of one model: kMaxClasses of samplers/config.h
REST = 0.01  # seconds between two looks at whether the learner rests
LOOKS = 4  # looks in a row that must agree: a learner without a CPU looks as if it rested


@dataclass(frozen=True)
class Wanted:
    """What an estimator wants of its model.

    Attributes:
        columns: of a row.
        likelihood: as `model.name` of the daemon.
        classes: of softmax; otherwise 0.
        address, query, model, token, tls, producer: of a server that runs; address None: a daemon
            is started.
        options: of that daemon, by dotted name; otherwise its defaults hold.
        settle: seconds that settle() waits at most.
        names: of the columns, which parameters get.
    """

    columns: int
    likelihood: str
    classes: int = 0
    address: str | None = None
    query: str | None = None
    model: str = ""
    token: str = ""
    tls: Mapping[str, str] | None = None
    producer: int = 0
    options: Mapping[str, object] | None = None
    settle: float = 10.0
    names: tuple[str, ...] | None = None


class Hosted:
    """Takes rows and gives predictions. With `saved`, what save() returned, its daemon goes on from
    there."""

    def __init__(self, wanted: Wanted, saved: Mapping[str, bytes] | None = None) -> None:
        self.wanted = wanted
        self._process = os.getpid()
        self._daemon: Daemon | None = None
        self._dirty = saved is not None
        address, query, tls = wanted.address, wanted.query, wanted.tls or {}
        if unknown := set(tls) - set(TLS_WORDS):
            raise InvalidInput(f"tls={dict(tls)}: {', '.join(sorted(unknown))} is no word of it")
        if address is None and wanted.model:
            raise InvalidInput(
                f"model={wanted.model!r} is the name of one on a server, and there is no address=. "
                "Which model is learned is likelihood=, and of windhover.river "
                'options={"model.name": ...}'
            )
        if address is None:
            self._folder = Path(tempfile.mkdtemp(prefix="windhover-"))
            self._finalizer = weakref.finalize(self, _remove, self._folder, self._process)
            for name, content in (saved or {}).items():
                (self._folder / name).write_bytes(content)
            self._daemon = Daemon(self._daemon_options(), temporary=[self._folder])
            address, query = self._daemon.observe, self._daemon.query
        try:
            self._client: Client = connect(
                address,
                query=query,
                model=wanted.model,
                token=wanted.token,
                producer=wanted.producer,
                first_sequence="next" if wanted.producer else 0,
                ca=tls.get("ca", ""),
                server_name=tls.get("server_name", ""),
                certificate=tls.get("certificate", ""),
                key=tls.get("key", ""),
            )
            weakref.finalize(self, self._client.close)
            if self._daemon is not None:
                look = _look_at(weakref.ref(self._daemon))
                self._client._rows.look_at_server = look
                self._client._questions.look_at_server = look
            self._client.columns = wanted.names
            self._check()
        except BaseException:
            self.close()
            raise

    @property
    def client(self) -> Client:
        """
        Raises:
            InvalidInput: this process is a fork of the one that connected.
        """
        if self._process != os.getpid():
            raise InvalidInput(
                "the model is of the process that this one was forked from: learn it here anew, or "
                "hand it over in a pickle"
            )
        return self._client

    def _daemon_options(self) -> dict[str, object]:
        wanted = self.wanted
        options: dict[str, object] = {
            "model.features": wanted.columns,
            "model.name": wanted.likelihood,
            "process.prefault": False,
            "process.log_level": "error",
            "server.drain_timeout": 50,  # it has no other clients
            # The folder is only for save(), which asks for a checkpoint.
            "data.folder": self._folder,
            "data.durability": "memory",
            "data.checkpoint_period": 0,
        }
        if wanted.classes:
            options["model.classes"] = wanted.classes
        options.update(wanted.options or {})
        return options

    def _check(self) -> None:
        client, wanted = self.client, self.wanted
        if client.features != wanted.columns:
            raise InvalidInput(
                f"the model has {client.features} columns, X has {wanted.columns}{OTHER_COLUMNS}"
            )
        if wanted.classes and client.classes != wanted.classes:
            raise InvalidInput(
                f"the model has {client.classes} classes, the estimator {wanted.classes}"
            )
        if not wanted.classes and wanted.likelihood == "logistic" and client.kind != "logistic":
            raise InvalidInput(f"the model is {client.kind}, two classes want logistic")

    def learn(
        self,
        X: Any,
        y: Any,
        *,
        offsets: Any = None,
        weights: Any = None,
        trials: Any = None,
        afresh: bool = False,
    ) -> None:
        """Sends rows. `afresh`: they are the first; a daemon of its own is paused until it has them
        all (at most PAUSED_AT_MOST), so that the same rows lead to the same posterior."""
        self._dirty = True
        if not (afresh and self._daemon is not None and 1 < len(y) <= PAUSED_AT_MOST):
            self.client.observe(X, y, offsets=offsets, weights=weights, trials=trials)
            return
        self.client.pause()
        try:
            self.client.observe(X, y, offsets=offsets, weights=weights, trials=trials)
            self.client.wait()
        finally:
            self.client.resume()

    def settle(self) -> None:
        """Waits until answers include all rows sent and, with a daemon of its own, its learner
        rests; after all rows are acknowledged at most `settle` seconds."""
        if not self._dirty:
            return
        totals = self.client.wait()
        end = time.monotonic() + self.wanted.settle
        before: tuple[int, int] | None = None
        same = 0
        while True:
            status = self.client.status()
            where = (status.provenance.snapshot_id, status.provenance.steps)
            complete = status.provenance.sequence >= totals.head and status.status != "recovering"
            same = same + 1 if where == before else 1
            if complete and (self._daemon is None or same >= LOOKS):
                break
            if time.monotonic() >= end:
                break
            before = where
            time.sleep(REST)
        self._dirty = False

    def predict(self, X: Any, stacklevel: int, **asked: Any) -> Predictions:
        """Predicts after settle(). Warnings point to the caller `stacklevel` calls above."""
        self.settle()
        return self.client._asked(X, **asked, stacklevel=stacklevel + 2)

    def save(self) -> dict[str, bytes]:
        """The daemon's checkpoint, for another Hosted; empty with a server that runs."""
        if self._daemon is None:
            return {}
        self.settle()
        checkpoint = self.client.take_checkpoint()
        if not checkpoint.answered or checkpoint.failure:
            raise WindhoverError(
                f"the daemon took no checkpoint: {checkpoint.failure or 'no answer'}"
            )
        newest = max(self._folder.glob("checkpoint-*"))
        return {newest.name: newest.read_bytes()}

    def close(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()
        if self._daemon is not None:
            self._daemon.stop()
            self._finalizer()


def _look_at(daemon: weakref.ref[Daemon]) -> Callable[[], None]:
    """Checks before each attempt to connect that the daemon runs: nobody starts it again. It does
    not keep the daemon alive."""

    def look() -> None:
        if (one := daemon()) is not None:
            one.check_running()

    return look


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not a fork, which may end while the daemon goes on
        rmtree(folder, ignore_errors=True)
