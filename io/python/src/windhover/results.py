"""Predictions as numpy arrays."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidInput, PosteriorWarning
from .provenance import Answer, Provenance

FloatArray = NDArray[np.float64]


def warn_unless_ok(provenance: Provenance, model: str, stacklevel: int) -> None:
    if provenance.ok:
        return
    # No numbers in the text: Python keeps every text that it has shown.
    of = f" of {model}" if model else ""
    text = f"the posterior{of} is {provenance.status}, because of {provenance.reason}"
    warnings.warn(PosteriorWarning(text), stacklevel=stacklevel + 1)


class _Column:
    """One number of each prediction, read when it is first asked for."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Predictions, owner: type) -> FloatArray:
        if instance is None:
            return self  # type: ignore[return-value]
        return instance._numbers(self._name)


class _Table(_Column):
    def __get__(self, instance: Predictions, owner: type) -> FloatArray:
        if instance is None:
            return self  # type: ignore[return-value]
        return instance._arrays(self._name)


# Asks about the same rows again, with another interval and other quantiles.
Ask = Callable[[float, Sequence[float]], "Predictions"]
PENDING = ("none", "kept", "replaced", "table_full")


def _plain(probability: Any) -> float:
    """As a Python float; a 32-bit 0.1 becomes 0.1 as it is written, not 0.10000000149011612."""
    if isinstance(probability, np.floating):
        return float(str(probability))
    if isinstance(probability, numbers.Real):
        return float(probability)
    raise InvalidInput(f"quantile({probability!r}): a number, or several")


# Numbers and tables that methods of Predictions return.
_MORE_NUMBERS = ("interval_lower", "interval_upper", "conformal_lower", "conformal_upper")
_MORE_TABLES = ("quantiles", "probs_eti_lower", "probs_eti_upper")


class _Kept(NamedTuple):
    """What a pickle keeps of a row beside the arrays."""

    pending: int
    conformal_set: list[int]


