"""Estimators with River's interface: a row at a time, as a dict of features.

    model = windhover.river.Regressor()
    for x, y in stream:
        guess = model.predict_one(x)
        model.learn_one(x, y)

The columns are `features=`, or the names in the first row. A name that a later row lacks is 0
there; a row with another name is refused (InvalidInput). River itself is not needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from .client import Client
from .errors import InvalidInput
from .hosted import MOST_CLASSES, Hosted, Wanted
from .results import FloatArray, Predictions

Row = Mapping[str, float]
S = TypeVar("S", bound="_One")


class _One:
    """What both have in common. `features` are the names of the columns; the other arguments are as
    for `windhover.sklearn.StreamingRegressor`."""

    _likelihood: str
    _classes: int

    def __init__(
        self,
        *,
        features: Iterable[str] | None = None,
        address: str | None = None,
        query: str | None = None,
        model: str = "",
        token: str = "",
        tls: Mapping[str, str] | None = None,
        producer: int = 0,
        options: Mapping[str, object] | None = None,
    ) -> None:
        self._names = tuple(features) if features is not None else None
        self._place: dict[str, int] = {}
        self._server: dict[str, Any] = {
            "address": address,
            "query": query,
            "model": model,
            "token": token,
            "tls": tls,
            "producer": producer,
            "options": options,
        }
        self._hosted: Hosted | None = None

    @property
    def client(self) -> Client:
        """The client behind it. REQUIRES: a row has been learned from."""
        if self._hosted is None:
            raise InvalidInput("no row has been learned from")
        return self._hosted.client

    def close(self) -> None:
        """Ends the daemon, or the connection."""
        if self._hosted is not None:
            self._hosted.close()
        self._hosted = None

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _learn(self, x: Row, y: float) -> None:
        if self._hosted is None:
            self._names = self._names or tuple(x)
            self._place = {name: i for i, name in enumerate(self._names)}
            columns = len(self._names)
            wanted = Wanted(
                columns,
                self._likelihood,
                self._classes,
                **self._server,
                names=tuple(map(str, self._names)),
            )
            self._hosted = Hosted(wanted)
        self._hosted.client.observe(self._row(x), [y])

    def _row(self, x: Row) -> FloatArray:
        row = np.zeros((1, len(self._place)))
        for name, value in x.items():
            if name not in self._place:
                raise InvalidInput(f"feature {name!r}: the model knows {', '.join(self._place)}")
            row[0, self._place[name]] = value
        return row

    def _ask(self, x: Row, above: int = 0, **asked: Any) -> Predictions | None:
        if self._hosted is None:
            return None
        return self._hosted.client._asked(self._row(x), **asked, stacklevel=4 + above)


class Regressor(_One):
    """Regression, a row at a time. Answers do not wait: they may lack the newest rows."""

    def __init__(self, likelihood: str = "linear", **named: Any) -> None:
        super().__init__(**named)
        self._likelihood = likelihood
        self._classes = 0

    def learn_one(self, x: Row, y: float) -> None:
        """Sends a row."""
        self._learn(x, y)

    def predict_one(self, x: Row) -> float:
        """Mean of y; 0 before the first row."""
        answer = self._ask(x)
        return float(answer.mean[0]) if answer is not None else 0.0

    def predict_interval_one(self, x: Row, coverage: float = 0.9) -> tuple[float, float]:
        """Ends of the central interval that holds y with this probability; NaN before the
        first row."""
        answer = self._ask(x, interval=coverage)
        if answer is None:
            return float("nan"), float("nan")
        lower, upper = answer.interval()
        return float(lower[0]), float(upper[0])


class Classifier(_One):
    """Classification, a row at a time. `classes` are all labels, at least 2 and at most 64."""

    def __init__(self, classes: Iterable[Hashable] = (False, True), **named: Any) -> None:
        super().__init__(**named)
        self._labels = list(classes)
        if len(self._labels) < 2:
            raise InvalidInput("there are two classes at least")
        if len(self._labels) > MOST_CLASSES:
            raise InvalidInput(f"{len(self._labels)} classes; a model has at most {MOST_CLASSES}")
        several = len(self._labels) > 2
        self._likelihood = "softmax" if several else "logistic"
        self._classes = len(self._labels) if several else 0

    def learn_one(self, x: Row, y: Hashable) -> None:
        """Sends a row."""
        if y not in self._labels:
            raise InvalidInput(
                f"label {y!r}: the classes are {self._labels}; give all there will be as classes="
            )
        self._learn(x, self._labels.index(y))

    def predict_proba_one(self, x: Row) -> dict[Hashable, float]:
        """Probability of each label; before the first row all are equal."""
        return self._proba(x)

    def _proba(self, x: Row) -> dict[Hashable, float]:
        answer = self._ask(x, above=1)
        if answer is None:
            return {label: 1 / len(self._labels) for label in self._labels}
        if not self._classes:
            second = float(answer.epred_mean[0])
            return dict(zip(self._labels, (1 - second, second)))
        return dict(zip(self._labels, answer.probs[0].tolist()))

    def predict_one(self, x: Row) -> Hashable:
        """The most probable label; None before the first row."""
        if self._hosted is None:
            return None
        answer = self._proba(x)
        return max(answer, key=lambda label: answer[label])
