"""Who asks an engine of this process, and arrays for the library."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_void_p, sizeof
from typing import Any

import numpy as np

from . import _library as c
from .errors import InvalidInput, Reason, Refused
from .provenance import ModelKind, Provenance
from .results import (
    POSTERIOR_ARRAYS,
    Draws,
    FloatArray,
    Posterior,
    Predictions,
    parameter_names,
)


def pointer(array: FloatArray) -> Any:
    """Of a contiguous array that outlives its use."""
    return array.ctypes.data_as(c.Numbers)


def check(library: ctypes.CDLL, status: int) -> None:
    if status != Reason.OK:
        text = library.windhover_status_text(status).decode()
        raise Refused(Reason(status), text=f"the engine refuses: {text}")


def _array(name: str, values: Any) -> FloatArray:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidInput(f"{name} is masked; fill it first, where the model takes it with nan")
    return np.require(np.asarray(values, dtype=np.float64), requirements=["C", "A"])


def matrix(X: Any, features: int) -> FloatArray:
    """X itself where it is contiguous float64, otherwise a copy."""
    rows = _array("X", X)
    if rows.ndim == 1:
        rows = rows.reshape(1, -1)
    if rows.ndim != 2 or rows.shape[1] != features:
        raise InvalidInput(f"X has shape {rows.shape}; it must be (rows, {features})")
    return rows


def column(name: str, values: Any, n: int) -> FloatArray:
    numbers = np.atleast_1d(_array(name, values))
    if numbers.shape != (n,):
        raise InvalidInput(f"{name} has shape {numbers.shape}; it must be ({n},)")
    return numbers


class EnginePredictions(Predictions):
    """As `Predictions`; without keys, and asked once: `interval=` and `quantiles=` of predict()."""

    def __init__(
        self,
        pieces: list[tuple[dict[str, FloatArray], Provenance]],
        interval: float,
        quantiles: Sequence[float],
    ) -> None:
        super().__init__([], interval, quantiles, provenances=[where for _, where in pieces])
        names = pieces[0][0]
        self._kept = {n: np.concatenate([arrays[n] for arrays, _ in pieces]) for n in names}

    def __len__(self) -> int:
        return len(self._kept["mean"])

    @property
    def pending(self) -> list[str]:
        return ["none"] * len(self)

    def conformal_interval(self, probability: float | None = None) -> tuple[FloatArray, FloatArray]:
        if probability not in (None, self._interval):
            self._another(float(probability or 0), ())
        return self._numbers("conformal_lower"), self._numbers("conformal_upper")

    def conformal_set(self, probability: float | None = None) -> list[list[int]]:
        if probability not in (None, self._interval):
            self._another(float(probability or 0), ())
        sets = (int(bits) for bits in self._kept["conformal_set"])
        return [[k for k in range(64) if bits >> k & 1] for bits in sets]


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
        self._names = parameter_names(int(options.features), self._dimension, kind)

    def predict(
        self,
        X: Any,
        interval: float,
        quantiles: Sequence[float],
        thresholds: Sequence[float],
        thompson_id: int,
        columns: dict[str, Any],
    ) -> EnginePredictions:
        rows = matrix(X, self._options.features)
        if not len(rows):
            raise InvalidInput("X has no rows")
        for name, values, most in (
            ("quantiles", quantiles, c.MAX_QUANTILES),
            ("thresholds", thresholds, c.MAX_THRESHOLDS),
        ):
            if len(values) > most:
                raise InvalidInput(f"{len(values)} {name}; the engine takes {most}")
        arrays = {k: column(k, v, len(rows)) for k, v in columns.items() if v is not None}
        fixed = {"quantiles": quantiles, "thresholds": thresholds}
        asked = {k: np.asarray(v, dtype=np.float64) for k, v in fixed.items()}
        step = int(self._options.max_query_rows)
        pieces = []
        for begin in range(0, len(rows), step):
            cut = slice(begin, begin + step)
            question = c.made(self._c, "question")
            question.interval, question.thompson_id = interval, thompson_id
            question.quantile_count = len(quantiles)
            question.threshold_count = len(thresholds)
            of_rows = {k: v[cut] for k, v in arrays.items()}
            for name, array in {**asked, **of_rows}.items():
                setattr(question, name, pointer(array) if array.size else None)
            pieces.append(self._ask(rows[cut], question))
        return EnginePredictions(pieces, interval, quantiles)

    def _ask(self, rows: FloatArray, question: Any) -> tuple[dict[str, FloatArray], Provenance]:
        n = len(rows)
        question.rows, question.feature_values = n, rows.size
        question.features = pointer(rows)
        answer, where = c.made(self._c, "answer"), c.made(self._c, "provenance")
        numbers: Any = np.zeros(n, dtype=np.dtype(c.Prediction))
        softmax = self._options.model == b"softmax"
        classes = int(self._options.classes) if softmax else 0
        tables = {
            "quantiles": np.zeros((n, question.quantile_count)),
            "exceedance": np.zeros((n, question.threshold_count)),
        }
        names = {"probabilities": "probs", "probabilities_sd": "probs_sd"}
        names |= {f"probabilities_{end}": f"probs_eti_{end}" for end in ("lower", "upper")}
        for name in names:
            tables[name] = np.zeros((n, classes))
        for name, table in tables.items():
            setattr(answer, name, pointer(table) if table.size else None)
        answer.classes = classes
        answer.predictions, answer.prediction_size = numbers.ctypes.data, sizeof(c.Prediction)
        answer.provenance = ctypes.addressof(where)
        status = self._c.windhover_reader_predict(self._reader, byref(question), byref(answer))
        check(self._c, status)
        arrays = {name: numbers[name] for name in numbers.dtype.names or ()}
        arrays |= {names.get(name, name): table for name, table in tables.items()}
        return arrays, Provenance.of(where)

    def posterior(self) -> Posterior:
        table: Any = np.zeros(self._dimension, dtype=np.dtype(c.Parameter))
        where = c.made(self._c, "provenance")
        status = self._c.windhover_reader_posterior(
            self._reader, table.ctypes.data, sizeof(c.Parameter), len(table), byref(where)
        )
        check(self._c, status)
        arrays = {name: np.ascontiguousarray(table[name]) for name in POSTERIOR_ARRAYS}
        return Posterior(Provenance.of(where), names=self._names, **arrays)

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
        struct, answer = c.made(self._c, "provenance"), c.made(self._c, "answer")
        question = c.made(self._c, "question")
        zeros = np.zeros((1, self._options.features))
        question.rows, question.feature_values, question.features = 1, zeros.size, pointer(zeros)
        answer.provenance = ctypes.addressof(struct)
        status = self._c.windhover_reader_predict(self._reader, byref(question), byref(answer))
        check(self._c, status)
        return Provenance.of(struct)

    def close(self) -> None:
        self._c.windhover_reader_destroy(self._reader)
