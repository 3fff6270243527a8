"""Hostile clients of a server: python -m tests.robustness.hostile_http CASES SEED.

Each case is a connection that sends what its number and the seed say: heads without end, too slow or cut off, bodies
that are shorter or longer than they say, damaged chunks and requests, other hosts, text that is not UTF-8. Meanwhile
the server must answer others in time; afterwards it must have ended every connection, have held little memory, and have
logged no failure. Prints a table of the cases by kind and their answers, and fails where anything went wrong.
"""

import os
import random
import re
import socket
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.decoder.models import random_toy
from tests.robustness.hostile_requests import KINDS, Step
from tests.server.raw_client import connect, exchange, received_from, request
from tests.server.running import Server, running

CLIENTS = 16  # at the same time
IDLE, SECONDS = 0.5, 2.0  # limits of the server
PATIENCE = 15.0  # seconds until the server has ended a connection; those limits, and what a busy machine needs
HEALTHY = 5.0  # seconds in which it must answer
MOST_GROWTH = 200 * 2**10  # kB of memory
ABRUPT = 0.2  # share of the clients that reset their connection in place of waiting for an answer


class Outcome(NamedTuple):
    """What came of a case."""

    kind: str
    end: str  # the last status, or how the connection ended without one
    complaint: str = ""


def run_case(url: str, seed: int, number: int) -> Outcome:
    """Send what the case says, and wait for the end of the connection."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choice(sorted(KINDS))
    with connect(url, PATIENCE) as connection:
        with suppress(OSError):  # the server has closed it, and may have said why
            send(connection, KINDS[kind](rng))
        if rng.random() < ABRUPT:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return Outcome(kind, "reset by the client")
        received, is_closed = received_from(connection)
    if not is_closed:
        return Outcome(kind, "open", f"not ended after {PATIENCE:g} seconds")
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]
    wrong = [status for status in statuses if status >= 500]
    return Outcome(kind, str(statuses[-1] if statuses else "closed"), f"answered {wrong}" if wrong else "")


def send(connection: socket.socket, steps: Iterator[Step]) -> None:
    """Send bytes, after pauses."""
    for step in steps:
        time.sleep(step.pause)
        connection.sendall(step.content)


def watch(url: str, is_done: Callable[[], bool]) -> list[str]:
    """Ask for the health of the server until all is done; complaints about what was not answered, or late."""
    complaints = []
    while not is_done():
        answered = exchange(url, request("/health", "Connection: close"), seconds=HEALTHY)
        if answered.statuses != [200] or answered.seconds > HEALTHY:
            complaints.append(f"/health: {answered.statuses} after {answered.seconds:.1f} s")
        time.sleep(0.05)
    return complaints


def open_sockets(server: Server) -> int:
    """How many connections the server has open, and sockets of its own."""
    count = 0
    for path in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            count += os.readlink(path).startswith("socket:")
    return count


def most_resident(server: Server) -> int:
    """The most memory that it has had, in kB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s*(\d+)", status, re.M)[1])  # type: ignore[index]


def attacked(server: Server, cases: int, seed: int) -> tuple[list[Outcome], list[str]]:
    """Run the cases; their outcomes, and complaints about the server as a whole."""
    watch(server.url, iter([False, True]).__next__)
    sockets, memory, done = open_sockets(server), most_resident(server), threading.Event()
    with ThreadPoolExecutor(CLIENTS + 1) as threads:
        watching = threads.submit(watch, server.url, done.is_set)
        outcomes = list(threads.map(lambda number: run_case(server.url, seed, number), range(cases)))
        done.set()
        complaints = watching.result()
    end = time.monotonic() + PATIENCE
    while open_sockets(server) > sockets and time.monotonic() < end:
        time.sleep(0.1)
    if open_sockets(server) > sockets:
        complaints.append(f"{open_sockets(server) - sockets} connections are left")
    if (growth := most_resident(server) - memory) > MOST_GROWTH:
        complaints.append(f"{growth} kB of memory")
    if (status := server.stop()) != 0:
        complaints.append(f"the server ended with status {status}")
    return outcomes, complaints + [line for line in server.lines if re.match(r"Traceback|.* failed|.*\bERROR\b", line)]


def campaign(cases: int, seed: int) -> int:
    """Run so many cases; print what came of them, and return the number of complaints."""
    with tempfile.TemporaryDirectory() as place:
        model = random_toy(Path(place), 1).directory
        limits = "--max-idle", IDLE, "--max-seconds", SECONDS, "--max-bytes", 20_000
        with running("--model", model, "--projects", Path(place) / "projects", *limits) as server:
            outcomes, complaints = attacked(server, cases, seed)
    for number, outcome in enumerate(outcomes):
        if outcome.complaint:
            complaints.append(f"case {number}, {outcome.kind}: {outcome.complaint}")
    for kind in sorted({outcome.kind for outcome in outcomes}):
        ends = Counter(outcome.end for outcome in outcomes if outcome.kind == kind)
        print(f"{kind:<20}{ends.total():>6}  {', '.join(f'{end}: {n}' for end, n in sorted(ends.items()))}")
    print("\n".join([*complaints, f"{cases} cases of seed {seed}: {len(complaints)} complaints"]), flush=True)
    return len(complaints)


if __name__ == "__main__":
    sys.exit(campaign(int(sys.argv[1]), int(sys.argv[2])) > 0)
