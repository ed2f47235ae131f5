"""Where an answer comes from, and whether to believe it."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar


class PosteriorStatus(str, enum.Enum):
    """Whether to believe an answer. Compares equal to its word: `status == "ok"`."""

    WARMING_UP = "warming_up"
    OK = "ok"
    DEGRADED = "degraded"
    DRIFTING = "drifting"
    RECOVERING = "recovering"
    UNKNOWN = "unknown"  # from a newer server

    def __str__(self) -> str:
        return self.value


class PosteriorReason(str, enum.Enum):
    """Why a status is not ok; windhover.proto says which number is behind each reason."""

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
    UNKNOWN = "unknown"  # from a newer server

    def __str__(self) -> str:
        return self.value


class Horizon(str, enum.Enum):
    """Which observations the posterior is about."""

    WINDOW = "window"
    FADING = "fading"
    ALL = "all"
    ADAPTIVE = "adaptive"
    FORGETTING = "forgetting"
    UNKNOWN = "unknown"  # from a newer server

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
    NEGATIVE_BINOMIAL = "negative-binomial"
    LOG_NORMAL = "log-normal"
    BINOMIAL = "binomial"
    ZERO_INFLATED_POISSON = "zero-inflated-poisson"
    HETEROSCEDASTIC = "heteroscedastic"

    def __str__(self) -> str:
        return self.value


_E = TypeVar("_E", bound=enum.Enum)


@cache
def _members(kind: type[_E]) -> tuple[_E, ...]:
    return tuple(kind)


def nth(kind: type[_E], number: int, otherwise: _E) -> _E:
    members = _members(kind)
    return members[number] if 0 <= number < len(members) else otherwise


def kind_of(number: int) -> ModelKind:
    return nth(ModelKind, number, ModelKind.OTHER)


@dataclass(frozen=True)
class Provenance:
    """Where an answer comes from, and whether to believe it.

    Attributes:
        status, reason: whether to believe the answer, and if not, why.
        age: seconds since the snapshot was made.
        coverage_90: share of the latest outcomes that lay within their 90 % intervals, each
            predicted before it was learned from. NaN: predictions are not scored, or the server is
            from before this field.
        conformal_coverage_90: the same for their conformal intervals and sets.
        snapshot_id: 1, 2, ... within the life of the server.
        sequence: all observations below this one are included.
        n_seen: observations taken in when the snapshot was made.
        n_eff: observations that the posterior is worth.
        steps: of all chains together.
        draws: retained draws behind quantiles and probabilities.

    The others are those of the message of this name in windhover.proto.
    """

    status: PosteriorStatus
    reason: PosteriorReason
    age: float
    coverage_90: float
    conformal_coverage_90: float
    horizon: Horizon
    snapshot_id: int
    sequence: int
    n_seen: int
    n_eff: int
    steps: int
    draws: int
    divergences: int
    recovery_target: int
    drift_onset: int
    drift_onset_time_ns: int
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
    r_hat_chance: float
    robust_spread: bool

    @property
    def ok(self) -> bool:
        return self.status is PosteriorStatus.OK

    @classmethod
    def of(cls, message: Any) -> Provenance:
        """From the protocol's message."""
        status = nth(PosteriorStatus, message.state, PosteriorStatus.UNKNOWN)
        reason = nth(PosteriorReason, message.reason, PosteriorReason.UNKNOWN)
        # proto3 sends neither a 0 nor, from an older server, the field: only the reason tells.
        coverage = getattr(message, "coverage_90", 0.0)
        if coverage == 0.0 and reason is not PosteriorReason.PREDICTIVE:
            coverage = math.nan
        conformal = getattr(message, "conformal_coverage_90", 0.0)
        return cls(
            status=status,
            reason=reason,
            age=message.age_ns * 1e-9,
            coverage_90=coverage,
            conformal_coverage_90=conformal if conformal != 0.0 else math.nan,
            horizon=nth(Horizon, message.horizon, Horizon.UNKNOWN),
            **{name: getattr(message, name) for name in _SAME},
        )


_SAME = tuple(Provenance.__dataclass_fields__)[6:]


class Answer:
    """What every answer has."""

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
        """Share of the latest outcomes within their 90 % intervals, or NaN."""
        return self.provenance.coverage_90
