"""What a question asks about each of its rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InvalidInput

LARGEST = 1e100  # the largest number that may be asked about


@dataclass(frozen=True)
class Asked:
    """Arguments of `Client.predict` of the same names."""

    interval: float = 0.9
    quantiles: Sequence[float] = ()
    thresholds: Sequence[float] = ()
    thompson_id: int = 0
    posterior_spread: bool = False

    def check(self, most_quantiles: int, most_thresholds: int, whose: str) -> None:
        """Checks the arguments. `whose` names the one who answers: the server, the engine.

        Raises:
            InvalidInput: its text has the argument, its value and what is allowed.
        """
        if not _numbers([self.interval]) or not 0 < self.interval < 1:
            raise InvalidInput(f"interval={self.interval}: between 0 and 1, neither of them")
        for name, values, most in (
            ("quantiles", self.quantiles, most_quantiles),
            ("thresholds", self.thresholds, most_thresholds),
        ):
            if not _numbers(values):
                raise InvalidInput(f"{name}={values}: a list of numbers")
            if len(values) > most:
                raise InvalidInput(f"{len(values)} {name}; {whose} takes {most}")
        if not all(0 < value < 1 for value in self.quantiles):
            raise InvalidInput(f"quantiles={self.quantiles}: between 0 and 1, neither of them")
        if not all(abs(value) <= LARGEST for value in self.thresholds):
            raise InvalidInput(f"thresholds={self.thresholds}: numbers within {LARGEST:g} of 0")
        if not _whole(self.thompson_id) or not 0 <= self.thompson_id < 2**64:
            raise InvalidInput(f"thompson_id={self.thompson_id}: 0 to 2^64 - 1")


def _whole(value: Any) -> bool:
    try:
        return operator.index(value) is not None
    except TypeError:
        return False


def _numbers(values: Any) -> bool:
    try:
        return all(isinstance(math.fabs(value), float) for value in values)
    except TypeError:
        return False
