"""Events of a model."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from .provenance import PosteriorReason, PosteriorStatus, nth

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _time(ns: int) -> datetime | None:
    return _EPOCH + timedelta(microseconds=ns // 1000) if ns else None


class EventKind(str, enum.Enum):
    """What an event is about; windhover.proto says more."""

    NONE = "none"
    STARTED = "started"
    STATUS = "status"
    DRIFT = "drift"
    COLD_START_OVER = "cold_start_over"
    STARTED_OVER = "started_over"
    RESIZED = "resized"
    LIMIT_ASIDE = "limit_aside"
    LIMIT_BACK = "limit_back"
    RECOVERED = "recovered"
    PAUSED = "paused"
    WENT_ON = "went_on"
    UNKNOWN = "unknown"  # from a newer server

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Event:
    """Something that has happened to a model. Times are the server's, in UTC.

    Attributes:
        id: 1, 2, ... in the life of the model, checkpoints included.
        before, status, reason: of kind "status": the status before and after, and why.
        times: how often this change of status has come since first_time, with only the change back
            in between; otherwise 1.
        row: how many rows the learner had taken in.
        number: the number behind the reason; of kind "resized", the window's rows; or NaN.
        rows_before: of kind "resized", the window's rows before; otherwise NaN.
        drift_onset, drift_onset_time: of reason "drift", the row from which on the newest rows
            differ, and when it came; 0 and None: not known.
    """

    id: int
    kind: EventKind
    time: datetime | None
    times: int
    first_time: datetime | None
    row: int
    before: PosteriorStatus
    status: PosteriorStatus
    reason: PosteriorReason
    number: float
    rows_before: float
    drift_onset: int
    drift_onset_time: datetime | None

    @classmethod
    def of(cls, m: Any) -> Event:
        """From the protocol's message."""
        return cls(
            id=m.id,
            kind=nth(EventKind, m.kind, EventKind.UNKNOWN),
            time=_time(m.time_ns),
            times=m.times,
            first_time=_time(m.first_time_ns),
            row=m.row,
            before=nth(PosteriorStatus, getattr(m, "from"), PosteriorStatus.UNKNOWN),
            status=nth(PosteriorStatus, m.state, PosteriorStatus.UNKNOWN),
            reason=nth(PosteriorReason, m.reason, PosteriorReason.UNKNOWN),
            number=m.number,
            rows_before=m.before,
            drift_onset=m.drift_onset,
            drift_onset_time=_time(m.drift_onset_time_ns),
        )
