"""Clients that send without end, slowly, or nothing, and those that read nothing: each ends within bounds."""

import os
import re
import resource
import socket
import time
import urllib.request
from contextlib import ExitStack, contextmanager

import pytest

from tests.server.raw_client import JSON, connect, exchange, received_from, request
from tests.server.running import running, wait_until

IDLE = 1.0  # seconds
LATE = 8.0  # seconds after which a busy machine is no excuse
MOST = 20  # connections
HEALTH = request("/health")
CHUNKED = request("/v1/translate", JSON, "Transfer-Encoding: chunked").replace(b"GET", b"POST")
ENDLESS = [b"x" * 2**20] * 30
HEADERS = [(b"a: " + b"b" * 4000 + b"\r\n") * 250] * 30
MANY = b"a: b\r\n" * 1000 + b"\r\n"
GROWTH = 30 * 2**10  # kB that a server may grow by


@pytest.fixture(scope="module")
def server(toy):
    with running("--model", toy, "--max-idle", IDLE, "--max-connections", MOST) as server:
        exchange(server.url, HEALTH)
        yield server


def most_resident(server):
    """The most memory that a server has had, in kB."""
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(re.search(r"^VmHWM:\s*(\d+)", status.read(), re.M)[1])


@pytest.mark.parametrize(
    "parts",
    [
        [HEALTH[:-2], b"A: ", *ENDLESS],
        [b"GET /", *ENDLESS],
        [HEALTH[:-2], *ENDLESS],
        [HEALTH[:-2], *HEADERS],
        [HEALTH[:-2], MANY],
        [HEALTH[:-2], b"a: b\r\n" * 2000],
        [b"\r\n" * 2**19],
        [CHUNKED, b"d;", *ENDLESS],
        [CHUNKED, b'd\r\n{"text": "a"}\r\n0\r\n', *HEADERS],
        [CHUNKED, b'd\r\n{"text": "a"}\r\n0\r\n', b"a: " + b"b" * 10**5],
    ],
    ids=["header", "url", "name", "headers", "many", "unfinished", "lines", "chunk", "trailers", "trailer"],
)
def test_endless_heads(server, parts):
    before = most_resident(server)
    ended = exchange(server.url, *parts)
    assert ended.statuses in ([431], [])  # nothing where the answer was lost to what was still sent
    assert ended.is_closed
    assert ended.seconds < LATE
    assert most_resident(server) - before < GROWTH
    assert any(" refused: 431 " in line for line in server.lines[-5:])
    assert exchange(server.url, HEALTH).statuses == [200]


def test_large_heads_and_many_small_chunks_are_taken(server):
    assert exchange(server.url, request("/health", "A: " + "b" * 60_000)).statuses == [200]
    body = b"1\r\n \r\n" * 200_000 + b'd\r\n{"text": "a"}\r\n0\r\nTrailer: a\r\n\r\n'
    assert exchange(server.url, CHUNKED, body).statuses == [200]


def test_the_answer_says_what_is_wrong(server):
    ended = exchange(server.url, request("/health", "A: " + "b" * 70_000))
    assert ended.statuses == [431]
    assert ended.text.endswith('{"error":"the request has more than 65536 bytes besides its body; send fewer headers"}')
    assert exchange(server.url, b"hello\r\n\r\n").text.endswith('{"error":"what came is no HTTP request"}')


def test_pipelined_requests(server):
    assert exchange(server.url, HEALTH * 50).statuses == [200] * 50
    refused = exchange(server.url, HEALTH * 2000).statuses
    assert refused == [200] * (len(refused) - 1) + [429]
    assert len(refused) > 100
    large = request("/health", "A: " + "b" * 140_000)  # twice as much may pass where it comes together with others
    assert exchange(server.url, HEALTH * 3 + large).statuses == [200, 200, 200, 431]
    unfinished = exchange(server.url, HEALTH * 3 + CHUNKED + b"d;" + b"x" * 140_000 + HEALTH).statuses
    assert unfinished == [200, 200, 200, 431]


@pytest.mark.parametrize(
    ("parts", "statuses"),
    [
        ([b""], []),
        ([bytes([byte]) for byte in request("/health", "A: " + "b" * 100)], [408]),
        ([b"\r\n"] * 100, []),
        ([HEALTH], [200]),
        ([HEALTH, *(bytes([byte]) for byte in request("/health", "A: " + "b" * 100))], [200, 408]),
    ],
    ids=["silent", "slow", "lines", "idle", "then-slow"],
)
def test_slow_and_silent_clients(server, parts, statuses):
    ended = exchange(server.url, *parts, pause=0.1)
    assert ended.statuses == statuses
    assert ended.is_closed
    assert IDLE * 0.9 < ended.seconds < LATE + 0.1 * len(parts)


def test_clients_that_do_not_read(server):
    bundle = request("/static-offline-docs/swagger-ui-bundle.js")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", int(server.url.rsplit(":")[-1])))
        connection.settimeout(LATE)
        connection.sendall(bundle * 20)
        wait_until(lambda: n_open(server) == 1, LATE)  # that of the question
        received, is_closed = received_from(connection)
        assert is_closed
        assert received.count(b" 200 OK") < 20


def n_open(server):
    """How many files and connections the server has open, those aside that it has when nobody asks."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=60) as answer:
        open_now = re.search(r"^process_open_fds (\S+)", answer.read().decode(), re.M)
    return int(float(open_now[1])) - server.n_files


@pytest.fixture(autouse=True)
def files_at_rest(server):
    """Count what is open before the first test."""
    if not hasattr(server, "n_files"):
        server.n_files = 0
        server.n_files = n_open(server) - 1


def test_too_many_connections(server):
    with ExitStack() as stack:
        first = stack.enter_context(connect(server.url))
        for _ in range(MOST - 1):
            stack.enter_context(connect(server.url))
        first.sendall(HEALTH[:-2])  # in no hurry
        refused = exchange(server.url, HEALTH)
        assert refused.statuses in ([503], [])
        assert refused.is_closed
        first.sendall(b"\r\n")
        assert b" 200 OK" in first.recv(1000)
        wait_until(lambda: exchange(server.url, HEALTH).statuses == [200], LATE)


@contextmanager
def files(most):
    """Let processes that begin have so many files open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_few_files_and_many_silent_connections(toy):
    with ExitStack() as stack:
        with files(160 + len(os.listdir("/proc/self/fd"))):  # those of this process count until the server starts
            server = stack.enter_context(running("--model", toy, "--max-idle", IDLE))
        for _ in range(300):
            stack.enter_context(connect(server.url))
        start = time.monotonic()
        wait_until(lambda: exchange(server.url, HEALTH).statuses == [200], LATE)
        assert time.monotonic() - start < LATE
        assert server.stop() == 0
        assert not any("Traceback" in line for line in server.lines)