class Predictions(Answer):
    """Predictions for n rows: arrays of shape (n,), for a softmax model also (n, classes).

    What does not apply to the model is 0, or has no columns. `provenances` has one for each piece
    in which X was asked about; `provenance` is the first whose status is not ok, otherwise the
    first. A pickle has the numbers that were asked for.
    """

    mean = _Column("Of y.")
    sd = _Column("Of y: the root of var_epistemic + var_aleatoric.")
    var_epistemic = _Column("Variance of y from not knowing the parameters.")
    var_aleatoric = _Column("Variance of y given the parameters.")
    epred_mean = _Column("Mean of E[y | x, theta]; of classes, the probability of class 1.")
    epred_sd = _Column("Its sd over the posterior.")
    linpred_mean = _Column("Mean of the linear predictor; of classes, the log-odds.")
    linpred_sd = _Column("Its sd over the posterior.")
    entropy = _Column("Classes, in nats: total.")
    expected_entropy = _Column("Classes, in nats: the aleatoric part.")
    mutual_information = _Column("Classes, in nats: the epistemic part.")
    log_score = _Column("log p(outcome | x), of the outcomes given.")
    pit = _Column("Regression: P(y <= outcome).")
    crps = _Column("Regression, not counts: continuous ranked probability score.")
    brier = _Column("Classes: (p - outcome)^2.")
    prob_best = _Column("Share of draws in which this row has the largest epred of its piece.")
    expected_regret = _Column("E[largest epred of its piece, less this one].")
    thompson = _Column("epred under one fresh draw, of the thompson_id given.")
    conformal_alpha = _Column("1 less what the model itself gives the conformal interval or set.")
    exceedance = _Table("Regression: P(y > t), shape (n, thresholds).")
    probs = _Table("Softmax: probabilities, shape (n, classes).")
    probs_sd = _Table("Softmax: their sd over the posterior, shape (n, classes).")

    def __init__(
        self,
        results: Sequence[Any],
        interval: float,
        quantiles: Sequence[float],
        ask: Ask | None = None,
        provenances: Sequence[Provenance] = (),
    ) -> None:
        self._rows = [row for result in results for row in result.predictions]
        self._interval = interval
        self._quantiles = tuple(_plain(each) for each in quantiles)
        self._ask = ask
        self._kept: dict[str, FloatArray] = {}
        told = (Provenance.of(result.provenance) for result in results)
        self.provenances = tuple(provenances or told)
        self.provenance = next((p for p in self.provenances if not p.ok), self.provenances[0])

    def __getstate__(self) -> dict[str, Any]:
        """All arrays, without the connection that other intervals and quantiles are asked of."""
        for name, column in vars(Predictions).items():
            if isinstance(column, _Column):
                getattr(self, name)
        for name in _MORE_NUMBERS:
            self._numbers(name)
        for name in _MORE_TABLES:
            self._arrays(name)
        rows = [_Kept(row.pending, list(row.conformal_set)) for row in self._rows]
        return {**self.__dict__, "_rows": rows, "_ask": None}

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<Predictions of {len(self)} rows, status {self.status}, reason {self.reason}>"

    @property
    def pending(self) -> list[str]:
        """What became of each row's key: "kept"; "replaced": kept in place of an equal one of an
        earlier question; "table_full": not kept; "none": there was none."""
        return [PENDING[row.pending] for row in self._rows]

    def interval(self, probability: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the equal-tailed interval, shape (n,); for softmax (n, classes).

        It is of y (regression) or of the class's probability (classes). With another probability
        than predict() was given the server is asked now, and may answer from a newer posterior.

        Raises:
            InvalidInput: another probability, and the answer is an asyncio client's, a copy or
                from a pickle: give `interval=` to predict().
        """
        probability = self._interval if probability is None else probability
        if probability != self._interval:
            return self._another(probability, ()).interval()
        if self.probs.shape[1]:
            return self._arrays("probs_eti_lower"), self._arrays("probs_eti_upper")
        return self._numbers("interval_lower"), self._numbers("interval_upper")

    def conformal_interval(self, probability: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval that holds this share of the outcomes also where the model is wrong,
        each of shape (n,).

        Regression and counts; NaN where the server does not score predictions. Another probability
        is as for interval().
        """
        probability = self._interval if probability is None else probability
        if probability != self._interval:
            return self._another(probability, ()).conformal_interval()
        lower, upper = self._numbers("conformal_lower"), self._numbers("conformal_upper")
        # proto3 sends no zeros: an interval that was sent has an alpha above 0, or is not a point.
        classes = np.fromiter((bool(row.conformal_set) for row in self._rows), bool, len(self))
        there = ((self.conformal_alpha != 0) | (lower != upper)) & ~classes
        return np.where(there, lower, np.nan), np.where(there, upper, np.nan)

    def conformal_set(self, probability: float | None = None) -> list[list[int]]:
        """For each row the classes that hold this share of the outcomes also where the model is
        wrong, the most probable one among them; empty where predictions are not scored."""
        probability = self._interval if probability is None else probability
        if probability != self._interval:
            return self._another(probability, ()).conformal_set()
        return [list(row.conformal_set) for row in self._rows]

    def quantile(self, probability: float | Sequence[float]) -> FloatArray:
        """Quantiles of y: shape (n,) for one probability, (n, k) for k of them.

        If some were not given to predict() the server is asked now, as by interval().
        """
        one = np.ndim(probability) == 0
        wanted = [_plain(each) for each in ([probability] if one else probability)]  # type: ignore
        if not all(each in self._quantiles for each in wanted):
            table = self._another(self._interval, wanted)._arrays("quantiles")
        elif one or tuple(wanted) == self._quantiles:
            table = self._arrays("quantiles")
        else:
            columns = [self._quantiles.index(each) for each in wanted]
            return self._arrays("quantiles")[:, columns]
        if not one:
            return table
        return table[:, self._quantiles.index(wanted[0]) if wanted[0] in self._quantiles else 0]

    def _another(self, interval: float, quantiles: Sequence[float]) -> Predictions:
        if self._ask is None:
            raise InvalidInput(
                "this was not asked for, and a copy, a pickle or asyncio's answer asks nobody: give "
                "interval= and quantiles= to predict()"
            )
        return self._ask(interval, quantiles)

    def _numbers(self, name: str) -> FloatArray:
        if name not in self._kept:
            values = (getattr(row, name) for row in self._rows)
            self._kept[name] = np.fromiter(values, np.float64, len(self._rows))
        return self._kept[name]

    def _arrays(self, name: str) -> FloatArray:
        if name not in self._kept:
            rows = [getattr(row, name) for row in self._rows]
            table = np.array([np.fromiter(row, np.float64, len(row)) for row in rows])
            self._kept[name] = (
                table.reshape(len(rows), -1) if table.size else np.empty((len(rows), 0))
            )
        return self._kept[name]
