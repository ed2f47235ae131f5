"""Estimators for scikit-learn. Without an address each starts its own `windhoverd`.

    model = StreamingRegressor().fit(X, y)
    lower, upper = model.predict_interval(X, 0.9)
    model.partial_fit(more_X, more_y)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.multiclass import check_classification_targets

from .errors import InvalidInput
from .hosted import MOST_CLASSES
from .results import FloatArray, Predictions
from .streaming import Streaming, validate_data, weighed


class StreamingRegressor(RegressorMixin, Streaming):  # type: ignore[misc]
    """Bayesian regression on a stream.

    Rows are learned from as they come. A prediction waits, at most `settle` seconds, until answers
    include all rows given to this estimator. `close()`, or the end of the process, ends the daemon.

    `likelihood`, `window_size`, `horizon`, `random_state` and `options` are of a daemon of its own;
    a server that runs already has its own.

    Args:
        likelihood: "linear", "student-t", "heteroscedastic", "log-normal", "poisson",
            "negative-binomial", "binomial" or "zero-inflated-poisson"; or "mlp-linear".
        address, query, model, token, producer: of a server that runs, as for `windhover.connect`;
            address None: a daemon of its own. fit() cannot empty a server: its rows come after
            those that the server has.
        tls: ca, server_name, certificate and key for `windhover.connect`: `{"ca": "ca.pem"}`.
        window_size: how many of the newest rows the posterior is about.
        horizon: "window", "adaptive", "forgetting", "fading" or "all": which rows it is about.
        random_state: the daemon's seed is drawn from it.
        options: of the daemon, by dotted name, `{"model.prior_precision": 1.0}`.
        settle: seconds that a prediction waits at most for answers to include all rows and, with a
            daemon of its own, for its learner to rest.

    Attributes:
        n_features_in_: columns.
        client_: the `windhover.Client` behind it.
    """

    def __init__(
        self,
        likelihood: str = "linear",
        *,
        address: str | None = None,
        query: str | None = None,
        model: str = "",
        token: str = "",
        tls: Mapping[str, str] | None = None,
        producer: int = 0,
        window_size: int = 100_000,
        horizon: str = "window",
        random_state: Any = 1,
        options: Mapping[str, object] | None = None,
        settle: float = 10.0,
    ) -> None:
        self.likelihood = likelihood
        self.address = address
        self.query = query
        self.model = model
        self.token = token
        self.tls = tls
        self.producer = producer
        self.window_size = window_size
        self.horizon = horizon
        self.random_state = random_state
        self.options = options
        self.settle = settle

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        trials: Any = None,
    ) -> StreamingRegressor:
        """Starts anew and learns from X, shape (n, features), and y, shape (n,).

        Args:
            sample_weight: shape (n,): as how many equal rows each row counts, 0 or 1e-6 to 1e6. The
                model has weights from then on, 1 where none is given.
            offset: shape (n,): what is added to each row's linear predictor; for counts, the
                logarithm of the exposure. The model has offsets from then on, 0 where partial_fit()
                is given none; predictions need them.
            trials: shape (n,), with likelihood "binomial": out of how many trials each y is.
                Predictions need them too.
        """
        X, y = self._validated(X, y, first=True)
        self._learn(X, y, sample_weight, offset, trials, first=True)
        self.hosted_.settle()
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        trials: Any = None,
    ) -> StreamingRegressor:
        """Learns from more rows, as fit() does. Returns once they are handed over."""
        first = not self.__sklearn_is_fitted__()
        X, y = self._validated(X, y, first)
        self._learn(X, y, sample_weight, offset, trials, first)
        return self

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, trials: Any, first: bool
    ) -> None:
        weights, X, y, offset, trials = weighed(sample_weight, X, y, offset, trials)
        if first:
            self._start(self.likelihood, 0, offset is not None, weights is not None)
            given = {"offset": offset, "trials": trials}
            self._needed = tuple(name for name, column in given.items() if column is not None)
        self._hosted().learn(X, y, offsets=offset, weights=weights, trials=trials, afresh=first)

    def _validated(self, X: Any, y: Any, first: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        kinds = [np.float64, np.float32]
        X, y = validate_data(self, X, y, reset=first, dtype=kinds, y_numeric=True)
        return X, y

    def predict(
        self, X: Any, return_std: bool = False, *, offset: Any = None, trials: Any = None
    ) -> Any:
        """Means of y, shape (n,); with `return_std` also its standard deviations.

        Args:
            offset, trials: shape (n,), as for fit(), for a model that was fitted with them.
        """
        answer = self._ask(X, offsets=offset, trials=trials)
        return (answer.mean, answer.sd) if return_std else answer.mean

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, offset: Any = None, trials: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the central interval that holds y with this probability, each of shape (n,).
        Arguments are those of predict()."""
        return self._ask(X, interval=coverage, offsets=offset, trials=trials).interval()

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        trials: Any = None,
    ) -> float:
        """R^2 of predict(); `offset` and `trials` are as there."""
        answer = self._ask(X, offsets=offset, trials=trials)
        return float(r2_score(y, answer.mean, sample_weight=sample_weight))


