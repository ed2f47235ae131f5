"""Steps of a request, and what they may wait for.

Everything that may wait is a generator that yields what it waits for. `Client` then blocks, and
`aio.Client` waits in an event loop, so that both have the same semantics.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, Union


class HasFileno(Protocol):
    def fileno(self) -> int:
        ...


@dataclass
class Wait:
    """Waits until there is something to receive or, if `to_send`, room to send. The generator is
    sent True, or False after `timeout` seconds."""

    sock: HasFileno
    to_send: bool
    timeout: float


@dataclass
class Sleep:
    seconds: float


@dataclass
class Resolve:
    """Resolves a host. The generator is sent what `socket.getaddrinfo` returns."""

    host: str
    port: int


Effect = Union[Wait, Sleep, Resolve]
T = TypeVar("T")
Steps = Generator[Effect, Any, T]
