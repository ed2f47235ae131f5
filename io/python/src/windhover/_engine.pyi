"""The compiled module, io/python/native. It reads and writes arrays without copying them.

An array that is not contiguous or not of the declared type is a TypeError, one of another length a
ValueError. A status is a number of `reasons.Reason`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]
_Indices = npt.NDArray[np.uint32]
_Table = npt.NDArray[Any]
_Refused = list[tuple[int, int]]  # pairs of a row and a status

MAX_QUANTILES: int
MAX_THRESHOLDS: int
PREDICTION: np.dtype[Any]
PARAMETER: np.dtype[Any]
# Options by name: the least and the largest value of an integer, None for a float, "" for a text.
OPTIONS: dict[str, tuple[int, int] | str | None]

class SetUpError(ValueError): ...

class Library:
    def __init__(self, path: str) -> None: ...
    def status_text(self, status: int) -> str: ...
    def reason_text(self, reason: int) -> str: ...

class Options:
    def __init__(self, library: Library) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

class Provenance:
    def __getattr__(self, name: str) -> Any: ...

class Event:
    def __getattr__(self, name: str) -> Any: ...

class Engine:
    def __init__(self, library: Library, options: Options) -> None: ...
    def destroy(self) -> None: ...
    @property
    def footprint(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def pending_labels(self) -> int: ...
    def observe(
        self,
        features: _Numbers,
        targets: _Numbers,
        indices: _Indices | None = None,
        row_ends: _Indices | None = None,
        offsets: _Numbers | None = None,
        trials: _Numbers | None = None,
        weights: _Numbers | None = None,
    ) -> tuple[int, _Refused]: ...
    def outcomes(
        self, keys: list[bytes], targets: _Numbers
    ) -> tuple[int, int, int, int, _Refused]: ...
    def settle_labels(self) -> int: ...
    def poll(self, rounds: int) -> tuple[int, int]: ...
    def start(self) -> int: ...
    def stop(self) -> int: ...
    def pause(self, paused: bool) -> int: ...
    def save(self) -> tuple[int, bytes]: ...
    def restore(self, kept: bytes) -> None: ...

class Reader:
    def __init__(self, engine: Engine) -> None: ...
    def destroy(self) -> None: ...
    def predict(
        self,
        features: _Numbers,
        predictions: _Table,
        quantile_table: _Numbers,
        exceedance: _Numbers,
        probabilities: _Numbers,
        probabilities_sd: _Numbers,
        probabilities_lower: _Numbers,
        probabilities_upper: _Numbers,
        quantiles: _Numbers,
        thresholds: _Numbers,
        interval: float,
        thompson_id: int,
        classes: int,
        keys: list[bytes],
        indices: _Indices | None = None,
        row_ends: _Indices | None = None,
        offsets: _Numbers | None = None,
        trials: _Numbers | None = None,
        outcomes: _Numbers | None = None,
    ) -> tuple[int, Provenance]: ...
    def posterior(self, parameters: _Table) -> tuple[int, Provenance]: ...
    def draws(self, theta: _Numbers) -> tuple[int, Provenance]: ...
    def events(self) -> tuple[int, list[Event]]: ...
