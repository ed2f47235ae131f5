"""States of a server, its models and its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .provenance import Answer, ModelKind, Provenance, kind_of
from .reasons import Reason


@dataclass(frozen=True)
class PredictionScore:
    """How good predictions were, each made before its row was learned from.

    Attributes:
        memory: rows that it looks back on, older ones counting less; 0: all.
        rows: scored rows that it is worth.
        log_score: mean log p(y | x), nats.
        reference_log_score: the same for predictions that do not know x.
        coverage_50, coverage_80, coverage_90, coverage_95: shares of the outcomes within central
            intervals; with several classes, within sets of the most probable ones.
        conformal_coverage_50, ..., conformal_coverage_95: the same of conformal intervals and sets.
        conformal_size: size of those of 90 %. Numbers and counts: their width over that of the
            model's own, in normal scores. Classes: how many a set has.
        pit: histogram of the outcomes' probability integral transforms: shares in bins of equal
            width from 0 to 1, flat where predictions are calibrated; with several classes from 1/2
            on. Only in `ServerStatus.scores`; empty before a row was scored.
    """

    memory: int
    rows: int
    log_score: float
    reference_log_score: float
    coverage_50: float
    coverage_80: float
    coverage_90: float
    coverage_95: float
    conformal_coverage_50: float
    conformal_coverage_80: float
    conformal_coverage_90: float
    conformal_coverage_95: float
    conformal_size: float
    pit: tuple[float, ...]

    @classmethod
    def of(cls, message: Any) -> PredictionScore:
        values: dict[str, Any] = {name: getattr(message, name) for name in cls.__dataclass_fields__}
        values["pit"] = tuple(message.pit)
        return cls(**values)


@dataclass(frozen=True)
class Latency:
    """Seconds that questions took to answer, without the wait for their turn."""

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
        keeps_folder: without one checkpoint_age is -1, and all else of log and checkpoints 0.
        logged: rows are acknowledged when they are on disk.
        log_status: why senders wait for the log; `Reason.OK`: they do not.
        checkpoint_age: seconds since the newest was taken; -1: none since the server's start.
        checkpoint_status: why the last attempt failed; `Reason.OK`: it did not.

    The others are those of the message Durable in windhover.proto.
    """

    keeps_folder: bool
    logged: bool
    instance_id: int
    durable_through: int
    recovering_through: int
    log_used_bytes: int
    log_capacity_bytes: int
    log_status: Reason
    log_failures: int
    checkpoint_status: Reason
    checkpoints_taken: int
    checkpoint_failures: int
    checkpoint_head: int
    checkpoint_age: float
    producers_known: int
    log_seal_failures: int


_DURABLE_SAME = set(Durable.__dataclass_fields__) - {
    "logged",
    "checkpoint_age",
    "log_status",
    "checkpoint_status",
}


@dataclass(frozen=True)
class ServerStatus(Answer):
    """State of the server and of the connection's model.

    Attributes:
        provenance: of the newest posterior.
        head: observations accepted so far.
        uptime: seconds.
        observe_sessions, query_sessions: connections open now.
        footprint_bytes: fixed memory blocks of the server, its engines and OpenSSL.
        resident_bytes: memory of the process; 0: unknown.
        runtime_counters, io_counters: by their labels.
        observe_latency, query_latency: of the questions on each endpoint.
        scores: of the predictions of the last 1,000, the last 10,000 and all rows since the start;
            empty: predictions are not scored.
        scores_offered: rows that came since the start, scored or not.
        pending_keys: keys of predict() that wait for their outcome.
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
    pending_keys: int

    @classmethod
    def of(cls, m: Any) -> ServerStatus:
        d = m.durable
        same: dict[str, Any] = {name: getattr(d, name) for name in _DURABLE_SAME}
        durable = Durable(
            logged=d.durability == 2,
            log_status=Reason(d.log_status),
            checkpoint_status=Reason(d.checkpoint_status),
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
            pending_keys=m.pending_keys,
        )


@dataclass(frozen=True)
class ModelState(Answer):
    """One model of the server.

    Attributes:
        name, kind: its name, and its likelihood.
        features: columns of a row, without the intercept.
        dimension: number of parameters.
        fingerprint: changes when the meaning of a row does.
        head: observations accepted so far.
        provenance: of its own newest answer.
        follows: the model that its rows come from; empty: they come from senders.
        answered_by: the model whose posterior answers questions about this one.
        paused: it learns nothing, and its rows wait.
        score: over its last 10,000 rows; None: its predictions are not scored.
        log_status: why senders wait for its log; `Reason.OK`: they do not.
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
    log_status: Reason

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
            log_status=Reason(m.log_status),
        )


@dataclass(frozen=True)
class Checkpoint:
    """State of a checkpoint that was asked for.

    Attributes:
        request: number of the request.
        answered: it has been taken, or has failed.
        taken: checkpoints since the server's start.
        failure: why it failed, in words; empty: it did not.
    """

    request: int
    answered: bool
    taken: int
    failure: str
