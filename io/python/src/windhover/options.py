"""Options of a client, and what it reports about its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .reasons import Reason


@dataclass(frozen=True)
class Options:
    """Arguments of `connect`, by their names there."""

    model: str = ""
    token: str = ""
    ca: str = ""
    server_name: str = ""
    certificate: str = ""
    key: str = ""
    producer: int = 0
    resend: bool = True
    first_sequence: int | None = 0  # None: after the rows that the server has
    begins_here: bool = False
    durable: bool | None = None
    fingerprint: int = 0
    schema_fingerprint: int = 0
    connect_timeout: float = 5.0
    reply_timeout: float = 10.0
    single_precision: bool | None = None
    max_rows_per_frame: int = 0
    resend_bytes: int = 16 << 20
    retry_for: float = 60.0
    reconnect: bool = True


@dataclass
class Totals:
    """What became of the rows.

    Once everything is acknowledged, sent = accepted + refused + duplicate + unknown. A row that was
    sent again after a reconnection counts as sent once.

    Attributes:
        sent: rows handed to `observe`.
        accepted: rows that the server stored.
        refused: rows that it did not take.
        duplicate: rows that it had judged already.
        unknown: rows on their way when a connection broke, which were learned or lost: where no
            producer's number was given or drawn, or the server has forgotten the drawn one.
        frames_sent, frames_acknowledged: messages of rows.
        head: the server's observations from all clients, as of the newest acknowledgement.
        producer_next: the sequence number that the server expects next, as it said last.
        durable: how many acknowledged rows, oldest first, are known to be on the server's disk.
        restored: rows that were acknowledged, lost by the server and sent again.
        lost: rows that were acknowledged, lost by the server and not sent again; an upper bound
            where rows can be unknown.
        histories: how often the server came back as another instance.
    """

    sent: int = 0
    accepted: int = 0
    refused: int = 0
    duplicate: int = 0
    unknown: int = 0
    frames_sent: int = 0
    frames_acknowledged: int = 0
    head: int = 0
    producer_next: int = 0
    durable: int = 0
    restored: int = 0
    lost: int = 0
    histories: int = 0


@dataclass(frozen=True)
class Joined:
    """What became of outcomes; each key is counted once.

    Attributes:
        accepted: rows stored.
        refused: keys without a row, or with a target that the model does not take.
        duplicate: keys that had been joined already.
        head: the server's observations from all clients.
        durable_through: observations below this one are on the server's disk; 0 of an Engine.
        refused_keys: reasons by the key's place among the keys; from a server the first 64.
    """

    accepted: int
    refused: int
    duplicate: int
    head: int
    durable_through: int
    refused_keys: dict[int, Reason]

    @classmethod
    def of(cls, m: Any) -> Joined:
        return cls(
            accepted=m.accepted,
            refused=m.refused,
            duplicate=m.duplicate,
            head=m.head,
            durable_through=m.durable_through,
            refused_keys={k: Reason(why) for k, why in zip(m.refused_key, m.refused_reason)},
        )


@dataclass(frozen=True)
class ProducerState:
    """Where a producer stands at the server.

    Attributes:
        producer: its number.
        known: the server has judged a row of it.
        next: the sequence number expected next; 0 if it is not known.
        durable_next: its rows below this one are on the server's disk, or were refused; 0 without
            a log.
        live: a connection speaks for it, be it this one.
        forgotten: how many producers the server has forgotten. One that is not known was forgotten
            only if this has grown since it was known.
    """

    producer: int = 0
    known: bool = False
    next: int = 0
    durable_next: int = 0
    live: bool = False
    forgotten: int = 0
