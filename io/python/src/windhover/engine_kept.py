"""An engine of this process as bytes, and back."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Callable
from ctypes import byref, c_void_p
from typing import Any

from . import _library as c


class _Callback:
    """For the library to call; what is raised in it does not get lost on the way through C."""

    raised: BaseException | None = None

    def __init__(self, call: Callable[[int, int], None]) -> None:
        self._call = call

    def __call__(self, _: Any, at: int, size: int) -> int:
        try:
            self._call(at, size)
        except BaseException as error:
            self.raised = error
            return -1
        return 0

    def raise_what_it_raised(self) -> None:
        if self.raised is not None:
            raise self.raised


def saved(library: ctypes.CDLL, engine: c_void_p) -> tuple[int, bytes]:
    """The status, and what was written. REQUIRES: a stopped engine."""
    kept = bytearray()
    call = _Callback(lambda data, size: kept.extend(ctypes.string_at(data, size)))
    status = library.windhover_engine_save(engine, c.WRITE(call), None)
    call.raise_what_it_raised()
    return status, bytes(kept)


def restored(library: ctypes.CDLL, engine: c_void_p, kept: bytes, failure: c.Failure) -> int:
    """The status; where the bytes end too early it is one of failure. REQUIRES: a stopped engine."""
    stream = io.BytesIO(kept)

    def read(to: int, size: int) -> None:
        piece = stream.read(size)
        if len(piece) < size:
            raise EOFError
        ctypes.memmove(to, piece, size)

    call = _Callback(read)
    status = library.windhover_engine_restore(engine, c.READ(call), None, byref(failure))
    if not isinstance(call.raised, EOFError):
        call.raise_what_it_raised()
    return int(status)
