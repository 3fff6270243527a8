"""A server under load: the waiting times of its clients, its speed compared with `translate`, and its memory.

    python -m benchmarks.speed.serve MODEL SOURCE [--clients 50] [--seconds 300] [--threads 2]

First `translate` translates the tokenized sentences of SOURCE, also with n-best lists and with prefixes: the server
must give the same answers. Then, for the given number of seconds, each client sends one request after another: single
sentences and batches, n-best lists, completions, calls of Moses' clients. One of twenty requests is cancelled after
some milliseconds, one of twenty is bad. Each answer is compared. Before that, clients send only sentences and batches,
to measure the throughput: source words per second, and per processor second of the server, which does not depend on
other programs. The clients use a part of the processors, too.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import PHRASEBEAM, busy_seconds, checkout_environment, megabytes, run, table

N, BATCH, TYPED = 5, 20, 3  # size of an n-best list, sentences in a batch, whole words of a prefix
REPEATED = 10  # how often `translate` repeats SOURCE, so that its start does not count
CANCELLED, BAD = 0.05, 0.05  # shares of requests
KINDS = {"sentence": 12, "batch": 2, "nbest": 2, "completion": 2, "moses": 2}  # relative frequencies
TRANSLATE = "/v1/translate"
BAD_REQUESTS = [
    (TRANSLATE, b"{", 422),
    (TRANSLATE, b'{"text": 1}', 422),
    (TRANSLATE, json.dumps({"text": "x " * 1000}).encode(), 413),
    (TRANSLATE, b'{"text": "a", "model": "../m"}', 404),
    ("/nothing", b"", 404),
]


class Expected(NamedTuple):
    """The output of `translate` for each sentence."""

    best: list[str]
    nbest: list[list[str]]
    prefixes: list[str]
    completed: list[str]


class Answer(NamedTuple):
    """A request that was answered, cancelled or refused."""

    kind: str
    seconds: float
    n_words: int  # words translated; 0 for cancelled and bad requests


class Load(NamedTuple):
    """What clients observed in some seconds."""

    answers: list[Answer]
    seconds: float
    processor_seconds: float  # of the server
    others: float  # processors kept busy by everything else: clients and other programs


def expected_of(model: Path, source: Path, threads: int, directory: Path) -> tuple[Expected, list[str]]:
    """The output of `translate`, and a row with its speed."""
    command = [*PHRASEBEAM, "translate", "--model", str(model), "--threads", str(threads), "--input", str(source)]
    lines = source.read_text().splitlines()
    first = directory / "first"
    first.write_text(f"{lines[0]}\n")
    often = directory / "often"
    often.write_text("".join(f"{line}\n" for line in lines * REPEATED))
    start, whole = (run([*command[:-1], str(path)]) for path in (first, often))
    best = whole.output.split("\n")[: len(lines)]
    lists = run([*command, "--nbest", str(N), "--distinct", "--nbest-output", "-"]).output.splitlines()
    nbest: list[list[str]] = [[] for _ in lines]
    for line in lists:
        number, text = line.split(" ||| ")[:2]
        nbest[int(number)].append(text)
    prefixes = [_typed(text) for text in best]
    (directory / "prefixes").write_text("".join(f"{prefix}\n" for prefix in prefixes))
    completed = run([*command, "--prefix", str(directory / "prefixes"), "--partial-word"]).output.split("\n")[:-1]
    n_words = REPEATED * sum(len(line.split()) for line in lines)
    speeds = n_words / (whole.seconds - start.seconds), n_words / (whole.processor_seconds - start.processor_seconds)
    row = ["translate", *(f"{speed:,.0f}" for speed in speeds), "", "", f"{whole.others:.1f}"]
    return Expected(best, nbest, prefixes, completed), row


def _typed(text: str) -> str:
    """Some words of a translation and the first half of the next word."""
    words = text.split()
    return " ".join([*words[:TYPED], *(word[: (len(word) + 1) // 2] for word in words[TYPED : TYPED + 1])])


class Client:
    """One connection that is kept open; the client does as little work as possible."""

    def __init__(self, port: int, lines: list[str], expected: Expected, seed: int):
        self.port, self.lines, self.expected, self.random = port, lines, expected, random.Random(seed)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to a request."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status = int((await reader.readline()).split()[1])
        size, is_last = 0, False
        while line := (await reader.readline()).strip().lower():
            size = int(line.split()[1]) if line.startswith(b"content-length:") else size
            is_last = is_last or line == b"connection: close"
        answer = await reader.readexactly(size)
        if is_last:
            self.close()
        return status, answer

    def close(self) -> None:
        """Close the connection, which cancels the current request."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None

    async def ask(self, kind: str) -> Answer:
        """Send one request of that kind. Raises AssertionError if the answer differs from that of `translate`."""
        start, chance = time.perf_counter(), self.random.random()
        if kind != "mixed":
            n_words = await getattr(self, kind)()
        elif chance < CANCELLED:
            kind, n_words = "cancelled", 0
            await self.cancelled()
        elif chance < CANCELLED + BAD:
            kind, n_words = "bad", 0
            path, body, expected = self.random.choice(BAD_REQUESTS)
            status, _ = await self.post(path, body)
            assert status == expected, (path, body, status)
        else:
            (kind,) = self.random.choices(list(KINDS), list(KINDS.values()))
            n_words = await getattr(self, kind)()
        return Answer(kind, time.perf_counter() - start, n_words)

    def some(self) -> int:
        return self.random.randrange(len(self.lines))

    async def json(self, path: str, body: dict[str, Any]) -> Any:
        status, answer = await self.post(path, json.dumps(body).encode())
        assert status == 200, (status, answer)
        return json.loads(answer)

    async def sentence(self) -> int:
        i = self.some()
        answer = await self.json(TRANSLATE, {"text": self.lines[i]})
        assert answer["translations"][0]["text"] == self.expected.best[i]
        return len(self.lines[i].split())

    async def batch(self) -> int:
        numbers = [self.some() for _ in range(BATCH)]
        answer = await self.json(TRANSLATE, {"text": [self.lines[i] for i in numbers]})
        assert [one["text"] for one in answer["translations"]] == [self.expected.best[i] for i in numbers]
        return sum(len(self.lines[i].split()) for i in numbers)

    async def nbest(self) -> int:
        i = self.some()
        answer = await self.json(TRANSLATE, {"text": self.lines[i], "nbest": N, "distinct": True, "alignment": True})
        assert [one["text"] for one in answer["translations"][0]["nbest"]] == self.expected.nbest[i]
        return len(self.lines[i].split())

    async def completion(self) -> int:
        i = self.some()
        prefix = self.expected.prefixes[i]
        answer = await self.json("/v1/complete", {"text": self.lines[i], "prefix": prefix})
        assert answer["completions"][0]["text"] == self.expected.completed[i]
        assert prefix + answer["completions"][0]["rest"] == self.expected.completed[i]
        return len(self.lines[i].split())

    async def moses(self) -> int:
        i = self.some()
        call = xmlrpc.client.dumps(({"text": self.lines[i], "align": True},), "translate")
        _, answer = await self.post("/RPC2", call.encode())
        ((result,), _) = xmlrpc.client.loads(answer)
        assert result["text"] == self.expected.best[i]
        return len(self.lines[i].split())

    async def cancelled(self) -> None:
        """Send a batch, and close the connection after some milliseconds."""
        body = {"text": [self.lines[self.some()] for _ in range(BATCH)]}
        request = asyncio.ensure_future(self.post(TRANSLATE, json.dumps(body).encode()))
        await asyncio.wait([request], timeout=self.random.uniform(0.0, 0.05))
        request.cancel()
        self.close()
        await asyncio.wait([request])


