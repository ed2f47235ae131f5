"""How a blocking client is opened."""

from __future__ import annotations

import os
from typing import Literal

from .client import Client
from .known import RefusedRows
from .schema import Schema
from .shared import options_from


def connect(
    address: str,
    *,
    query: str | None = None,
    model: str = "",
    token: str = "",
    ca: str | os.PathLike[str] = "",
    server_name: str = "",
    certificate: str | os.PathLike[str] = "",
    key: str | os.PathLike[str] = "",
    producer: int = 0,
    resend: bool = True,
    first_sequence: int | Literal["next"] = 0,
    begins_here: bool = False,
    durable: bool | None = None,
    fingerprint: int = 0,
    schema: Schema | None = None,
    connect_timeout: float = 5.0,
    reply_timeout: float = 10.0,
    single_precision: bool | None = None,
    max_rows_per_frame: int = 0,
    resend_bytes: int = 16 << 20,
    retry_for: float = 60.0,
    reconnect: bool = True,
    refused_rows: RefusedRows = "raise",
) -> Client:
    """Connects to a server and says Hello.

    Args:
        address: `host:port`, `tcp:host:port`, `[v6]:port`, `tls://host:port` or `unix:/path`. The
            observe endpoint takes rows and answers questions too, unless its server says otherwise.
        query: address of the query endpoint, for all questions; None: they go to `address`.
        model: by the server's name for it; empty: its first.
        token: says who asks, of a server with identities.
        ca: for `tls://`: file of who vouches for the server, in PEM; empty: whom the system trusts.
        server_name: that its certificate must have; empty: the address's host.
        certificate, key: files of this client's own, for a server that asks who it is; the key may
            stand in the certificate's file.
        producer: whose stream this is: rows survive a broken connection exactly once. 0: a number
            is drawn, for as long as this client lives. Another one, below 2^63, is the stream's for
            good: the next process can take it up.
        resend: False: rows that are on their way when a connection breaks are learned or lost, the
            call that notices raises Disconnected, and no rows are kept here.
        first_sequence: of a producer that is given, the number of the first row this client sends.
            0: rows that the server has already are counted as duplicate. "next": this client's rows
            come after those.
        begins_here: likewise; the rows before first_sequence are not to be had: a server that does not know
            the producer begins there. Otherwise it refuses, unless first_sequence is 0.
        durable: True: fail where an acknowledgement would not mean the disk. False: acknowledge at
            once. None: whatever the server offers.
        fingerprint: what this client believes a row means; 0: do not check.
        schema: whose rows these are: a server that was given another is Refused. One without a
            schema, or from before that was told, takes any rows that have as many columns. Parameters
            are called by its features.
        connect_timeout, reply_timeout: seconds; the latter without a byte coming or going.
        single_precision: True: send 32-bit numbers. None: where X and y are 32-bit themselves.
        max_rows_per_frame: 0: as many as the server takes.
        resend_bytes: bytes of rows kept to be sent again: those on their way, for which observe() waits when they are more, and as many acknowledged ones as there is room
            for until the server has them on disk.
        retry_for: seconds for which connecting again goes on trying; 0: once.
        reconnect: connect again without being asked when the connection has broken. Rows then go on
            by themselves; without `resend` the call that notices raises, and the next connects.
            Questions are asked again.
        refused_rows: what wait() does when rows were refused: "raise" RowsRefused, "warn" with
            RowsRefusedWarning, or "keep" them for take_refused_rows().

    Raises:
        Unreachable, TimedOut: nobody listens there, or nobody answers.
        CertificateRefused: of `tls://`: it is another server, or its certificate is not good.
        Refused: the server refuses; NotPermitted, UnknownModel and ProducerBusy are kinds of it.
        InvalidInput: an argument that cannot be.
    """
    options = options_from(
        first_sequence,
        model=model,
        token=token,
        ca=os.fspath(ca),
        server_name=server_name,
        certificate=os.fspath(certificate),
        key=os.fspath(key),
        producer=producer,
        resend=resend,
        begins_here=begins_here,
        durable=durable,
        fingerprint=fingerprint,
        schema_fingerprint=schema.fingerprint if schema else 0,
        connect_timeout=connect_timeout,
        reply_timeout=reply_timeout,
        single_precision=single_precision,
        max_rows_per_frame=max_rows_per_frame,
        resend_bytes=resend_bytes,
        retry_for=retry_for,
        reconnect=reconnect,
    )
    client = Client(address, query, refused_rows, options)
    client.columns = schema.names if schema else None
    return client
