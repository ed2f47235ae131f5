"""Exceptions and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reasons import Reason


class WindhoverError(Exception):
    """Base of this package's exceptions."""


class InvalidInput(WindhoverError, ValueError):
    """Arguments are not valid, and nothing was sent; or the client or engine is closed, or of the
    process that this one was forked from."""


class Unreachable(WindhoverError, ConnectionError):
    """Nobody listens at the address, or it cannot be reached."""


class CertificateRefused(WindhoverError, ConnectionError):
    """The server's certificate is of no trusted authority, of another name, or out of date."""


class Disconnected(WindhoverError, ConnectionError):
    """The connection broke. `totals` says what became of the rows on their way."""


class TimedOut(WindhoverError, TimeoutError):
    """No byte came or went for `reply_timeout` seconds; the connection is still open. Connecting
    and Engine.wait() raise it when their own time is up."""


class ProtocolError(WindhoverError):
    """The server's answer cannot be read, or is not what was asked for."""


class Refused(WindhoverError):
    """The server, or an Engine, refuses a request or a whole frame of rows.

    Attributes:
        reason: why.
        number: what the server sent with it (`Refusal.number` of windhover.proto), or 0.
        closing: the server closes the connection after it.
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
    """The client's token, certificate or user has not the role that the request needs."""


class UnknownModel(Refused):
    """The server has no model of that name."""


class ProducerBusy(Refused):
    """Another connection speaks for this producer, or did until a moment ago."""


class RowsMissing(WindhoverError):
    """After a reconnection neither the server nor this client has some rows any more.

    The connection is open. Call `go_back(sequence)` if the caller still has the rows, otherwise
    `leave_missing()`.

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
    """Some rows were refused; the others were taken.

    Attributes:
        rows: int64, shape (n,): their numbers, from 0 over all rows that this client has sent.
            `observe` returns the number of its first row, so `rows - first` are indices into that
            call's X. From an Engine they are such indices.
        reasons: n reasons.
        count: how many were refused; more than n where the server did not list all of them.
        cells: n texts such as "column 1 is nan" or "y is -1"; "" where the cause is not known.
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
    """The server came back without rows that it had acknowledged and that were no longer kept here;
    `totals.lost` counts them."""


class RowsRefusedWarning(WindhoverWarning):
    """As `RowsRefused`, with `refused_rows="warn"`."""


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
