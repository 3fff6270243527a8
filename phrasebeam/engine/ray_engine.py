"""The engine of Ray: actors on any number of machines do long work; an actor that dies is replaced.

Calls are handed out in order, and results are returned in order. Other workers repeat what a dead worker had begun. A
call during which MOST_TRIES + 1 workers have died is an error.
"""

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phrasebeam.base.errors import SmtError
from phrasebeam.base.memory_bound import leave_out_processes
from phrasebeam.base.progress import log
from phrasebeam.base.side_by_side import Advance
from phrasebeam.engine.crew import Crew, CrewMember, Pending
from phrasebeam.engine.mapped_files import FileIdentity
from phrasebeam.engine.parcel import pack, size_of, unpack
from phrasebeam.engine.protocols import ITEMS_AT_ONCE, Item, Result
from phrasebeam.engine.ray_cluster import Cluster, connect, dead_worker_errors
from phrasebeam.engine.worker import Call, Done

AHEAD = 4  # calls per worker that have been sent or wait to be sent
SENT_AT_ONCE = 2  # calls sent to a worker, so that it need not wait for the next one
MOST_TRIES = 8  # repetitions of a call
SECONDS_BETWEEN_LOOKS = 0.5
SHIPPED_AT_ONCE = 64 << 20  # bytes of a file
SECONDS_OF_WORK = 0.5  # at most for one message, unless the least number of items takes longer
ROUNDS = 4  # a message has at most 1 / (ROUNDS * workers) of the items done so far, but at least the least number
MOST_ITEMS = 512  # in a message
_END = object()


@dataclass
class Sent:
    """A value that is sent once for many calls."""

    number: int
    reference: Any  # from Ray

    @property
    def entry(self) -> tuple[int, list[Any]]:
        """Number and references, as Call has them."""
        return self.number, [self.reference]


class MessageSize:
    """The number of items in the next message.

    A message takes a millisecond of the process that sends it, whatever it contains. That is too much if a million
    short items are sent to hundreds of workers. A few large messages would not divide the work evenly. So messages grow
    with the number of items done.
    """

    def __init__(self, least: int, n_workers: int):
        self._least, self._n_workers = least, n_workers
        self._n_items, self._seconds = 0, 0.0

    def count(self, n_items: int, seconds: float) -> None:
        self._n_items += n_items
        self._seconds += seconds

    def next(self) -> int:
        """The number of items worth SECONDS_OF_WORK, but at least `least` and at most MOST_ITEMS."""
        worth = int(SECONDS_OF_WORK * self._n_items / max(self._seconds, 1e-9))
        even = self._n_items // (ROUNDS * self._n_workers)
        return max(self._least, min(worth, even, MOST_ITEMS))


