"""Requests and answers of one connection."""

from __future__ import annotations

from collections import deque
from typing import Any

from google.protobuf.message import DecodeError

from . import address as addresses
from . import frames as wire
from . import windhover_pb2 as pb
from .channel import Channel
from .errors import (
    Disconnected,
    InvalidInput,
    ProtocolError,
    Refused,
    TimedOut,
    WindhoverError,
    refusal,
)
from .options import Options
from .steps import Steps, Wait


class Exchange:
    """Requests and their answers over a channel that a subclass opens."""

    def __init__(self, address: str, options: Options) -> None:
        self.address = addresses.parse(address)
        self.options = options
        self.welcome = pb.Welcome()
        self._channel: Channel | None = None
        self._out = wire.OutBuffer()
        self._reader = wire.FrameReader()
        self._answers: deque[Any] = deque()  # received and not asked for yet
        self._next_id = 1

    @property
    def connected(self) -> bool:
        return self._channel is not None

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self._out.clear()
        self._reader = wire.FrameReader()
        self._answers.clear()

    def next_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    # --- Bytes

    def _gone(self, why: str = "the server has closed the connection") -> WindhoverError:
        said = [a.refusal for a in self._answers if a.HasField("refusal") and a.refusal.closing]
        self.close()
        return refusal_of(said[0]) if said else Disconnected(why)

    def _receive_some(self) -> bool:
        """One receive, without waiting; False where there is nothing yet."""
        if self._channel is None:
            raise Disconnected("not connected")
        try:
            data = self._channel.receive(1 << 18)
        except OSError as error:
            if error.errno is None:  # raised by a signal handler, such as a TimeoutError
                raise
            raise self._gone(f"the connection broke: {error.strerror or error}") from error
        if data is None:
            return False
        if not data:
            raise self._gone()
        self._reader.feed(data)
        return True

    def _receive(self, to_send: bool = False) -> Steps[None]:
        if self._channel is None:
            raise Disconnected("not connected")
        if not (yield Wait(self._channel, to_send, self.options.reply_timeout)):
            raise TimedOut("the server does not answer")
        self._receive_some()

    def _send_some(self) -> bool:
        """One send, without waiting; False where there is no room or the connection is broken."""
        if self._channel is None:
            raise Disconnected("not connected")
        try:
            sent = self._channel.send(self._out.front())
        except OSError as error:
            if error.errno is None:
                raise
            return False  # the next receive says why
        self._out.drop(sent)
        return sent > 0

    def flush(self) -> Steps[None]:
        while self._out.size:
            if not self._send_some():
                yield from self._receive(to_send=True)
                self._take_in_all()

    def poll(self) -> None:
        """Sends and takes in what it can without waiting."""
        if self._out.size:
            self._send_some()
        while self._receive_some():
            self._take_in_all()

    # --- Answers

    def _take_in(self, response: Any) -> Refused | bool:
        """Takes in an answer about rows. False: it is not one; a Refused: a frame was refused."""
        return False

    def _take_in_all(self) -> None:
        failure: Refused | None = None
        try:
            for frame in self._reader.frames():
                response = _response(frame)
                mine = self._take_in(response)
                if mine is False:
                    self._answers.append(response)
                elif isinstance(mine, Refused):
                    failure = failure or mine
        except ProtocolError:
            self.close()
            raise
        if failure is not None:
            if failure.closing:
                self.close()
            raise failure

    def ask(self, request: Any, arm: str) -> Steps[Any]:
        """Sends a request and waits for its own answer, of which it returns `arm`."""
        request.id = self.next_id()
        body = request.SerializeToString()
        return (yield from self.ask_bytes(request.id, wire.varint(len(body)) + body, arm))

    def ask_bytes(self, request_id: int, frame: bytes, arm: str) -> Steps[Any]:
        if self._channel is None:
            raise Disconnected("not connected")
        cap = self.welcome.frame_cap
        if cap and len(frame) > cap:
            raise InvalidInput(
                f"the question is larger than a frame may be ({cap} bytes): ask for fewer rows"
            )
        self._out.append(frame)
        yield from self.flush()
        while True:
            self._take_in_all()
            while self._answers:
                response = self._answers.popleft()
                refused = response.HasField("refusal")
                if refused and (response.id == request_id or response.refusal.closing):
                    if response.refusal.closing:
                        self.close()
                    raise refusal_of(response.refusal)
                if response.id != request_id:
                    continue  # an answer that nobody waits for any more
                if response.WhichOneof("body") != arm:
                    self.close()
                    raise ProtocolError(f"the server does not answer with {arm}")
                return getattr(response, arm)
            yield from self._receive()


def _response(frame: bytes) -> Any:
    try:
        return pb.Response.FromString(frame)
    except (DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError("the answer cannot be read") from error


def refusal_of(message: Any) -> Refused:
    return refusal(message.reason, message.number, message.closing)
