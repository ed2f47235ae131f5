"""Runs the steps of a request, blocking where they wait."""

from __future__ import annotations

import select
import socket
import time
from typing import Any

from .steps import Effect, Resolve, Sleep, Steps, T, Wait


def run(steps: Steps[T]) -> T:
    """Runs the steps, blocking where they wait."""
    try:
        effect = next(steps)
        while True:
            try:
                answer = _perform(effect)
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(answer)
    except StopIteration as stop:
        value: T = stop.value
        return value


def _perform(effect: Effect) -> Any:
    if isinstance(effect, Wait):
        poller = select.poll()
        events = select.POLLIN | (select.POLLOUT if effect.to_send else 0)
        poller.register(effect.sock, events)
        return bool(poller.poll(effect.timeout * 1000))
    if isinstance(effect, Sleep):
        return time.sleep(effect.seconds)
    if isinstance(effect, Resolve):
        return socket.getaddrinfo(effect.host, effect.port, type=socket.SOCK_STREAM)
    raise AssertionError(effect)
