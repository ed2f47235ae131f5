"""What can go wrong, as exceptions, and what is only worth a warning."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Reason(enum.IntEnum):
    """Why the server refused a row, a frame or a request; numbers as on the wire.

    Reasons of a newer server become `REFUSED`.
    """

    OK = 0
    INVALID_CONFIG = 1
    ARENA_TOO_SMALL = 2
    INVALID_ARGUMENT = 3
    WINDOW_FULL = 4
    WRONG_DIMENSION = 5
    NOT_FINITE = 6
    TARGET_OUT_OF_DOMAIN = 7
    INDEX_OUT_OF_RANGE = 8
    INDICES_NOT_INCREASING = 9
    TOO_MANY_NONZEROS = 10
    TOO_LARGE = 11
    MALFORMED = 12
    UNSUPPORTED = 13
    NOT_PERMITTED = 14
    UNAVAILABLE = 15
    TIMEOUT = 16
    CLOSED = 17
    NOT_READY = 18
    DIVERGED = 19
    NOT_POSITIVE_DEFINITE = 20
    IO_ERROR = 21
    REFUSED = 22
    LOG_FULL = 23
    OFFSET_OUT_OF_RANGE = 24
    OFFSET_NOT_TAKEN = 25
    KEY_NOT_TAKEN = 26
    UNKNOWN_KEY = 27
    KEY_TIMED_OUT = 28
    WEIGHT_OUT_OF_RANGE = 29
    WEIGHT_NOT_TAKEN = 30
    TRIALS_OUT_OF_RANGE = 31
    TRIALS_NOT_TAKEN = 32
    TRIALS_MISSING = 33
    SEQUENCE_GAP = 64
    PRODUCER_BUSY = 65
    TABLE_FULL = 66
    FINGERPRINT_MISMATCH = 67
    HELLO_REQUIRED = 68
    UNKNOWN_PRODUCER = 69
    TOO_MANY_PRODUCERS = 70
    NOT_DURABLE = 71
    UNKNOWN_MODEL = 72

    @classmethod
    def _missing_(cls, value: object) -> Reason | None:
        return cls.REFUSED if isinstance(value, int) else None

    @property
    def words(self) -> str:
        """The reason in plain words."""
        return _WORDS[self]


_WORDS = {
    Reason.OK: "nothing is wrong",
    Reason.INVALID_CONFIG: "the configuration is not valid",
    Reason.ARENA_TOO_SMALL: "the server's memory block is too small",
    Reason.INVALID_ARGUMENT: "an argument is not valid",
    Reason.WINDOW_FULL: "the learner is behind and the window has no room",
    Reason.WRONG_DIMENSION: "the row has another number of columns than the model",
    Reason.NOT_FINITE: "a number is NaN, infinite or beyond 1e35",
    Reason.TARGET_OUT_OF_DOMAIN: "the target is not one that the model knows",
    Reason.INDEX_OUT_OF_RANGE: "a column number is not below the number of columns",
    Reason.INDICES_NOT_INCREASING: "column numbers do not increase within a row",
    Reason.TOO_MANY_NONZEROS: "a row has more nonzero values than the model takes",
    Reason.TOO_LARGE: "the request is larger than the server takes",
    Reason.MALFORMED: "the server could not read the request",
    Reason.UNSUPPORTED: "the server, this endpoint of it or the model does not do that",
    Reason.NOT_PERMITTED: "not permitted",
    Reason.UNAVAILABLE: "the server has no room for it now",
    Reason.TIMEOUT: "the server waited too long for this client",
    Reason.CLOSED: "the server is stopping",
    Reason.NOT_READY: "there is no posterior yet",
    Reason.DIVERGED: "the chains diverged",
    Reason.NOT_POSITIVE_DEFINITE: "a matrix is not positive definite",
    Reason.IO_ERROR: "the server's disk or network failed",
    Reason.REFUSED: "it says no more than that",
    Reason.LOG_FULL: "the server's log has no room until its next checkpoint",
    Reason.OFFSET_OUT_OF_RANGE: "the offset is NaN or too large",
    Reason.OFFSET_NOT_TAKEN: "the model's rows have no offset: model.offset is false",
    Reason.KEY_NOT_TAKEN: "the server keeps no keys: labels.pending, how many may wait, is 0",
    Reason.UNKNOWN_KEY: "nobody has asked with this key, or long ago, or before a restart",
    Reason.KEY_TIMED_OUT: "the outcome came later than labels.timeout_seconds",
    Reason.WEIGHT_OUT_OF_RANGE: "the weight is not between 1e-6 and 1e6",
    Reason.WEIGHT_NOT_TAKEN: "the model counts every row once: model.weight is false",
    Reason.TRIALS_OUT_OF_RANGE: "the number of trials is not a whole number of 1 to 1e9",
    Reason.TRIALS_NOT_TAKEN: "the model's rows have no trials: it is not binomial",
    Reason.TRIALS_MISSING: "the model is binomial: each row needs the number of its trials",
    Reason.SEQUENCE_GAP: "rows of this producer are missing before these",
    Reason.PRODUCER_BUSY: "another connection speaks for this producer",
    Reason.TABLE_FULL: "the server knows as many producers as it can",
    Reason.FINGERPRINT_MISMATCH: "rows mean something else to the server than to this client",
    Reason.HELLO_REQUIRED: "the conversation has not begun with Hello",
    Reason.UNKNOWN_PRODUCER: "the server does not know the producer: its first row must be row 0",
    Reason.TOO_MANY_PRODUCERS: "this connection speaks for as many producers as it may",
    Reason.NOT_DURABLE: "the server keeps no log on disk",
    Reason.UNKNOWN_MODEL: "the server has no model of that name",
}


class WindhoverError(Exception):
    """Base of all that this package raises about a server or its answers."""


class InvalidInput(WindhoverError, ValueError):
    """Arrays or options that cannot be sent: nothing of the call was."""


class Unreachable(WindhoverError, ConnectionError):
    """Nobody listens at the address, or it cannot be reached."""


class CertificateRefused(WindhoverError, ConnectionError):
    """The server's certificate is not one of an authority that is trusted, of this name and time."""


