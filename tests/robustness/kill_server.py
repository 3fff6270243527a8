"""A server killed at random moments while clients confirm segments: python -m tests.robustness.kill_server KILLS SEED.

After each kill -9 it starts again on the same projects: every segment that was answered must be there, by its number,
and none twice. Clients with keys send what was not answered again, as they may; the others go on with the next segment.
In every other life of the server another program removes, replaces or cuts the journal of a project, as backups and
rotation of logs do: what is sent after that and answered must be there; what the server refuses (503) counts as not
answered. Prints a line for each kill and the sums, and fails where anything went wrong.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.decoder.models import random_toy
from tests.server.running import running

LONGEST_LIFE = 1.5  # seconds that clients have, at most
PATIENCE = 30.0  # seconds for an answer
REFUSED = 503  # where the journal was changed by another program
CLIENTS = (("one", True), ("one", False), ("two", True), ("two", False))  # project, and whether it sends keys


class Answer(NamedTuple):
    """What a segment was answered with."""

    number: int
    sent: float  # when, by the clock of this process


class Confirmer:
    """A client that confirms segments, each with words of its own, one after the other; it outlives servers."""

    def __init__(self, number: int, project: str, has_keys: bool):
        self.number, self.project, self.has_keys = number, project, has_keys
        self.n_sent = 0
        self.pending: str | None = None  # a translation to be sent again
        self.answered: dict[str, Answer] = {}  # by their translations
        self.unanswered: set[str] = set()
        self.n_refused = 0

    def run(self, url: str) -> None:
        """Confirm segments until the server is gone. Raises AssertionError where it refuses one."""
        connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
        try:
            while True:
                if self.pending is None:
                    self.n_sent += 1
                    self.pending = f"s t client{self.number}word{self.n_sent}"
                sent = time.monotonic()
                number = self._confirm(connection, self.pending)
                if number is None:
                    self.n_refused += 1
                    self._leave_unanswered()
                    continue
                self.answered[self.pending] = Answer(number, sent)
                self.unanswered.discard(self.pending)
                self.pending = None
        except (OSError, HTTPException):
            self._leave_unanswered()
        finally:
            connection.close()

    def _leave_unanswered(self) -> None:
        if self.pending is not None:
            self.unanswered.add(self.pending)
        if not self.has_keys:
            self.pending = None

    def _confirm(self, connection: HTTPConnection, translation: str) -> int | None:
        """The number of the segment, None where the server refuses it since the journal has changed."""
        body = {"project": self.project, "source": "a b", "translation": translation}
        if self.has_keys:
            body["key"] = translation
        connection.request("POST", "/v1/segments", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status == REFUSED and b"another program" in content:
            return None
        assert answer.status == 200, content
        number: int = json.loads(content)["number"]
        return number


def removed(journal: Path) -> None:
    """Remove the journal, like rm."""
    journal.unlink()


def replaced(journal: Path) -> None:
    """Put a copy in its place, like rsync."""
    copy = journal.with_suffix(".copy")
    copy.write_bytes(journal.read_bytes())
    copy.replace(journal)


def cut(journal: Path) -> None:
    """In the middle, perhaps of a record."""
    os.truncate(journal, journal.stat().st_size // 2)


def copied_and_emptied(journal: Path) -> None:
    """Copy and empty it, like logrotate with copytruncate."""
    journal.with_suffix(".1").write_bytes(journal.read_bytes())
    os.truncate(journal, 0)


def restored(journal: Path) -> None:
    """Write fewer records into it, like cp from a backup."""
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))


CHANGES = removed, replaced, cut, copied_and_emptied, restored


def complaints_of(clients: Sequence[Confirmer], url: str, changed: Mapping[str, float]) -> list[str]:
    """What a server that has started again lacks, has twice, or has under another number.

    `changed`: when the journal of a project was last changed by another program; what was sent before may be lost.
    """
    found = list[str]()
    for project in dict.fromkeys(client.project for client in clients):
        mine = [client for client in clients if client.project == project]
        segments = listed(url, project)
        counts = Counter(translation for translation, _ in segments)
        known = {text for client in mine for text in (*client.answered, *client.unanswered)}
        found += [f"{project}: {text} is there {count} times" for text, count in counts.items() if count > 1]
        found += [f"{project}: {text} was never sent" for text in counts.keys() - known]
        there = set(segments)
        for client in mine:
            kept = {text: one for text, one in client.answered.items() if one.sent > changed.get(project, 0.0)}
            lost = [text for text, one in kept.items() if (text, one.number) not in there]
            found += [f"{project}: {text} was answered, and is not there" for text in lost]
    return found


def listed(url: str, project: str) -> list[tuple[str, int]]:
    """Translation and number of all segments of a project."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    connection.request("GET", f"/v1/segments/export?project={project}")
    answer = connection.getresponse()
    lines = answer.read().decode("utf-8").splitlines()
    connection.close()
    assert answer.status == 200, lines
    return [(record["translation"], record["number"]) for record in map(json.loads, lines)]


def campaign(kills: int, seed: int) -> int:
    """Kill a server so many times; print what came of it, and return the number of complaints."""
    rng, n_complaints, changed = random.Random(seed), 0, dict[str, float]()
    clients = [Confirmer(number, *client) for number, client in enumerate(CLIENTS)]
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(len(clients)) as threads:
        model, projects = random_toy(Path(place), 1).directory, Path(place) / "projects"
        options = "--model", model, "--projects", projects, "--threads", 2
        for kill in range(kills + 1):
            with running(*options) as server:
                complaints = complaints_of(clients, server.url, changed)
                n_complaints += len(complaints)
                print("\n".join(complaints) or f"{kill} of {kills}: {told(clients, server.url)}", flush=True)
                if kill < kills:
                    runs = [threads.submit(client.run, server.url) for client in clients]
                    time.sleep(rng.uniform(0, LONGEST_LIFE))
                    project = rng.choice(CLIENTS)[0]
                    journal = projects / model.name / f"{project}.journal"
                    if kill % 2 and journal.exists():
                        rng.choice(CHANGES)(journal)
                        changed[project] = time.monotonic()
                        time.sleep(rng.uniform(0, LONGEST_LIFE))
                    server.process.kill()
                    for run in runs:
                        run.result()
    return n_complaints


def told(clients: Sequence[Confirmer], url: str) -> str:
    """How many segments were answered, and what became of the others."""
    answered = sum(len(client.answered) for client in clients)
    there = {text for project in {client.project for client in clients} for text, _ in listed(url, project)}
    unanswered = {text for client in clients for text in client.unanswered}
    kept = len(unanswered & there)
    refused = sum(client.n_refused for client in clients)
    counts = f"{len(unanswered)} not, of which {kept} are there, {len(there)} in all"
    return f"{answered} answered, {counts}, {refused} times refused"


if __name__ == "__main__":
    sys.exit(campaign(int(sys.argv[1]), int(sys.argv[2])) > 0)
