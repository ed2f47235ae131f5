"""What a step of a request may have to wait for.

Everything that may have to wait is a generator which yields what it waits for. `Client` waits for
that by blocking, `aio.Client` in an event loop, so that both have the same semantics.
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
    """Until there is something to receive or, if `to_send`, room to send. Sent back: False after
    `timeout` seconds."""

    sock: HasFileno
    to_send: bool
    timeout: float


@dataclass
class Sleep:
    seconds: float


@dataclass
class Resolve:
    """Sent back: what `socket.getaddrinfo` gives."""

    host: str
    port: int


Effect = Union[Wait, Sleep, Resolve]
T = TypeVar("T")
Steps = Generator[Effect, Any, T]