class Disconnected(WindhoverError, ConnectionError):
    """The connection broke. Rows that were on their way are accounted for in `totals`."""


class TimedOut(WindhoverError, TimeoutError):
    """No byte came or went for `reply_timeout` seconds. The connection is still open."""


class ProtocolError(WindhoverError):
    """The server's answer cannot be read, or is not what was asked for."""


class Refused(WindhoverError):
    """The server refuses a request or a whole frame of rows.

    Attributes:
        reason: why.
        number: what the server sent with it (`Refusal.number` of the protocol), or 0.
        closing: the server closed the connection with it.
    """

    def __init__(
        self, reason: Reason, number: int = 0, closing: bool = False, text: str | None = None
    ) -> None:
        self.reason = reason
        self.number = number
        self.closing = closing
        super().__init__(
            text or f"the server refuses ({reason.name.lower()}): {_helped(reason, number)}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _refused, (self.reason, self.number, self.closing, str(self))


class NotPermitted(Refused, PermissionError):
    """The token, certificate or user has not the role that this asks for."""


class UnknownModel(Refused):
    """The server has no model of that name."""


class ProducerBusy(Refused):
    """Another connection speaks for this producer, or did until a moment ago."""


class RowsMissing(WindhoverError):
    """After a reconnection: rows that neither the server nor this client has any more.

    The connection is open. `go_back(sequence)` comes next where the caller still has them,
    otherwise `leave_missing()`.

    Attributes:
        first: sequence number of the first missing row.
        count: how many there are.
    """

    def __init__(self, first: int, count: int) -> None:
        self.first = first
        self.count = count
        super().__init__(
            f"the server no longer has {times(count, 'row')} of this producer, from sequence "
            f"number {first} on, nor are they kept here: go_back() or leave_missing()"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return RowsMissing, (self.first, self.count)


class RowsRefused(WindhoverError):
    """The server refused some rows; the others were learned.

    Attributes:
        rows: int64, shape (n,): which, counted over all rows this client has sent, from 0.
            `observe` returns the number of its first row, so `rows - first` are indices into that
            call's X.
        reasons: n reasons.
        count: how many were refused; more than n where the server did not list all of them.
        cells: n texts, "column 1 is nan" or "y is -1": what is to blame; "" where that is not known.
    """

    def __init__(
        self,
        rows: NDArray[np.int64],
        reasons: list[Reason],
        count: int,
        cells: Sequence[str] | None = None,
    ) -> None:
        self.rows = rows
        self.reasons = reasons
        self.count = count
        self.cells = list(cells) if cells is not None else [""] * len(reasons)
        super().__init__(refused_text(rows, reasons, count, self.cells))

    def __reduce__(self) -> tuple[Any, ...]:
        return RowsRefused, (self.rows, self.reasons, self.count, self.cells)


class WindhoverWarning(UserWarning):
    """Base of this package's warnings."""


class PosteriorWarning(WindhoverWarning):
    """An answer came from a posterior whose status is not ok."""


class RowsLostWarning(WindhoverWarning):
    """The server came back without rows that it had acknowledged and that were no longer kept here.

    They are in `totals.lost`.
    """


class RowsRefusedWarning(WindhoverWarning):
    """As `RowsRefused`, where `refused_rows="warn"`."""


def times(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def refused_text(
    rows: NDArray[np.int64], reasons: list[Reason], count: int, cells: list[str]
) -> str:
    shown = [
        f"row {row}: {why.words}" + (f" ({cell})" if cell else "")
        for row, why, cell in zip(rows[:3].tolist(), reasons, cells)
    ]
    if count > len(shown):
        shown.append("...")
    return f"{times(count, 'row')} refused ({'; '.join(shown)})"


_ROLES = {1: "observe", 2: "query", 4: "admin"}


def _helped(reason: Reason, number: int) -> str:
    if reason is Reason.NOT_PERMITTED:
        if number in _ROLES:
            return f"this identity has not the role {_ROLES[number]} here"
        return "it knows no identity that may come here by this token, certificate or user"
    if reason is Reason.SEQUENCE_GAP:
        return f"{reason.words}; it expects sequence number {number}"
    if reason is Reason.UNKNOWN_MODEL and number:
        return f"{reason.words}; it has {times(number, 'model')}"
    if reason is Reason.TOO_LARGE and number:
        return f"{reason.words}; the limit is {number}"
    return reason.words


_CLASSES = {
    Reason.NOT_PERMITTED: NotPermitted,
    Reason.UNKNOWN_MODEL: UnknownModel,
    Reason.PRODUCER_BUSY: ProducerBusy,
}


def _refused(reason: Reason, number: int, closing: bool, text: str | None) -> Refused:
    return _CLASSES.get(reason, Refused)(reason, number, closing, text)


def refusal(
    reason: int, number: int = 0, closing: bool = False, text: str | None = None
) -> Refused:
    """The exception for a reason of the wire."""
    return _refused(Reason(reason), number, closing, text)
