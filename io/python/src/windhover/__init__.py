"""Client of Windhover: rows to a live posterior, predictions with uncertainty back.

    with windhover.connect("127.0.0.1:7171", model="clicks") as m:
        m.observe(X, y)
        lower, upper = m.predict(X).interval(0.9)

`windhover.Schema` makes numbers of a data frame's text, dates and empty cells;
`windhover.Engine` is the engine in this process; `windhover.aio` has the same for asyncio,
`windhover.sklearn` and `windhover.river` have estimators.
"""

from . import aio
from .client import Client
from .contrasts import Contrasts
from .engine import Engine
from .errors import (
    CertificateRefused,
    Disconnected,
    InvalidInput,
    NotPermitted,
    PosteriorWarning,
    ProducerBusy,
    ProtocolError,
    Refused,
    RowsLostWarning,
    RowsMissing,
    RowsRefused,
    RowsRefusedWarning,
    TimedOut,
    UnknownModel,
    Unreachable,
    WindhoverError,
    WindhoverWarning,
)
from .events import Event, EventKind
from .opening import connect
from .options import Joined, ProducerState, Totals
from .posterior import Draws, Posterior
from .provenance import Horizon, ModelKind, PosteriorReason, PosteriorStatus, Provenance
from .reasons import Reason
from .results import Predictions
from .rows import SparseRows
from .schema import EncodedRows, Schema
from .status import Checkpoint, ModelState, PredictionScore, ServerStatus

__version__ = "0.2.0"

__all__ = [
    "CertificateRefused",
    "Checkpoint",
    "Client",
    "Contrasts",
    "Disconnected",
    "Draws",
    "EncodedRows",
    "Engine",
    "Event",
    "EventKind",
    "Horizon",
    "InvalidInput",
    "Joined",
    "ModelKind",
    "ModelState",
    "NotPermitted",
    "Posterior",
    "PosteriorReason",
    "PosteriorStatus",
    "PosteriorWarning",
    "PredictionScore",
    "Predictions",
    "ProducerBusy",
    "ProducerState",
    "ProtocolError",
    "Provenance",
    "Reason",
    "Refused",
    "RowsLostWarning",
    "RowsMissing",
    "RowsRefused",
    "RowsRefusedWarning",
    "Schema",
    "ServerStatus",
    "SparseRows",
    "TimedOut",
    "Totals",
    "UnknownModel",
    "Unreachable",
    "WindhoverError",
    "WindhoverWarning",
    "aio",
    "connect",
]
