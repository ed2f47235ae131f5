"""Runs the steps of a request in an event loop of asyncio, as `blocking` does in a thread."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from .steps import Effect, Resolve, Sleep, Steps, T, Wait


async def run(steps: Steps[T]) -> T:
    """Runs the steps, letting other tasks run where they wait."""
    loop = asyncio.get_running_loop()
    try:
        effect = next(steps)
        while True:
            try:
                answer = await _perform(loop, effect)
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(answer)
    except StopIteration as stop:
        value: T = stop.value
        return value


async def _perform(loop: asyncio.AbstractEventLoop, effect: Effect) -> Any:
    if isinstance(effect, Wait):
        return await _ready(loop, effect)
    if isinstance(effect, Sleep):
        return await asyncio.sleep(effect.seconds)
    if isinstance(effect, Resolve):
        return await loop.getaddrinfo(effect.host, effect.port, type=socket.SOCK_STREAM)
    raise AssertionError(effect)


async def _ready(loop: asyncio.AbstractEventLoop, wait: Wait) -> bool:
    ready: asyncio.Future[bool] = loop.create_future()

    def end(outcome: bool) -> None:
        if not ready.done():
            ready.set_result(outcome)

    number = wait.sock.fileno()
    timer = loop.call_later(wait.timeout, end, False)
    loop.add_reader(number, end, True)
    if wait.to_send:
        loop.add_writer(number, end, True)
    try:
        return await ready
    finally:
        timer.cancel()
        loop.remove_reader(number)
        if wait.to_send:
            loop.remove_writer(number)
