"""connect(), which opens a blocking client."""

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
            observe endpoint takes rows, and unless server.observe.rows_only is true it answers
            questions too.
        query: address of the query endpoint, for all questions; None: they go to `address`.
        model: by the server's name for it; empty: its first.
        token: shows who the client is to a server with identities.
        ca: for `tls://`: PEM file of the authorities that are trusted; empty: those of the system.
        server_name: the name that the server's certificate must have; empty: the address's host.
        certificate, key: PEM files that show who this client is to a server that asks; the key may
            be in the certificate's file.
        producer: number of the stream: each row is learned once, also where a connection breaks. 0:
            with `resend` a number is drawn for the life of this client, if the server can forget
            such producers. Another number, below 2^63, is the stream's for good: the next process
            can take the stream up.
        resend: False: rows on their way when a connection breaks are learned or lost, the call that
            notices raises Disconnected, and no rows are kept here.
        first_sequence: number of the first row that this client sends; only with a `producer`. 0:
            rows that the server has already are counted as duplicate. "next": this client's rows
            come after those.
        begins_here: the rows before first_sequence will never be sent: a server that does not know
            the producer begins there. Otherwise it refuses, unless first_sequence is 0. Only with a
            `producer`.
        durable: True: refuse a server whose acknowledgements do not mean that rows are on its disk.
            False: ask it to acknowledge at once. None: as the server does by default.
        fingerprint: what this client believes a row means; 0: do not check.
        schema: of this client's rows: a server with another schema is Refused. One without a
            schema, or too old to tell, takes any rows with as many columns. Parameters get the
            names of the schema's features.
        connect_timeout: seconds.
        reply_timeout: seconds without a byte coming or going.
        single_precision: True: send 32-bit numbers. None: only where X and y are 32-bit themselves.
        max_rows_per_frame: 0: as many as the server takes.
        resend_bytes: bytes of rows kept to be sent again: those on their way, for which observe()
            waits when they are more, and as many acknowledged ones as there is room for until they
            are on the server's disk.
        retry_for: seconds for which connecting again is tried; 0: once.
        reconnect: a call that finds the connection broken connects again. With `resend` rows then
            go on; without, the call that notices raises, and the next connects. Questions are asked
            again.
        refused_rows: what wait() does when rows were refused: "raise" RowsRefused, "warn" with
            RowsRefusedWarning, or "keep" them for take_refused_rows().

    Raises:
        Unreachable, TimedOut: nobody listens there, or nobody answers.
        CertificateRefused: with `tls://`: the certificate is another server's, or not trusted.
        Refused: the server refuses; NotPermitted, UnknownModel and ProducerBusy are kinds of it.
        InvalidInput: an argument is not valid, or contradicts another.
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
