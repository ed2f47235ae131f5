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
    # The same words every time: Python keeps each text that it has shown for ever.
    of = f" of {model}" if model else ""
    text = f"the posterior{of} is {provenance.status}, because of {provenance.reason}"
    warnings.warn(PosteriorWarning(text), stacklevel=stacklevel + 1)


class _Column:
    """A number of each prediction, read when it is first asked for."""

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


# Asks about the same rows again, with another interval and quantiles.
Ask = Callable[[float, Sequence[float]], "Predictions"]
PENDING = ("none", "kept", "replaced", "table_full")


def _plain(probability: Any) -> float:
    """One of 32 bits as it is written: 0.1, not 0.10000000149011612, which nobody has asked for."""
    if isinstance(probability, np.floating):
        return float(str(probability))
    if isinstance(probability, numbers.Real):
        return float(probability)
    raise InvalidInput(f"quantile({probability!r}): a number, or several")


# Numbers and tables beside those that have a name of their own.
_MORE_NUMBERS = ("interval_lower", "interval_upper", "conformal_lower", "conformal_upper")
_MORE_TABLES = ("quantiles", "probs_eti_lower", "probs_eti_upper")


class _Kept(NamedTuple):
    """Of a row in a pickle, what is no number of an array."""

    pending: int
    conformal_set: list[int]


class Predictions(Answer):
    """Predictions for n rows: arrays of shape (n,), of a softmax model also (n, classes).

    What does not apply to the model is 0, or has no columns. `provenance` is that of the answer;
    where X was asked in several pieces, that of the worst of them, and `provenances` has all. A pickle
    has the numbers that were asked for.
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
        """Without who is asked about another interval or other quantiles: that is a connection."""
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
        """What became of each row's key: "kept"; "replaced", in place of that of an earlier
        question; "table_full", not kept; "none"."""
        return [PENDING[row.pending] for row in self._rows]

    def interval(self, probability: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the equal-tailed interval, shape (n,); of softmax (n, classes).

        Of y (regression), of the probability (classes). A probability other than the one asked for
        is asked of the server now, which may answer from a newer posterior.

        Raises:
            InvalidInput: another one, of an asyncio client: give `interval=` to predict().
        """
        probability = self._interval if probability is None else probability
        if probability != self._interval:
            return self._another(probability, ()).interval()
        if self.probs.shape[1]:
            return self._arrays("probs_eti_lower"), self._arrays("probs_eti_upper")
        return self._numbers("interval_lower"), self._numbers("interval_upper")

    def conformal_interval(self, probability: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval that holds this share of the outcomes whatever the model, (n,).

        Regression and counts; NaN where the server does not score predictions. As in interval().
        """
        probability = self._interval if probability is None else probability
        if probability != self._interval:
            return self._another(probability, ()).conformal_interval()
        lower, upper = self._numbers("conformal_lower"), self._numbers("conformal_upper")
        # proto3 sends no zeros: what is there has an alpha above 0, or is not a point.
        classes = np.fromiter((bool(row.conformal_set) for row in self._rows), bool, len(self))
        there = ((self.conformal_alpha != 0) | (lower != upper)) & ~classes
        return np.where(there, lower, np.nan), np.where(there, upper, np.nan)

    def conformal_set(self, probability: float | None = None) -> list[list[int]]:
        """Of each row the numbers of the classes that hold this share of the outcomes whatever the
        model: the most probable one always, none where the server does not score predictions."""
        probability = self._interval if probability is None else probability
        if probability != self._interval:
            return self._another(probability, ()).conformal_set()
        return [list(row.conformal_set) for row in self._rows]

    def quantile(self, probability: float | Sequence[float]) -> FloatArray:
        """Quantiles: shape (n,) of one probability, (n, k) of k.

        Those not given to predict() are asked of the server now, as in interval().
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