@contextmanager
def served(model: Path, threads: int) -> Iterator[tuple[int, int]]:
    """The process id and the port of a server of the model."""
    options = ["--model", f"m={model}", "--port", "0", "--threads", str(threads)]
    process = subprocess.Popen([*PHRASEBEAM, "serve", *options], stderr=subprocess.PIPE, env=checkout_environment())
    assert process.stderr
    try:
        line = next((line for line in process.stderr if b"listening on" in line), b"")
        with tempfile.TemporaryFile() as log:  # so that the server never waits until its log is read
            drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=log)
            port = re.search(rb"listening on http://[^ ]*:(\d+)", line)
            assert port, "the server did not begin"
            yield process.pid, int(port[1])
            process.terminate()
            assert process.wait() == 0, "the server did not end well"
            drain.wait()
            log.seek(0)
            assert b" 500 " not in log.read()
    finally:
        process.kill()


async def load(clients: list[Client], kind: str, seconds: float, pid: int) -> Load:
    """The clients' observations in `seconds`; each sends its next request when the last one has been answered."""
    start, processor, busy = time.perf_counter(), processor_seconds(pid), busy_seconds()
    answers: list[Answer] = []

    async def go(client: Client) -> None:
        while time.perf_counter() - start < seconds:
            answers.append(await client.ask(kind))
        client.close()  # the server closes connections that are idle for some seconds

    await asyncio.gather(*map(go, clients))
    taken, processor = time.perf_counter() - start, processor_seconds(pid) - processor
    return Load(answers, taken, processor, (busy_seconds() - busy - processor) / taken)


