"""Who asks an engine of this process, and its answers as arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_size_t, c_void_p, sizeof
from typing import Any

import numpy as np

from . import _library as c
from .asked import Asked
from .contrasts import Contrasts, Group
from .engine_arrays import check, fill, pointer, taken, texts
from .errors import InvalidInput
from .events import Event
from .provenance import ModelKind, Provenance
from .results import (
    PENDING,
    POSTERIOR_ARRAYS,
    Ask,
    Draws,
    FloatArray,
    Posterior,
    Predictions,
    parameter_names,
)
from .rows import column_of

# The models whose answers are probabilities of classes.
_CATEGORICAL = ("softmax", "mlp-softmax", "drbm")
_NETWORKS = ("mlp-linear", "mlp-logistic", "mlp-softmax", "drbm")

# Of the library's tables those that `Predictions` calls otherwise.
_TABLES = {
    "probabilities": "probs",
    "probabilities_sd": "probs_sd",
    "probabilities_lower": "probs_eti_lower",
    "probabilities_upper": "probs_eti_upper",
}


class EnginePredictions(Predictions):
    """As `Predictions`. Its arrays are views of the memory that the library wrote."""

    def __init__(
        self,
        arrays: dict[str, FloatArray],
        provenances: Sequence[Provenance],
        asked: Asked,
        ask: Ask | None,
    ) -> None:
        super().__init__([], asked.interval, asked.quantiles, ask, provenances)
        self._kept = arrays

    def __len__(self) -> int:
        return len(self._kept["mean"])

    @property
    def pending(self) -> list[str]:
        return [PENDING[int(number)] for number in self._kept["pending"]]

    def conformal_interval(self, probability: float | None = None) -> tuple[FloatArray, FloatArray]:
        if probability is not None and probability != self._interval:
            return self._another(probability, ()).conformal_interval()
        return self._numbers("conformal_lower"), self._numbers("conformal_upper")

    def conformal_set(self, probability: float | None = None) -> list[list[int]]:
        if probability is not None and probability != self._interval:
            return self._another(probability, ()).conformal_set()
        sets = (int(bits) for bits in self._kept["conformal_set"])
        return [[k for k in range(64) if bits >> k & 1] for bits in sets]


class _Written:
    """Where the library writes its answers about n rows."""

    def __init__(self, n: int, asked: Asked, classes: int) -> None:
        self._numbers: Any = np.zeros(n, dtype=np.dtype(c.Prediction))
        self._classes = classes
        widths = {"quantiles": len(asked.quantiles), "exceedance": len(asked.thresholds)}
        widths |= dict.fromkeys(_TABLES, classes)
        self._tables = {name: np.zeros((n, width)) for name, width in widths.items()}

    def point(self, answer: Any, begin: int, end: int) -> None:
        """Has the library write rows `begin` to `end`."""
        for name, table in self._tables.items():
            setattr(answer, name, pointer(table[begin:end]) if table.size else None)
        answer.classes = self._classes
        answer.predictions = self._numbers[begin:end].ctypes.data
        answer.prediction_size = sizeof(c.Prediction)

    def arrays(self) -> dict[str, FloatArray]:
        """By the names of `Predictions`: views, nothing is copied."""
        columns = {name: self._numbers[name] for name in self._numbers.dtype.names}
        return columns | {_TABLES.get(name, name): table for name, table in self._tables.items()}


def _wanted(question: Any, asked: Asked) -> list[Any]:
    """What is asked of every row; likewise to be kept."""
    question.interval, question.thompson_id = asked.interval, asked.thompson_id
    question.quantile_count = len(asked.quantiles)
    question.threshold_count = len(asked.thresholds)
    kept = []
    for name in ("quantiles", "thresholds"):
        array = np.asarray(getattr(asked, name), dtype=np.float64)
        setattr(question, name, pointer(array) if array.size else None)
        kept.append(array)
    return kept


class Reader:
    """A reader of the library; one thread at a time."""

    def __init__(self, library: ctypes.CDLL, engine: c_void_p, options: Any) -> None:
        self._c = library
        self._options = options
        self._reader = c_void_p()
        check(library, library.windhover_reader_create(engine, byref(self._reader)))
        self._dimension = int(library.windhover_engine_dimension(engine))
        name = options.model.decode()
        kind = ModelKind(name) if name in list(ModelKind) else ModelKind.OTHER
        self._categorical = name in _CATEGORICAL
        self._kind = kind

    @property
    def _names(self) -> tuple[str, ...]:
        """Made when they are asked for: there may be millions."""
        options = self._options
        classes = int(options.classes) if self._categorical else 0
        network = options.model.decode() in _NETWORKS
        return parameter_names(int(options.features), self._dimension, self._kind, classes, network)

    def predict(
        self,
        X: Any,
        asked: Asked,
        columns: dict[str, Any],
        key: str | Sequence[str] | None,
        ask: Ask | None,
    ) -> EnginePredictions:
        asked.check(c.MAX_QUANTILES, c.MAX_THRESHOLDS, "the engine")
        rows = taken(self._options, X, None)
        n = rows.count
        if not n:
            raise InvalidInput("X has no rows")
        arrays = {k: column_of(k, v, n) for k, v in columns.items() if v is not None}
        names = texts(key, n)
        written = _Written(n, asked, int(self._options.classes) if self._categorical else 0)
        provenances = []
        step = int(self._options.max_query_rows)
        for begin in range(0, n, step):
            end = min(n, begin + step)
            question, where = c.made(self._c, "question"), c.made(self._c, "provenance")
            answer = c.made(self._c, "answer")
            kept = fill(question, rows, arrays, begin, end)
            kept.append(_wanted(question, asked))
            if names:
                kept.append((ctypes.c_char_p * (end - begin))(*names[begin:end]))
                question.keys = ctypes.addressof(kept[-1])
            written.point(answer, begin, end)
            answer.provenance = ctypes.addressof(where)
            status = self._c.windhover_reader_predict(self._reader, byref(question), byref(answer))
            del kept
            check(self._c, status)
            provenances.append(Provenance.of(where))
        return EnginePredictions(written.arrays(), provenances, asked, ask)

    def posterior(self) -> Posterior:
        table: Any = np.zeros(self._dimension, dtype=np.dtype(c.Parameter))
        where = c.made(self._c, "provenance")
        status = self._c.windhover_reader_posterior(
            self._reader, table.ctypes.data, sizeof(c.Parameter), len(table), byref(where)
        )
        check(self._c, status)
        arrays = {name: table[name] for name in POSTERIOR_ARRAYS}
        return Posterior(Provenance.of(where), names=self._names, **arrays)

    def contrasts(self, columns: Sequence[int], against: int | None) -> Contrasts:
        group = Group(columns, against, int(self._options.features), self._names)
        if group.has_one_predictor and not self._options.max_nonzeros:
            answer = self.predict(group.rows(), Asked(), {}, None, None)
            exact = group.exact(answer)
            if exact is not None:
                return exact
        return group.drawn(self.posterior(), self.draws())

    def draws(self) -> Draws:
        where, kept = c.made(self._c, "provenance"), 0
        theta = np.zeros((int(self._options.retained_draws), self._dimension))
        call = self._c.windhover_reader_draws
        try:
            check(self._c, call(self._reader, 0, 0, None, 0, byref(where)))
            if where.draws:  # the first page takes a snapshot, the second is of the same
                page = (pointer(theta), theta.size)
                check(self._c, call(self._reader, 0, 1, *page, byref(where)))
                kept = int(where.draws)
                rest = theta[1:kept]
                if rest.size:
                    page = (pointer(rest), rest.size)
                    check(self._c, call(self._reader, 1, kept - 1, *page, None))
        finally:
            self._c.windhover_reader_release(self._reader)
        return Draws(Provenance.of(where), theta[:kept], self._names)

    def provenance(self) -> Provenance:
        """Of the newest snapshot."""
        where = c.made(self._c, "provenance")
        try:
            check(
                self._c,
                self._c.windhover_reader_draws(self._reader, 0, 0, None, 0, byref(where)),
            )
        finally:
            self._c.windhover_reader_release(self._reader)
        return Provenance.of(where)

    def events(self) -> list[Event]:
        room = (c.EventStruct * c.MAX_EVENTS)()
        count = c_size_t()
        status = self._c.windhover_reader_events(
            self._reader, room, sizeof(c.EventStruct), c.MAX_EVENTS, byref(count)
        )
        check(self._c, status)
        return [Event.of(event) for event in room[: count.value]]

    def close(self) -> None:
        self._c.windhover_reader_destroy(self._reader)
