"""A non-blocking socket to a server, in the clear or with TLS."""

from __future__ import annotations

import errno
import os
import socket
import ssl
from collections.abc import Sequence
from typing import Any

from .address import Address
from .errors import CertificateRefused, InvalidInput, TimedOut, Unreachable, WindhoverError
from .frames import Buffer
from .options import Options
from .steps import Resolve, Steps, Wait


RECORD = 16384  # bytes of a TLS record, at most


class Channel:
    """A connected socket. Errors are OSErrors."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def fileno(self) -> int:
        return self._sock.fileno()

    def close(self) -> None:
        self._sock.close()

    def receive(self, most: int) -> bytes | None:
        """Received bytes, about `most` at most; empty at the end; None where there are none yet."""
        try:
            return self._sock.recv(most)
        except (BlockingIOError, InterruptedError):
            return None

    def send(self, parts: Sequence[Buffer]) -> int:
        """Sends bytes from the first part on and returns how many; 0 where there is no room."""
        try:
            return self._sock.sendmsg(parts)
        except (BlockingIOError, InterruptedError):
            return 0


class TlsChannel(Channel):
    """A connected socket with TLS. After a short send the next must begin with the unsent bytes, as
    that of OutBuffer does."""

    _sock: ssl.SSLSocket

    def receive(self, most: int) -> bytes | None:
        # Whole records: the rest of one would be buffered here, where poll() does not see it.
        records: list[bytes] = []
        size = 0
        while size < most:
            try:
                record = self._sock.recv(RECORD)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                break
            except OSError:
                if records:
                    break  # it comes again with the next call
                raise
            records.append(record)
            size += len(record)
            if not record:
                break
        return b"".join(records) if records else None

    def send(self, parts: Sequence[Buffer]) -> int:
        sent = 0
        for part in parts:
            rest = memoryview(part)
            while rest:
                try:
                    count = self._sock.send(rest)
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    return sent
                sent += count
                rest = rest[count:]
        return sent


def tls_context(options: Options) -> ssl.SSLContext:
    """TLS 1.2 or 1.3; the server's certificate and its name are always checked.

    Raises:
        InvalidInput: a file cannot be used.
    """

    def no_password() -> str:
        raise InvalidInput(f"{options.key or options.certificate}: the key asks for a password")

    def used(file: str, error: Exception) -> InvalidInput:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return InvalidInput(f"{file}: {why or error}")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if options.ca:
        try:
            context.load_verify_locations(options.ca)
        except OSError as error:  # SSLError is one
            raise used(options.ca, error) from error
    else:
        context.load_default_certs()
    if options.certificate:
        try:
            context.load_cert_chain(options.certificate, options.key or None, no_password)
        except OSError as error:
            files = f"{options.certificate}, {options.key}" if options.key else options.certificate
            raise used(files, error) from error
    return context


def name_of(to: Address) -> str:
    if to.unix_path:
        return f"unix:{to.unix_path}"
    text = f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"
    return f"tls://{text}" if to.tls else text


def connected(to: Address, options: Options) -> Steps[Channel]:
    """Connects to the first of the host's addresses that answers. Reads the TLS files each time."""
    context = tls_context(options) if to.tls else None
    targets: list[tuple[int, Any]]
    if to.unix_path:
        targets = [(socket.AF_UNIX, to.unix_path)]
    else:
        try:
            found = yield Resolve(to.host, to.port)
        except OSError as error:
            raise Unreachable(f"cannot connect: {to.host}: {error.strerror}") from error
        targets = [(family, place) for family, _, _, _, place in found]
    failure: WindhoverError = Unreachable("cannot connect: no such host")
    for family, place in targets:
        sock = socket.socket(family, socket.SOCK_STREAM)
        done = False
        try:
            sock.setblocking(False)
            code = sock.connect_ex(place)
            if code in (errno.EINPROGRESS, errno.EINTR):
                if not (yield Wait(sock, True, options.connect_timeout)):
                    failure = TimedOut("cannot connect: no answer")
                    continue
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                failure = Unreachable(f"cannot connect to {name_of(to)}: {os.strerror(code)}")
                continue
            if family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is None:
                done = True
                return Channel(sock)
            sock = _wrap(context, sock, options.server_name or to.host)
            yield from _shake_hands(sock, to, options.connect_timeout)
            done = True
            return TlsChannel(sock)
        finally:
            if not done:
                sock.close()
    raise failure


def _wrap(context: ssl.SSLContext, sock: socket.socket, name: str) -> ssl.SSLSocket:
    try:
        return context.wrap_socket(sock, do_handshake_on_connect=False, server_hostname=name)
    except ValueError as error:
        raise InvalidInput(f"{name!r} is no name of a server: {error}") from error


def _shake_hands(sock: ssl.SSLSocket, to: Address, timeout: float) -> Steps[None]:
    while True:
        try:
            return sock.do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            to_send = isinstance(error, ssl.SSLWantWriteError)
        except ssl.SSLCertVerificationError as error:
            why = f"{name_of(to)}: the server's certificate is not good: {error.verify_message}"
            raise CertificateRefused(why) from error
        except OSError as error:
            why = f"cannot connect to {name_of(to)}: TLS failed: does the server speak it?"
            raise Unreachable(f"{why} ({error.strerror or error})") from error
        if not (yield Wait(sock, to_send, timeout)):
            raise TimedOut(f"cannot connect to {name_of(to)}: TLS gets no answer")