def processor_seconds(pid: int) -> float:
    """Processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def private_bytes(pid: int) -> int:
    """Resident memory of a process without pages of mapped files."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))


async def watch_memory(pid: int, seconds: float, parts: int) -> list[int]:
    """The private memory at the end of each of `parts` equal parts of the given seconds."""
    found = []
    for _ in range(parts):
        await asyncio.sleep(seconds / parts)
        found.append(private_bytes(pid))
    return found


def speed_row(name: str, part: Load) -> list[str]:
    """A row with words per second and per processor second, and with waiting times."""
    n_words = sum(one.n_words for one in part.answers)
    times = [one.seconds for one in part.answers if one.n_words]
    speeds = n_words / part.seconds, n_words / part.processor_seconds
    waits = percentile(times, 0.5), percentile(times, 0.99)
    return [name, *(f"{speed:,.0f}" for speed in speeds), *(f"{wait:,.0f}" for wait in waits), f"{part.others:.1f}"]


def percentile(seconds: list[float], share: float) -> float:
    """The milliseconds within which that share of the requests was answered."""
    return 1e3 * sorted(seconds)[min(int(share * len(seconds)), len(seconds) - 1)]


def kinds_table(part: Load) -> str:
    """A table with the number of requests of each kind and their waiting times."""
    rows = [["requests", "number", "p50 ms", "p99 ms"]]
    for kind, count in Counter(one.kind for one in part.answers).most_common():
        times = [one.seconds for one in part.answers if one.kind == kind]
        waits = [] if kind == "cancelled" else [f"{percentile(times, share):,.0f}" for share in (0.5, 0.99)]
        rows.append([kind, f"{count:,}", *(waits or ["", ""])])
    return table(rows)


async def measure(options: argparse.Namespace, expected: Expected, row: list[str]) -> None:
    lines = options.source.read_text().splitlines()
    rows = [["", "words/s", "words per processor second", "p50 ms", "p99 ms", "other processors busy"], row]
    with served(options.model, options.threads) as (pid, port):
        clients = [Client(port, lines, expected, seed) for seed in range(options.clients)]
        short = options.seconds / 10
        await load(clients, "sentence", short / 2, pid)
        one = await load(clients[:1], "sentence", short, pid)
        rows.append(speed_row("1 client, sentences", one))
        for kind in ("sentence", "batch"):
            part = await load(clients, kind, short, pid)
            rows.append(speed_row(f"{options.clients} clients, {kind}", part))
        memory = asyncio.ensure_future(watch_memory(pid, options.seconds, 10))
        mixed = await load(clients, "mixed", options.seconds, pid)
        rows.append(speed_row(f"{options.clients} clients, mixed", mixed))
    print(table(rows), kinds_table(mixed), sep="\n\n")
    print(f"\nPrivate memory by tenths of {options.seconds:g} s: {', '.join(map(megabytes, await memory))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        expected, row = expected_of(options.model, options.source, options.threads, Path(directory))
    asyncio.run(measure(options, expected, row))


if __name__ == "__main__":
    sys.exit(main())
