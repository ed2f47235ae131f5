"""Where a client connects to, as text."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import InvalidInput


@dataclass(frozen=True)
class Address:
    """A TCP host and port, with TLS or without, or the path of a Unix-domain socket."""

    host: str = ""
    port: int = 0
    unix_path: str = ""
    tls: bool = False


def parse(text: str) -> Address:
    """Reads `host:port`, `tcp:host:port`, `[v6]:port`, `tls://host:port` or `unix:/path`.

    Raises:
        InvalidInput: the text is none of these.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"address={text!r}: a text, as 127.0.0.1:7171 or unix:/path")
    wrong = InvalidInput(f"{text}: expected host:port, [v6]:port, tls://host:port or unix:/path")
    if text.startswith("unix:"):
        path = text[5:]
        if not path:
            raise wrong
        if len(path.encode()) >= 108:
            raise InvalidInput(f"{text}: the path of a Unix-domain socket has at most 107 bytes")
        return Address(unix_path=path)
    tls = text.startswith("tls://")
    place = text.removeprefix("tls://") if tls else text.removeprefix("tcp:")
    host, colon, digits = place.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed:
        host = host[1:-1]
    # Without brackets nobody can tell a port from the last group of an IPv6 address.
    if not colon or not host or (":" in host and not bracketed):
        raise wrong
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) < 65536:
        raise wrong
    return Address(host=host, port=int(digits), tls=tls)
