"""Options of an engine in this process, checked before the library sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InvalidInput
from .provenance import Horizon

if TYPE_CHECKING:
    from ._engine import Library, Options

_OWN = {"features", "model", "learner_threads"}  # set by arguments of their own
_SURPRISING_ROWS = ("keep", "count", "down-weight", "set-aside")
_DEPENDENT_SPREADS = ("robust", "posterior")
_STRUCTURES = ("chosen", "full", "diagonal")
_NAMED = {
    "horizon": [str(horizon) for horizon in Horizon][:-1] + ["chosen"],
    "surprising_rows": list(_SURPRISING_ROWS),
    "structure": list(_STRUCTURES),
    "dependent_spread": list(_DEPENDENT_SPREADS),
}


def filled(
    library: Library, features: int, model: str, threads: int, options: dict[str, Any]
) -> Options:
    """The library's options, filled in.

    Raises:
        InvalidInput: there is no such option, or its value is of another type or out of its bounds.
    """
    from . import _engine

    out = _engine.Options(library)
    kinds = _engine.OPTIONS
    given = {**options, "features": features, "model": model, "learner_threads": threads or 1}
    for name, value in given.items():
        if name not in kinds or (name in _OWN and name in options):
            there = ", ".join(one for one in kinds if one not in _OWN)
            raise InvalidInput(f"{name}: there is no such option; there are {there}")
        if name in _NAMED:
            if str(value) not in _NAMED[name]:
                raise InvalidInput(f"{name}={value!r}: one of {', '.join(_NAMED[name])}")
            value = _NAMED[name].index(str(value))
        bounds = kinds[name]
        if isinstance(bounds, str) and (not isinstance(value, str) or "\0" in value):
            raise InvalidInput(f"{name}={value!r}: a name, without a character 0")
        if isinstance(value, (int, np.integer)) and isinstance(bounds, tuple):
            if not bounds[0] <= value <= bounds[1]:
                raise InvalidInput(f"{name}={value}: at least {bounds[0]}, and not that large")
        try:
            setattr(out, name, value)
        except TypeError:
            raise InvalidInput(f"{name}={value!r}: of another type") from None
    return out
