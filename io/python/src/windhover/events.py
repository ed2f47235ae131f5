"""What has happened to a model."""

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
    """What an event tells of; the protocol says more."""

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
        before, status, reason: the status it had, has, and why.
        times, first_time: how often this change of status has come with nothing but the way back
            between, and since when.
        row: how many rows the learner had taken in.
        number: the one behind the reason; of "resized" the rows of the window.
        rows_before: of "resized", the rows before. Both are NaN where there is none.
        drift_onset, drift_onset_time: of the reason "drift", the row from which on the newest ones
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
        """Takes the message of the wire."""
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
