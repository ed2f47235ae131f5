"""What the estimators for scikit-learn have in common: their model, which pickles include."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_random_state

from .client import Client
from .errors import InvalidInput
from .hosted import Hosted, Wanted
from .results import Predictions

try:
    from sklearn.utils.validation import validate_data as validate_data  # from 1.6 on
except ImportError:

    def validate_data(estimator: Any, *arrays: Any, **how: Any) -> Any:
        return estimator._validate_data(*arrays, **how)


_PLAIN = {"offset": "exposure 1 it is 0", "trials": "one trial, whose mean is the probability, 1"}


class Streaming(BaseEstimator):  # type: ignore[misc]
    """What both estimators have in common."""

    address: str | None
    query: str | None
    model: str
    token: str
    tls: Mapping[str, str] | None
    producer: int
    window_size: int
    horizon: str
    random_state: Any
    options: Mapping[str, object] | None
    settle: float
    n_features_in_: int
    hosted_: Hosted
    _needed: tuple[str, ...] = ()  # arguments of fit() that predictions need too

    def _wanted(self, likelihood: str, classes: int, offset: bool, weight: bool) -> Wanted:
        options: dict[str, object] = {
            "engine.horizon": self.horizon,
            "engine.window_size": self.window_size,
        }
        if self.address is None:
            options["engine.seed"] = int(
                check_random_state(self.random_state).randint(1, 2**31 - 1)
            )
            if offset:
                options["model.offset"] = True
            if weight:
                options["model.weight"] = True
        names = getattr(self, "feature_names_in_", None)
        return Wanted(
            columns=self.n_features_in_,
            likelihood=likelihood,
            classes=classes,
            address=self.address,
            query=self.query,
            model=self.model,
            token=self.token,
            tls=self.tls,
            producer=self.producer,
            options={**options, **(self.options or {})},
            settle=self.settle,
            names=tuple(map(str, names)) if names is not None else None,
        )

    def close(self) -> None:
        """Ends the daemon, or the connection. fit() and partial_fit() start anew."""
        if "hosted_" in self.__dict__:
            self.hosted_.close()
            del self.hosted_

    def _start(
        self, likelihood: str, classes: int, offset: bool = False, weight: bool = False
    ) -> None:
        self.close()
        self.hosted_ = Hosted(self._wanted(likelihood, classes, offset, weight))

    @property
    def client_(self) -> Client:
        """The client behind it: posterior(), draws(), status()."""
        check_is_fitted(self)
        return self._hosted().client

    def _hosted(self) -> Hosted:
        if "hosted_" not in self.__dict__:  # after unpickling
            self.hosted_ = Hosted(self._saved_wanted, self._saved)
            del self._saved, self._saved_wanted
        return self.hosted_

    def _ask(self, X: Any, **asked: Any) -> Predictions:
        check_is_fitted(self)
        for name in self._needed:
            if asked.get("offsets" if name == "offset" else name) is None:
                raise InvalidInput(
                    f"the model was fitted with {name}=: give {name}=, one a row, here too; for one of "
                    f"{_PLAIN[name]}"
                )
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._hosted().predict(X, stacklevel=3, **asked)

    def __sklearn_is_fitted__(self) -> bool:
        return "hosted_" in self.__dict__ or "_saved" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        """The pickle has the checkpoint of a daemon of its own, or the address of a server."""
        state = dict(super().__getstate__())
        hosted = state.pop("hosted_", None)
        if hosted is not None:
            state["_saved"] = hosted.save()
            state["_saved_wanted"] = hosted.wanted
        return state

    _saved: dict[str, bytes]
    _saved_wanted: Wanted

    def predictions(self, X: Any, *, offset: Any = None, **asked: Any) -> Predictions:
        """All numbers of a prediction, as `windhover.Client.predict`, with the same arguments.
        `offset` is another name of its `offsets`, as in fit()."""
        if offset is not None:
            if asked.get("offsets") is not None:
                raise InvalidInput("offset= and offsets= are the same: give one of them")
            asked["offsets"] = offset
        return self._ask(X, **asked)


def weighed(sample_weight: Any, x: Any, *columns: Any) -> tuple[Any, ...]:
    """The weights, or None, then `x` and `columns`; without rows of weight 0, which a server does
    not take."""
    if sample_weight is None:
        return (None, x, *columns)
    weights = _check_sample_weight(sample_weight, x, dtype=np.float64)
    kept = weights != 0
    if kept.all():
        return (weights, x, *columns)
    if not kept.any():
        raise InvalidInput("sample_weight is 0 for all rows")
    others = (None if column is None else np.asarray(column)[kept] for column in columns)
    return (weights[kept], x[kept], *others)
