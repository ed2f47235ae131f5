"""What a client is given, and what it tells of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .reasons import Reason


@dataclass(frozen=True)
class Options:
    """What `connect` is given, in its words."""

    model: str = ""
    token: str = ""
    ca: str = ""
    server_name: str = ""
    certificate: str = ""
    key: str = ""
    producer: int = 0
    resend: bool = True
    first_sequence: int | None = 0  # None: where the server stands
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
        unknown: on their way when a connection broke, learned or lost: without `resend`, or where
            the server has forgotten this client meanwhile.
        frames_sent, frames_acknowledged: messages of rows.
        head: the server's observations from everybody, as of the newest acknowledgement.
        producer_next: the sequence number that the server expects next, as last heard.
        durable: acknowledged rows, oldest first, that are on the server's disk.
        restored: rows acknowledged, lost by the server and sent again.
        lost: rows acknowledged, lost by the server and not sent again.
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
    """What became of outcomes: each key is counted once.

    Attributes:
        accepted: rows learned.
        refused: keys without a row, or targets that cannot be.
        duplicate: keys that had been joined already.
        head: the server's observations from everybody.
        durable_through: of these, those below this one are on the server's disk.
        refused_keys: the first of the refused, by their places among the keys, and why.
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
        next: the sequence number expected next; 0 where it is not known.
        durable_next: its rows below this one are on the server's disk, or were refused.
        live: a connection speaks for it, be it this one.
        forgotten: how many producers the server has forgotten. One that is not known may be among
            them, unless this is 0 or what it was before.
    """

    producer: int = 0
    known: bool = False
    next: int = 0
    durable_next: int = 0
    live: bool = False
    forgotten: int = 0
