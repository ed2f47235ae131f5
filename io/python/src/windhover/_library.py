"""Loads libwindhover.so: that of the environment variable WINDHOVER_LIBRARY, or the system's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._engine import Library

NAME = "libwindhover.so.0"
_loaded: dict[str, Library] = {}


def load() -> Library:
    """The library, loaded once for each path and kept for the life of the process.

    Raises:
        ImportError: this package was installed without its compiled module.
        OSError: there is no such library, or it is another one.
    """
    try:
        from . import _engine
    except ImportError as error:
        raise ImportError(
            f"{error}: windhover.Engine is compiled where a compiler of C++ and pybind11 are there "
            "(apt-get install g++ python3-dev pybind11-dev) when the package is installed"
        ) from None
    path = os.environ.get("WINDHOVER_LIBRARY") or NAME
    if path not in _loaded:
        try:
            _loaded[path] = _engine.Library(path)
        except RuntimeError as error:
            raise OSError(
                f"{error}: apt install ./libwindhover0_*.deb, or name it in WINDHOVER_LIBRARY"
            ) from None
    return _loaded[path]
