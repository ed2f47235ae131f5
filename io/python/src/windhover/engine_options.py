"""Options of an engine in this process, checked before the library sees them."""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_uint32, c_uint64, sizeof
from typing import Any

import numpy as np

from . import _library as c
from .errors import InvalidInput
from .provenance import Horizon

_OWN = {"features", "model", "learner_threads"}  # arguments of their own
_SURPRISING_ROWS = ("keep", "count", "down-weight", "set-aside")
_STRUCTURES = ("chosen", "full", "diagonal")
_NAMED = {
    "horizon": [str(horizon) for horizon in Horizon][:-1],
    "surprising_rows": list(_SURPRISING_ROWS),
    "structure": list(_STRUCTURES),
}


def filled(
    library: ctypes.CDLL, features: int, model: str, threads: int, options: dict[str, Any]
) -> Any:
    """The struct of the library.

    Raises:
        InvalidInput: there is no such option, or its value is of another type or too large.
    """
    out = c.made(library, "engine_options")
    kinds = dict(c.EngineOptions._fields_[1:])
    given = {**options, "features": features, "model": model, "learner_threads": threads or 1}
    for name, value in given.items():
        if name not in kinds or (name in _OWN and name in options):
            there = ", ".join(one for one in kinds if one not in _OWN)
            raise InvalidInput(f"{name}: there is no such option; there are {there}")
        if name in _NAMED:
            if str(value) not in _NAMED[name]:
                raise InvalidInput(f"{name}={value!r}: one of {', '.join(_NAMED[name])}")
            value = _NAMED[name].index(str(value))
        kind = kinds[name]
        if isinstance(value, (int, np.integer)) and kind in (c_int, c_uint32, c_uint64):
            least = -(2**31) if kind is c_int else 0
            if not least <= value < 2 ** (8 * sizeof(kind)) + least:
                raise InvalidInput(f"{name}={value}: at least {least}, and not that large")
        try:
            setattr(out, name, value.encode() if isinstance(value, str) else value)
        except TypeError:
            raise InvalidInput(f"{name}={value!r}: of another type") from None
    return out