class RayEngine:
    """Workers of a cluster, from `connected` to `close`."""

    is_remote = True

    def __init__(self, cluster: Cluster, crew: Crew):
        self.cluster, self.crew, self._numbers = cluster, crew, itertools.count()
        self.processes = len(crew.members)
        self._waiting: deque[Pending] = deque()
        self._sent: dict[Any, tuple[CrewMember, Pending]] = {}  # by Ray's reference to the answer
        self._shipped: dict[str, list[Any]] = {}  # references to the parts of a file, by fingerprint
        self.bytes_sent = self.bytes_received = self.bytes_shared = 0

    @classmethod
    def connected(cls, address: str | None, workers: int | None) -> "RayEngine":
        """The engine of the cluster at `address`, or of one that is started here (None). Raises ConfigError."""
        leave_out_processes(True)
        cluster = connect(address, workers)
        try:
            return cls(cluster, Crew(cluster))
        except BaseException:
            cluster.close()
            raise

    def close(self) -> None:
        """Release all workers, and log what they did."""
        for line in self.crew.report(self.bytes_sent + self.bytes_received, self.bytes_shared):
            log.info(line)
        self.crew.close()
        self.cluster.close()
        leave_out_processes(False)

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        threads: int,
        at_once: int = ITEMS_AT_ONCE,
        is_python: bool = False,
    ) -> Generator[Result]:
        """See Engine.map; items are read in this thread, some batches ahead."""
        sent, size = self.share(function), MessageSize(at_once, len(self.crew.members))
        batches: Iterator[Sequence[Item]] | None = _batched(items, size.next)
        begun: deque[Pending] = deque()
        failed: BaseException | None = None
        try:
            while True:
                while batches is not None and len(begun) < AHEAD * len(self.crew.members):
                    try:
                        batch = next(batches, None)
                    except Exception as error:  # raised by reading; the items read before come first
                        failed, batch = error, None
                    if batch is None:
                        batches = None
                        break
                    begun.append(self._submit(sent, (), batch))
                if not begun:
                    break
                yield from self._results(begun[0])
                one = begun.popleft()
                size.count(one.n_items, one.done.seconds if one.done else 0.0)
            if failed is not None:
                raise failed
        finally:
            self._give_up(begun)

    def run(
        self, work: Callable[[Any, Advance], Result], pieces: Iterable[Any], workers: int, advance: Advance
    ) -> Generator[Result]:
        """See Engine.run; a piece is taken from `pieces` when workers will soon have time for it."""
        sent, left, begun = self.share(work), iter(pieces), list[Pending]()
        given = 0
        try:
            while True:
                while sum(one.done is None for one in begun) < 2 * len(self.crew.members):
                    if (piece := next(left, _END)) is _END:
                        break
                    begun.append(self._submit(sent, (), [piece], is_long=True))
                if given == len(begun):
                    return
                if (results := self._results_if(begun[given], advance, begun)) is not None:
                    given += 1
                    yield from results
        finally:
            self._give_up(begun)

    def threads(self, threads: int) -> int:
        return threads

    def begin(self, function: Callable[..., Any]) -> "RayCalls":
        return RayCalls(self, self.share(function))

    def share(self, value: object) -> Sent:
        parcel = pack(value)
        self.bytes_shared += size_of(parcel)
        return Sent(next(self._numbers), self.cluster.put(parcel))

    def _submit(self, sent: Sent, shared: Sequence[Sent], items: Sequence[Any], is_long: bool = False) -> Pending:
        packed = pack(list(items))
        self.bytes_sent += size_of(packed)
        one = Pending(Call(sent.entry, [value.entry for value in shared], packed, is_long), len(items))
        self._waiting.append(one)
        self._hand_out()
        return one

    def _results(self, one: Pending) -> list[Any]:
        while (results := self._results_if(one)) is None:
            pass
        return results

    def _results_if(
        self, one: Pending, advance: Advance | None = None, others: Sequence[Pending] = ()
    ) -> list[Any] | None:
        """The results of a call, if they arrive soon, else None; `advance` gets the steps done of all `others`."""
        if one.done is None:
            self._look()
        if advance is not None:
            self.crew.ask_for_steps()
            _tell(others, self.crew.steps(), advance)
        if one.done is None:
            return None
        value, one.done = unpack(one.done.value), one.done._replace(value=None)
        if one.done.kind == "error":
            raise value
        results: list[Any] = value
        return results

    def _hand_out(self) -> None:
        """Send waiting calls to the workers with the fewest calls."""
        while self._waiting:
            one = self._waiting[0]
            member = min(self.crew.members, key=lambda member: len(member.calls))
            if len(member.calls) >= (1 if one.call.is_long else SENT_AT_ONCE):
                return
            self._waiting.popleft()
            self._sent[member.send(one, one.call)] = member, one

    def _look(self) -> None:
        for reference in self.cluster.wait([*self._sent], SECONDS_BETWEEN_LOOKS):
            member, one = self._sent.pop(reference, (None, None))
            if member is None or one is None:
                continue  # the answer of a worker that has been replaced
            try:
                done: Done = self.cluster.get(reference)
            except dead_worker_errors() as error:
                self._replace(member, one, error)
                continue
            member.answered(one, done)
            if done.kind == "missing":
                self._ship(member, one, done.value)
            else:
                self.bytes_received += size_of(done.value)
                one.done = done
        self._hand_out()
        self.crew.show(len(self._waiting))

    def _replace(self, member: CrewMember, dead: Pending, error: BaseException) -> None:
        """Replace a dead worker, and put its calls before all waiting ones."""
        calls = [one for one in member.calls if not one.is_given_up]
        self._sent = {reference: entry for reference, entry in self._sent.items() if entry[0] is not member}
        self.crew.replace(member)
        for one in calls:
            one.tries += 1
            if one.tries > MOST_TRIES:
                raise SmtError(
                    f"{one.tries} workers died during the same task ({type(error).__name__}); "
                    "if memory ran out, give fewer workers per machine"
                )
        self._waiting.extendleft(reversed(calls))

    def _ship(self, member: CrewMember, one: Pending, file: FileIdentity) -> None:
        """Send a worker the bytes of a file that it does not see, and put its call before all waiting ones."""
        if file.fingerprint in one.missing:
            raise SmtError(f"{file.path}: a worker cannot store it in its cache directory; see docs/cluster.md")
        one.missing.add(file.fingerprint)
        if file.fingerprint not in self._shipped:
            self._shipped[file.fingerprint] = [*self._parts(file)]
        member.send_file(file, self._shipped[file.fingerprint])
        self._waiting.appendleft(one)

    def _parts(self, file: FileIdentity) -> Iterator[Any]:
        with open(file.path, "rb") as data:
            while part := data.read(SHIPPED_AT_ONCE):
                self.bytes_shared += len(part)
                yield self.cluster.put(np.frombuffer(part, np.uint8))

    def _give_up(self, calls: Iterable[Pending]) -> None:
        """Forget calls whose results are not needed; workers with long ones are ended and replaced."""
        unfinished = {one for one in calls if one.done is None}
        for one in unfinished:
            one.is_given_up = True
        self._waiting = deque(one for one in self._waiting if one not in unfinished)
        for member in list(self.crew.members):
            if any(one in unfinished and one.call.is_long for one in member.calls):
                self._sent = {reference: entry for reference, entry in self._sent.items() if entry[0] is not member}
                self.crew.replace(member, is_dead=False)


class RayCalls:
    """Calls of one function, which workers keep, and the values shared by them."""

    def __init__(self, engine: RayEngine, function: Sent):
        self._engine, self._function = engine, function

    def share(self, value: Any) -> Sent:
        return self._engine.share(value)

    def begin(self, items: Sequence[Any], *shared: Sent) -> Callable[[], list[Any]]:
        """See Calls.begin; each worker gets several messages, so that none waits long for the slowest."""
        engine = self._engine
        size = max(1, len(items) // (4 * len(engine.crew.members)))
        begun = [engine._submit(self._function, shared, items[i : i + size]) for i in range(0, len(items), size)]

        def results() -> list[Any]:
            try:
                return [result for one in begun for result in engine._results(one)]
            finally:
                engine._give_up(begun)

        return results


def _tell(calls: Sequence[Pending], steps: dict[Pending, int], advance: Advance) -> None:
    """Report the steps of long pieces since the last report."""
    for one in calls:
        now = one.done.steps if one.done is not None else steps.get(one, 0)
        if now > one.steps:
            advance(now - one.steps)
            one.steps = now


def _batched(items: Iterable[Item], size: Callable[[], int]) -> Iterator[Sequence[Item]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size())):
        yield batch
