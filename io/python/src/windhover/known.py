"""What a client knows about its server and its rows without asking."""

from __future__ import annotations

import os
from typing import Any, Literal

from . import windhover_pb2 as pb
from .connection import Connection
from .errors import InvalidInput, RowsMissing, RowsRefused
from .options import Options, ProducerState, Totals
from .posterior import parameter_names
from .provenance import ModelKind, kind_of
from .stream import Stream

RefusedRows = Literal["raise", "warn", "keep"]

# For a user who gives a file's columns to a model that was made with a schema.
OTHER_COLUMNS = (
    ": rows are numbers, in the model's own columns. Of a server with model.schema these are what the "
    "schema makes of a file's columns: windhover.Schema.load(FILE).rows(frame) does"
)


class Known:
    """A client's connections, and what it knows about its model and its rows without asking."""

    def __init__(
        self, address: str, query: str | None, refused_rows: RefusedRows, options: Options
    ) -> None:
        if refused_rows not in ("raise", "warn", "keep"):
            raise InvalidInput(f'refused_rows={refused_rows!r}: "raise", "warn" or "keep"')
        if not 0 <= options.producer < 2**63:
            raise InvalidInput(f"producer={options.producer}: 0 to 2^63 - 1")
        if options.producer and not options.resend:
            raise InvalidInput("resend=False is of rows without a producer")
        if not options.producer and (options.first_sequence != 0 or options.begins_here):
            raise InvalidInput("first_sequence and begins_here are of a producer that is given")
        if not options.token.isascii() or len(options.token) > 256:
            raise InvalidInput("a token is ASCII, at most 256 bytes")
        for name, place in (("address", address), ("query", query)):
            if not isinstance(place, str) and (name == "address" or place is not None):
                raise InvalidInput(f"{name}={place!r}: a text, as 127.0.0.1:7171 or unix:/path")
        places = [text for text in (address, query) if text]
        tls = any(text.startswith("tls://") for text in places)
        if tls and not all(text.startswith(("tls://", "unix:")) for text in places):
            raise InvalidInput(f"{address}, {query}: both are tls://, or neither")
        if not tls and (options.ca or options.server_name or options.certificate or options.key):
            raise InvalidInput(
                f"ca, server_name, certificate and key are of tls://, not of {address}"
            )
        if options.key and not options.certificate:
            raise InvalidInput("key= is that of a certificate, which is missing")
        self._process = os.getpid()
        self.columns: tuple[str, ...] | None = None  # their names, where they are known
        self._refused_policy = refused_rows
        self._rows = Stream(address, options)
        self._questions: Connection = self._rows if query is None else Connection(query, options)

    # --- What is known without asking

    @property
    def connected(self) -> bool:
        """Whether the connection that takes rows is open, as far as this client has noticed."""
        return self._rows.connected

    @property
    def model(self) -> str:
        """Name of the connection's model."""
        return str(self._rows.welcome.model_name)

    @property
    def kind(self) -> ModelKind:
        """Its likelihood."""
        return kind_of(self._rows.welcome.model)

    @property
    def features(self) -> int:
        """Columns of a row, without the intercept."""
        return int(self._rows.welcome.features)

    @property
    def dimension(self) -> int:
        """Number of parameters, over all classes and the intercept included."""
        return int(self._rows.welcome.dimension)

    @property
    def classes(self) -> int:
        """Classes of a softmax model, whose targets count from 0; otherwise 0."""
        return int(self._rows.welcome.classes)

    @property
    def instance_id(self) -> int:
        """Identifies the server's history: a new one when rows that it had accepted are lost."""
        return int(self._rows.welcome.instance_id)

    @property
    def durable(self) -> bool:
        """Whether an acknowledgement means that rows are on the server's disk."""
        return bool(self._rows.welcome.durability == pb.DURABILITY_LOGGED)

    @property
    def totals(self) -> Totals:
        """What became of the rows, as of the newest acknowledgement taken in."""
        return self._rows.totals_now()

    @property
    def next_sequence(self) -> int:
        """Sequence number of the next row handed in."""
        return self._rows.next_sequence

    @property
    def producer(self) -> ProducerState:
        """What the server said of this client's producer on connecting."""
        return self._rows.producer

    @property
    def missing(self) -> RowsMissing | None:
        """Rows that neither the server nor this client has, for go_back() or leave_missing()."""
        return self._rows.missing

    @property
    def outstanding_rows(self) -> int:
        """Rows handed over and not acknowledged yet."""
        return self._rows.frames.rows_on_the_way

    def go_back(self, sequence: int) -> None:
        """After RowsMissing, for a caller that still has the missing rows from `sequence` on: it
        hands them in again, and all rows behind them, beginning with `sequence`.

        Rows kept here are dropped, and those that were on their way no longer count as sent.
        Missing rows before `sequence` count as lost.

        Raises:
            InvalidInput: nothing is missing, or `sequence` is not among the missing rows.
            Refused: the server knows an earlier part of the stream and takes no gap.
        """
        self._check_process()
        self._rows.go_back(sequence)

    def take_refused_rows(self) -> RowsRefused | None:
        """Rows refused since the last report by wait() or this; None: there were none."""
        self._check_process()
        return self._rows.take_refused()

    def _parameter_names(self, named: bool = True) -> tuple[str, ...]:
        columns = self.columns if named and len(self.columns or ()) == self.features else None
        network = self._questions.welcome.network
        return parameter_names(
            self.features, self.dimension, self.kind, self.classes, network, columns
        )

    @property
    def _forked(self) -> bool:
        """Whether this is a fork of the process that connected. Both share the socket and the
        numbers of rows: what a fork sends could count as sent before."""
        return self._process != os.getpid()

    def _check_process(self) -> None:
        if self._forked:
            raise InvalidInput(
                "the client is of the process that this one was forked from: connect() makes another"
            )

    def __reduce__(self) -> Any:
        raise TypeError(
            "a client is neither copied nor pickled: its connection is of this process; connect() makes "
            "another"
        )

    def _check_open(self) -> None:
        self._rows.check_open()
