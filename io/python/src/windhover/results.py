"""What a server answers, as numpy arrays and small records."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidInput

if TYPE_CHECKING:
    import pandas

FloatArray = NDArray[np.float64]


class PosteriorStatus(str, enum.Enum):
    """Whether to believe an answer. Compares equal to its word: `status == "ok"`."""

    WARMING_UP = "warming_up"
    OK = "ok"
    DEGRADED = "degraded"
    DRIFTING = "drifting"
    RECOVERING = "recovering"
    UNKNOWN = "unknown"  # of a newer server

    def __str__(self) -> str:
        return self.value


class PosteriorReason(str, enum.Enum):
    """Why a status is not ok; the protocol says with which number."""

    NONE = "none"
    FEW_DRAWS = "few_draws"
    DRIFT = "drift"
    DEPENDENT_ROWS = "dependent_rows"
    NETWORK = "network"
    LOST_CHAINS = "lost_chains"
    SAMPLERS_LAW = "samplers_law"
    SPREAD = "spread"
    REPLAY_RATIO = "replay_ratio"
    NOT_DEFINITE = "not_definite"
    PRIOR = "prior"
    LAW_UNKNOWN = "law_unknown"
    MISFIT = "misfit"
    REPLAY = "replay"
    PREDICTIVE = "predictive"
    UNKNOWN = "unknown"  # of a newer server

    def __str__(self) -> str:
        return self.value


class Horizon(str, enum.Enum):
    """Which observations the posterior stands on."""

    WINDOW = "window"
    FORGETTING = "forgetting"
    ALL = "all"
    UNKNOWN = "unknown"  # of a newer server

    def __str__(self) -> str:
        return self.value


class ModelKind(str, enum.Enum):
    """The likelihood; of a network, its head."""

    OTHER = "other"
    LINEAR = "linear"
    LOGISTIC = "logistic"
    POISSON = "poisson"
    STUDENT_T = "student-t"
    SOFTMAX = "softmax"

    def __str__(self) -> str:
        return self.value


_E = TypeVar("_E", bound=enum.Enum)


def _nth(kind: type[_E], number: int, otherwise: _E) -> _E:
    members: list[_E] = list(kind)
    return members[number] if 0 <= number < len(members) else otherwise


def kind_of(number: int) -> ModelKind:
    return _nth(ModelKind, number, ModelKind.OTHER)


@dataclass(frozen=True)
class Provenance:
    """Where an answer comes from, and whether to believe it.

    Attributes:
        status, reason: whether, and if not, why.
        age: seconds since the snapshot was made.
        coverage_90: share of the outcomes lately within their 90 % intervals, each predicted before
            it was learned from. NaN: nobody scores, or the server is from before this number.
        snapshot_id: 1, 2, ... within the life of the server.
        sequence: all observations below this one are included.
        n_seen, n_eff: observations taken in, and how many the posterior stands on.
        steps: of all chains together.
        draws: retained draws behind quantiles and probabilities.

    The others are named and documented as in the protocol's message of this name.
    """

    status: PosteriorStatus
    reason: PosteriorReason
    age: float
    coverage_90: float
    horizon: Horizon
    snapshot_id: int
    sequence: int
    n_seen: int
    n_eff: int
    steps: int
    draws: int
    divergences: int
    recovery_target: int
    ess_bulk: float
    ess_tail: float
    r_hat: float
    draws_per_observation: float
    ou_ratio: float
    misspecification_index: float
    noise_variance: float
    noise_variance_sd: float
    autocorrelation_time: float
    score_autocorrelation: float
    drift_score: float
    repeated_rows: float
    law_ratio: float
    prior_conflict: float

    @property
    def ok(self) -> bool:
        return self.status is PosteriorStatus.OK

    @classmethod
    def of(cls, message: Any) -> Provenance:
        """Takes the message of the wire."""
        status = _nth(PosteriorStatus, message.state, PosteriorStatus.UNKNOWN)
        reason = _nth(PosteriorReason, message.reason, PosteriorReason.UNKNOWN)
        # proto3 sends no zeros, and an older server nothing: only the reason tells them apart.
        coverage = getattr(message, "coverage_90", 0.0)
        if coverage == 0.0 and reason is not PosteriorReason.PREDICTIVE:
            coverage = math.nan
        return cls(
            status=status,
            reason=reason,
            age=message.age_ns * 1e-9,
            coverage_90=coverage,
            horizon=_nth(Horizon, message.horizon, Horizon.UNKNOWN),
            **{name: getattr(message, name) for name in _SAME},
        )


_SAME = tuple(Provenance.__dataclass_fields__)[5:]


class _Answer:
    """What stands on every answer."""

    provenance: Provenance

    @property
    def status(self) -> PosteriorStatus:
        """Whether to believe it."""
        return self.provenance.status

    @property
    def reason(self) -> PosteriorReason:
        """Why the status is not ok."""
        return self.provenance.reason

    @property
    def age(self) -> float:
        """Seconds since its snapshot was made."""
        return self.provenance.age

    @property
    def coverage_90(self) -> float:
        """Share of the outcomes lately within their 90 % intervals, or NaN."""
        return self.provenance.coverage_90


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


class Predictions(_Answer):
    """Predictions for n rows: arrays of shape (n,), of a softmax model also (n, classes).

    What does not apply to the model is 0, or has no columns. `provenance` is that of the answer; where
    X was asked in several pieces, that of the worst of them, and `provenances` has all.
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
    exceedance = _Table("Regression: P(y > t), shape (n, thresholds).")
    probs = _Table("Softmax: probabilities, shape (n, classes).")
    probs_sd = _Table("Softmax: their sd over the posterior, shape (n, classes).")

    def __init__(
        self,
        results: Sequence[Any],
        interval: float,
        quantiles: Sequence[float],
        ask: Callable[[float, Sequence[float]], Predictions] | None = None,
    ) -> None:
        self._rows = [row for result in results for row in result.predictions]
        self._interval = interval
        self._quantiles = tuple(quantiles)
        self._ask = ask
        self._kept: dict[str, FloatArray] = {}
        self.provenances = tuple(Provenance.of(result.provenance) for result in results)
        self.provenance = next((p for p in self.provenances if not p.ok), self.provenances[0])

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<Predictions of {len(self)} rows, status {self.status}, reason {self.reason}>"

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

    def quantile(self, probability: float | Sequence[float]) -> FloatArray:
        """Quantiles: shape (n,) of one probability, (n, k) of k.

        Those not given to predict() are asked of the server now, as in interval().
        """
        wanted = [probability] if isinstance(probability, (int, float)) else list(probability)
        if all(one in self._quantiles for one in wanted):
            columns = [self._quantiles.index(one) for one in wanted]
            table = self._arrays("quantiles")[:, columns]
        else:
            table = self._another(self._interval, wanted)._arrays("quantiles")
        return table[:, 0] if isinstance(probability, (int, float)) else table

    def _another(self, interval: float, quantiles: Sequence[float]) -> Predictions:
        if self._ask is None:
            raise InvalidInput(
                "this was not asked for: give interval= and quantiles= to predict()"
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
            self._kept[name] = table.reshape(len(rows), -1) if table.size else np.empty((len(rows), 0))
        return self._kept[name]


@dataclass(frozen=True, repr=False)
class Posterior(_Answer):
    """Marginals of the parameters: each array has one number a parameter, the intercept last.

    Attributes:
        mean, mode, sd: of the posterior; mode is NaN of a network.
        sd_robust: of the sandwich, which holds when the model does not; or NaN.
        q5, q50, q95: quantiles of the draws.
        ess_bulk, ess_tail, r_hat: of the chains.
        mcse_mean: Monte Carlo error of the chains' mean.
        autocorrelation_time: of one chain, in steps, or NaN.
        prior_precision: given or learned.
    """

    provenance: Provenance
    mean: FloatArray
    mode: FloatArray
    sd: FloatArray
    sd_robust: FloatArray
    q5: FloatArray
    q50: FloatArray
    q95: FloatArray
    ess_bulk: FloatArray
    r_hat: FloatArray
    ess_tail: FloatArray
    mcse_mean: FloatArray
    autocorrelation_time: FloatArray
    prior_precision: FloatArray
    names: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        return f"<Posterior of {len(self)} parameters, status {self.status}, reason {self.reason}>"

    def to_dataframe(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """A row a parameter, a column an array. Needs pandas."""
        import pandas

        columns = {name: getattr(self, name) for name in POSTERIOR_ARRAYS}
        return pandas.DataFrame(columns, index=list(names or self.names))


POSTERIOR_ARRAYS = tuple(Posterior.__dataclass_fields__)[1:-1]


@dataclass(frozen=True, repr=False)
class Draws(_Answer):
    """All retained draws of one snapshot.

    Attributes:
        theta: shape (draws, dimension), a parameter a column, the intercept last.
        names: of the columns.
    """

    provenance: Provenance
    theta: FloatArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.theta)

    def __repr__(self) -> str:
        draws, dimension = self.theta.shape
        return f"<{draws} draws of {dimension} parameters, status {self.status}>"

    def to_dataframe(self) -> pandas.DataFrame:
        """A row a draw, a column a parameter. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.theta, columns=list(self.names))

    def to_inferencedata(self) -> Any:
        """ArviZ InferenceData: `posterior` has theta, with the coordinate `parameter`. Needs ArviZ.

        The draws are those of all chains mixed, as one chain: take `ess_bulk` and `r_hat` from
        `posterior()`, not from ArviZ.
        """
        import arviz

        groups = {"posterior": {"theta": self.theta[np.newaxis]}}
        named = {"coords": {"parameter": list(self.names)}, "dims": {"theta": ["parameter"]}}
        if int(arviz.__version__.split(".")[0]) >= 1:
            data = arviz.from_dict(groups, **named)
        else:
            data = arviz.from_dict(**groups, **named)
        data["posterior"].attrs.update(status=str(self.status), reason=str(self.reason))
        return data


@dataclass(frozen=True)
class PredictionScore:
    """What predictions were worth, each made before its row was learned from.

    Attributes:
        memory: rows that it looks back on, older ones counting less; 0: all.
        rows: that it is worth.
        log_score: mean log p(y | x), nats.
        reference_log_score: of who knows no x.
        coverage_50, coverage_80, coverage_90, coverage_95: shares of the outcomes within central
            intervals; NaN of classes.
    """

    memory: int
    rows: int
    log_score: float
    reference_log_score: float
    coverage_50: float
    coverage_80: float
    coverage_90: float
    coverage_95: float

    @classmethod
    def of(cls, message: Any) -> PredictionScore:
        return cls(*(getattr(message, name) for name in cls.__dataclass_fields__))


@dataclass(frozen=True)
class Latency:
    """Seconds between a question being found in the server's buffer and its answer standing there."""

    count: int
    p50: float
    p99: float
    p999: float
    max: float

    @classmethod
    def of(cls, message: Any) -> Latency:
        parts = (message.p50_ns, message.p99_ns, message.p999_ns, message.max_ns)
        return cls(message.count, *(part * 1e-9 for part in parts))


@dataclass(frozen=True)
class Durable:
    """What the server keeps on disk; rows count like `head`, over restarts.

    Attributes:
        keeps_folder: without one the rest is 0.
        logged: rows are acknowledged when they are on disk.
        checkpoint_age: seconds since the newest; -1: this start has taken none.

    The others are named as in the protocol.
    """

    keeps_folder: bool
    logged: bool
    instance_id: int
    durable_through: int
    recovering_through: int
    log_used_bytes: int
    log_capacity_bytes: int
    log_failures: int
    checkpoints_taken: int
    checkpoint_failures: int
    checkpoint_head: int
    checkpoint_age: float
    producers_known: int


_DURABLE_SAME = set(Durable.__dataclass_fields__) - {"logged", "checkpoint_age"}


@dataclass(frozen=True)
class ServerStatus(_Answer):
    """How the server and the model spoken of stand.

    Attributes:
        provenance: of the newest posterior.
        head: observations accepted so far.
        uptime: seconds.
        observe_sessions, query_sessions: connections open now.
        footprint_bytes, resident_bytes: the memory block; of the process, 0 if unknown.
        runtime_counters, io_counters: by their labels.
        observe_latency, query_latency: of the questions on each endpoint.
        scores: of the predictions of the last 1,000, the last 10,000 and all rows; empty: nobody scores.
        scores_offered: rows that came since the start, scored or not.
    """

    provenance: Provenance
    head: int
    uptime: float
    observe_sessions: int
    query_sessions: int
    footprint_bytes: int
    resident_bytes: int
    runtime_counters: dict[str, int]
    io_counters: dict[str, int]
    observe_latency: Latency
    query_latency: Latency
    durable: Durable
    scores: tuple[PredictionScore, ...]
    scores_offered: int

    @classmethod
    def of(cls, m: Any) -> ServerStatus:
        d = m.durable
        same: dict[str, Any] = {name: getattr(d, name) for name in _DURABLE_SAME}
        durable = Durable(
            logged=d.durability == 2,
            checkpoint_age=d.checkpoint_age_ns * 1e-9 if d.checkpoint_age_ns >= 0 else -1.0,
            **same,
        )
        return cls(
            provenance=Provenance.of(m.provenance),
            head=m.head,
            uptime=m.uptime_ns * 1e-9,
            observe_sessions=m.observe_sessions,
            query_sessions=m.query_sessions,
            footprint_bytes=m.footprint_bytes,
            resident_bytes=m.resident_bytes,
            runtime_counters={c.label: c.value for c in m.runtime_counters},
            io_counters={c.label: c.value for c in m.io_counters},
            observe_latency=Latency.of(m.observe_latency),
            query_latency=Latency.of(m.query_latency),
            durable=durable,
            scores=tuple(PredictionScore.of(s) for s in m.scores),
            scores_offered=m.scores_offered,
        )


@dataclass(frozen=True)
class ModelState(_Answer):
    """One model of the server.

    Attributes:
        name, kind: its name, and its likelihood.
        features, dimension: columns of a row, without the intercept; parameters.
        fingerprint: changes when the meaning of a row does.
        head: observations accepted so far.
        provenance: of its own newest answer.
        follows: the model that its rows come from; empty: they come from senders.
        answered_by: the model whose posterior answers questions about this one.
        paused: it learns nothing, and its rows wait.
        score: over its last 10,000 rows; None: nobody scores.
    """

    name: str
    kind: ModelKind
    features: int
    dimension: int
    fingerprint: int
    head: int
    provenance: Provenance
    follows: str
    answered_by: str
    paused: bool
    score: PredictionScore | None

    @classmethod
    def of(cls, m: Any) -> ModelState:
        return cls(
            name=m.name,
            kind=kind_of(m.model),
            features=m.features,
            dimension=m.dimension,
            fingerprint=m.fingerprint,
            head=m.head,
            provenance=Provenance.of(m.provenance),
            follows=m.follows,
            answered_by=m.answered_by,
            paused=m.paused,
            score=PredictionScore.of(m.score) if m.HasField("score") else None,
        )


@dataclass(frozen=True)
class Checkpoint:
    """How a checkpoint that was asked for fares.

    Attributes:
        request: the number to ask after.
        answered: it has been taken, or has failed.
        taken: checkpoints since the server's start.
        failure: why it failed, in words; empty: it did not.
    """

    request: int
    answered: bool
    taken: int
    failure: str