class StreamingClassifier(ClassifierMixin, Streaming):  # type: ignore[misc]
    """Bayesian classification on a stream: logistic for two classes, softmax for up to 64.

    Arguments and behaviour are those of StreamingRegressor. On a server class k is `classes_[k]`.

    Attributes:
        classes_: the labels, sorted.
        n_features_in_: columns.
        client_: the `windhover.Client` behind it.
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        address: str | None = None,
        query: str | None = None,
        model: str = "",
        token: str = "",
        tls: Mapping[str, str] | None = None,
        producer: int = 0,
        window_size: int = 100_000,
        horizon: str = "window",
        random_state: Any = 1,
        options: Mapping[str, object] | None = None,
        settle: float = 10.0,
    ) -> None:
        self.address = address
        self.query = query
        self.model = model
        self.token = token
        self.tls = tls
        self.producer = producer
        self.window_size = window_size
        self.horizon = horizon
        self.random_state = random_state
        self.options = options
        self.settle = settle

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StreamingClassifier:
        """Starts anew and learns from X, shape (n, features), and labels y, shape (n,).

        Args:
            sample_weight: as for StreamingRegressor.fit().
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        self._learn(X, y, np.unique(y), sample_weight, first=True)
        self.hosted_.settle()
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> StreamingClassifier:
        """Learns from more rows. Returns once they are handed over.

        Args:
            X, y: shape (n, features) and (n,).
            classes: all labels that there will be, at the first call; None: those of its y.
            sample_weight: as for fit().
        """
        first = not self.__sklearn_is_fitted__()
        X, y = validate_data(self, X, y, reset=first, dtype=[np.float64, np.float32])
        if classes is not None:
            labels = np.unique(classes)
            if not first and not np.array_equal(labels, self.classes_):
                raise InvalidInput(f"classes={labels}: at the first call they were {self.classes_}")
        else:
            labels = np.unique(y) if first else self.classes_
        self._learn(X, y, labels, sample_weight, first)
        return self

    def _learn(self, X: Any, y: Any, labels: NDArray[Any], sample_weight: Any, first: bool) -> None:
        check_classification_targets(y)
        if len(labels) > MOST_CLASSES:
            raise InvalidInput(f"{len(labels)} classes; a model has at most {MOST_CLASSES}")
        places = np.searchsorted(labels, y)
        known = places < len(labels)
        known[known] = labels[places[known]] == np.asarray(y)[known]
        if not known.all():
            raise InvalidInput(f"y has labels that are not among the classes {labels}")
        weights, X, places = weighed(sample_weight, X, places)
        if first:
            self.classes_ = labels
            several = len(labels) > 2
            self._start(
                "softmax" if several else "logistic",
                len(labels) if several else 0,
                weight=weights is not None,
            )
        self._hosted().learn(X, places.astype(X.dtype), weights=weights, afresh=first)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, shape (n, classes)."""
        return self._proba(self._ask(X))

    def _proba(self, answer: Predictions) -> FloatArray:
        if len(self.classes_) == 1:
            return np.ones((len(answer), 1))
        if len(self.classes_) == 2:
            return np.column_stack([1 - answer.epred_mean, answer.epred_mean])
        return answer.probs

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, shape (n,)."""
        chosen = self._proba(self._ask(X)).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Ends of the central posterior interval of each class's probability, (n, classes)."""
        lower, upper = self._ask(X, interval=coverage).interval()
        if lower.ndim == 2:
            return lower, upper
        if len(self.classes_) == 1:
            return np.ones((len(lower), 1)), np.ones((len(lower), 1))
        return np.column_stack([1 - upper, lower]), np.column_stack([1 - lower, upper])
