"""What hostile clients send, by the kind of their hostility: functions of a random generator."""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.server.raw_client import JSON, request

TARGETS = ["/health", "/", "/docs", "/v1/models", "/metrics", "/v1/segments?project=p", "/page/app.js", "/nothing"]
BODIES = [
    ("/v1/translate", JSON, b'{"text": "a b c d"}'),
    ("/v1/translate", JSON, b'{"text": ["a", "b"], "nbest": 3, "features": true}'),
    ("/v1/complete", JSON, b'{"text": "a b", "prefix": "s"}'),
    ("/v1/explain", JSON, b'{"text": "a b"}'),
    ("/v1/segments", JSON, b'{"project": "p", "source": "a", "translation": "s", "key": "k"}'),
    ("/translate", "Content-Type: application/x-www-form-urlencoded", b"q=a&source=de&target=en"),
    ("/detect", "Content-Type: application/x-www-form-urlencoded", b"q=a"),
    ("/RPC2", "Content-Type: text/xml", b"<methodCall><methodName>system.listMethods</methodName></methodCall>"),
]
HOSTS = ["evil.example", "localhost.evil.example", "[::1", "127.0.0.1:x", "", "a\tb", "localhost\r\nHost: evil.example"]
NASTY = [b"\r\n", b"\n", b"\0", b"\xff\xfe", b":", b" ", b"%ff", b"Content-Length: 5\r\n", b"HTTP/1.1", b"0\r\n\r\n"]
NASTY += [b"Transfer-Encoding: chunked\r\n", b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"Expect: 100-continue\r\n"]
MOST_SENT = 2**22  # bytes of what has no end
PAUSE = 0.05  # seconds between what is slow


class Step(NamedTuple):
    """Bytes, and the seconds before they are sent."""

    content: bytes
    pause: float = 0.0


def some_request(rng: random.Random) -> bytes:
    """A request with which nothing is wrong."""
    if rng.random() < 0.4:
        return request(rng.choice(TARGETS))
    target, kind, body = rng.choice(BODIES)
    return request(target, kind, body=body)


def head_and_body(rng: random.Random) -> tuple[bytes, bytes]:
    """A POST in two parts, of which the first ends before its empty line."""
    target, kind, body = rng.choice(BODIES)
    return request(target, kind).replace(b"GET", b"POST", 1)[:-2], body


def endless_head(rng: random.Random) -> Iterator[Step]:
    """A URL, a name, a header, headers, or empty lines without end."""
    begin = rng.choice(
        [b"GET /", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nA: ", some_request(rng).partition(b"\r\n")[0]]
    )
    unit = rng.choice([b"x", b"a: b\r\n", b"a:" + b"b" * 4000 + b"\r\n", b"\r\n", b"%ff", b" ", b"\r\n\tfolded"])
    piece = unit * (rng.choice([100, 2**12, 2**16, 2**18]) // len(unit) + 1)
    yield Step(begin)
    for _ in range(MOST_SENT // len(piece) if len(piece) > 2**10 else 2**10):
        yield Step(piece)


def slow_head(rng: random.Random) -> Iterator[Step]:
    """A head byte by byte, which never ends, or nothing at all."""
    if rng.random() < 0.5:
        yield Step(some_request(rng))
    for byte in request("/health")[: rng.randrange(40)]:
        yield Step(bytes([byte]), rng.uniform(0, PAUSE))


def slow_body(rng: random.Random) -> Iterator[Step]:
    """A body of which some never comes, or comes slowly."""
    head, body = head_and_body(rng)
    yield Step(head + b"Content-Length: %d\r\n\r\n" % (len(body) + rng.choice([0, 1, 10**4, 10**9])))
    for byte in body[: rng.randrange(len(body) + 1)]:
        yield Step(bytes([byte]), rng.uniform(0, PAUSE / 5))


def large_body(rng: random.Random) -> Iterator[Step]:
    """More than the server takes, sent to the end."""
    head, _ = head_and_body(rng)
    size = rng.choice([20_000, 20_001, 10**5, 10**6])
    yield Step(head + b"Content-Length: %d\r\n\r\n" % size)
    for _ in range(0, size, 1000):
        yield Step(b" " * 1000)


def bad_chunks(rng: random.Random) -> Iterator[Step]:
    """A body in chunks, some of which are none, or have much beside their content."""
    head, body = head_and_body(rng)
    yield Step(head + b"Transfer-Encoding: chunked\r\n\r\n")
    cuts = sorted(rng.randrange(len(body)) for _ in range(rng.randrange(6)))
    for begin, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        content = body[begin:end] or b" "
        size = rng.choice([b"%x" % len(content)] * 60 + [b"%x" % rng.getrandbits(80), b"-1", b"x", b"", b"0x2"])
        extension = rng.choice([b""] * 20 + [b";a=b", b";" + b"x" * rng.choice([10, 10**5]), b" " * 10**5])
        yield Step(size + extension + rng.choice([b"\r\n"] * 40 + [b"\n", b"", b"\r"]) + content + b"\r\n")
    yield Step(b"0\r\n" + b"a: b\r\n" * rng.choice([0, 0, 1, 10, 10**5]) + b"\r\n")


def broken_text(rng: random.Random) -> Iterator[Step]:
    """Bytes that are no text: in an address, a form, JSON or XML."""
    broken = bytes(rng.randrange(128, 256) for _ in range(rng.randrange(1, 4)))
    escaped = b"".join(b"%%%02x" % byte for byte in broken)
    place = rng.randrange(4)
    if place == 0:
        yield Step(request(rng.choice(TARGETS) + "?model=" + escaped.decode()))
    elif place == 1:
        yield Step(request("/translate", BODIES[5][1], body=b"source=de&target=en&q=" + rng.choice([broken, escaped])))
    else:
        target, kind, body = rng.choice(BODIES)
        at = rng.randrange(len(body) + 1)
        yield Step(request(target, kind, body=body[:at] + broken + body[at:]))


def other_host(rng: random.Random) -> Iterator[Step]:
    """A request by a name that is not the server's, or by none."""
    target, kind, body = rng.choice(BODIES)
    host = rng.choice([*HOSTS, None])
    yield Step(request(target, kind, body=body, host=host) if rng.random() < 0.5 else request("/", host=host))


def pipelined(rng: random.Random) -> Iterator[Step]:
    """Many requests at once, the last one perhaps cut off."""
    requests = b"".join(some_request(rng) for _ in range(rng.choice([2, 10, 150])))
    yield Step(requests[: len(requests) - rng.choice([0, 1, 10])])


def damaged(rng: random.Random) -> Iterator[Step]:
    """A request in which bytes are others, missing or too many; in pieces."""
    content = bytearray(b"".join(some_request(rng) for _ in range(rng.choice([1, 1, 3]))))
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(content))
        change = rng.randrange(4)
        if change == 0:
            content[at] = rng.randrange(256)
        elif change == 1:
            del content[at : at + rng.randrange(1, 20)]
        else:
            content[at:at] = rng.choice(NASTY) if change == 2 else content[at : at + rng.randrange(1, 200)]
        content = content or bytearray(b"\r\n")
    cut = rng.randrange(len(content))
    yield Step(bytes(content[:cut]))
    yield Step(bytes(content[cut:]), rng.choice([0, PAUSE]))


Kind = Callable[[random.Random], Iterator[Step]]
KINDS: dict[str, Kind] = {
    function.__name__: function
    for function in (
        endless_head,
        slow_head,
        slow_body,
        large_body,
        bad_chunks,
        broken_text,
        other_host,
        pipelined,
        damaged,
    )
}
