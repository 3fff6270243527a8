"""Clients that speak to a server by bytes, as they like."""

import re
import socket
import time
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

PATIENCE = 20.0  # seconds
PIECE = 2**16  # bytes that are sent or received at once
JSON = "Content-Type: application/json"


class Exchange(NamedTuple):
    """What came of a connection."""

    statuses: list[int]  # of the answers
    text: str  # all that was answered
    is_closed: bool  # by the server
    seconds: float


def connect(url: str, seconds: float = PATIENCE) -> socket.socket:
    """A connection to a server."""
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=seconds)


def request(target: str, *headers: str, body: bytes = b"", host: str | None = "localhost") -> bytes:
    """A request; a POST if it has a body."""
    lines = [f"{'POST' if body else 'GET'} {target} HTTP/1.1", *headers]
    lines += [f"Host: {host}"] if host is not None else []
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "\r\n"]).encode("utf-8") + body


def exchange(url: str, *parts: bytes, pause: float = 0.0, seconds: float = PATIENCE) -> Exchange:
    """Send the parts, with pauses between, as long as the server takes them; then read until it closes, or too long."""
    start = time.monotonic()
    with connect(url, seconds) as connection:
        with suppress(OSError):  # what the server has answered before it closed is read below
            for i, part in enumerate(parts):
                time.sleep(pause if i else 0.0)
                connection.sendall(part)
        received, is_closed = received_from(connection)
    text = received.decode("utf-8", "replace")
    statuses = [int(status) for status in re.findall(r"HTTP/1\.1 (\d{3}) ", text)]
    return Exchange(statuses, text, is_closed, time.monotonic() - start)


def received_from(connection: socket.socket) -> tuple[bytes, bool]:
    """All that comes until the server closes, or until nothing comes for too long; and whether it closed."""
    received = bytearray()
    try:
        while part := connection.recv(PIECE):
            received += part
    except TimeoutError:
        return bytes(received), False
    except OSError:
        pass
    return bytes(received), True
