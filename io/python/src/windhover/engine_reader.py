"""Questions to an engine in this process, and its answers as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .asked import Asked
from .contrasts import Contrasts, Group
from .engine_arrays import arguments, check, taken, texts
from .errors import InvalidInput
from .events import Event
from .posterior import POSTERIOR_ARRAYS, Draws, Posterior, parameter_names
from .provenance import ModelKind, Provenance
from .results import PENDING, Ask, FloatArray, Predictions
from .rows import column_of

if TYPE_CHECKING:
    from . import _engine

# Models whose answers are probabilities of several classes.
_CATEGORICAL = ("softmax", "mlp-softmax", "drbm")
_NETWORKS = ("mlp-linear", "mlp-logistic", "mlp-softmax", "drbm")

# The library's tables, by their names in `Predictions`.
_TABLES = {
    "quantile_table": "quantiles",
    "exceedance": "exceedance",
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

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ask": None}

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
    """Arrays into which the library writes its answers about n rows."""

    def __init__(self, n: int, asked: Asked, classes: int, dtype: np.dtype[Any]) -> None:
        self._numbers: Any = np.zeros(n, dtype=dtype)
        widths = dict.fromkeys(_TABLES, classes)
        widths |= {"quantile_table": len(asked.quantiles), "exceedance": len(asked.thresholds)}
        self._tables = {name: np.zeros((n, width)) for name, width in widths.items()}

    def arguments(self, begin: int, end: int) -> dict[str, Any]:
        """The arrays of rows `begin` to `end`, as arguments of `_engine`."""
        tables = {name: table[begin:end] for name, table in self._tables.items()}
        return tables | {"predictions": self._numbers[begin:end]}

    def arrays(self) -> dict[str, FloatArray]:
        """Views of the arrays, by their names in `Predictions`."""
        columns = {name: self._numbers[name] for name in self._numbers.dtype.names}
        return columns | {_TABLES[name]: table for name, table in self._tables.items()}


class Reader:
    """A reader of the library. One thread at a time may call it."""

    def __init__(
        self, library: _engine.Library, engine: _engine.Engine, options: _engine.Options
    ) -> None:
        from . import _engine

        self._c = library
        self._options = options
        self._tables = _engine
        self._reader = _engine.Reader(engine)
        self._dimension = engine.dimension
        name = options.model
        kind = ModelKind(name) if name in list(ModelKind) else ModelKind.OTHER
        self._categorical = name in _CATEGORICAL
        self._kind = kind

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the parameters. They are made on demand, because there may be millions."""
        options = self._options
        classes = int(options.classes) if self._categorical else 0
        network = options.model in _NETWORKS
        return parameter_names(int(options.features), self._dimension, self._kind, classes, network)

    def predict(
        self,
        X: Any,
        asked: Asked,
        columns: dict[str, Any],
        key: str | Sequence[str] | None,
        ask: Ask | None,
    ) -> EnginePredictions:
        asked.check(self._tables.MAX_QUANTILES, self._tables.MAX_THRESHOLDS, "the engine")
        rows = taken(self._options, X, None)
        n = rows.count
        if not n:
            raise InvalidInput("X has no rows")
        arrays = {k: column_of(k, v, n) for k, v in columns.items() if v is not None}
        names = texts(key, n)
        classes = int(self._options.classes) if self._categorical else 0
        written = _Written(n, asked, classes, self._tables.PREDICTION)
        wanted: dict[str, Any] = {
            "interval": asked.interval,
            "thompson_id": asked.thompson_id,
            "posterior_spread": asked.posterior_spread,
            "quantiles": np.asarray(asked.quantiles, dtype=np.float64),
            "thresholds": np.asarray(asked.thresholds, dtype=np.float64),
            "classes": classes,
        }
        provenances = []
        step = int(self._options.max_query_rows)
        for begin in range(0, n, step):
            end = min(n, begin + step)
            status, where = self._reader.predict(
                **arguments(rows, arrays, begin, end),
                **written.arguments(begin, end),
                **wanted,
                keys=names[begin:end],
            )
            check(self._c, status)
            provenances.append(Provenance.of(where))
        return EnginePredictions(written.arrays(), provenances, asked, ask)

    def posterior(self) -> Posterior:
        table: Any = np.zeros(self._dimension, dtype=self._tables.PARAMETER)
        status, where = self._reader.posterior(table)
        check(self._c, status)
        arrays = {name: table[name] for name in POSTERIOR_ARRAYS}
        return Posterior(Provenance.of(where), names=self._names, **arrays)

    def contrasts(self, columns: Sequence[int], against: int | None) -> Contrasts:
        group = Group(columns, against, int(self._options.features), self._names)
        if group.has_one_predictor and not self._options.max_nonzeros:
            answer = self.predict(group.rows(), Asked(posterior_spread=True), {}, None, None)
            exact = group.exact(answer)
            if exact is not None:
                return exact
        return group.drawn(self.posterior(), self.draws())

    def draws(self) -> Draws:
        theta = np.zeros((int(self._options.retained_draws), self._dimension))
        status, where = self._reader.draws(theta)
        check(self._c, status)
        return Draws(Provenance.of(where), theta[: where.draws], self._names)

    def provenance(self) -> Provenance:
        """Provenance of the newest snapshot."""
        status, where = self._reader.draws(np.zeros((0, self._dimension)))
        check(self._c, status)
        return Provenance.of(where)

    def events(self) -> list[Event]:
        status, events = self._reader.events()
        check(self._c, status)
        return [Event.of(event) for event in events]

    def close(self) -> None:
        self._reader.destroy()
