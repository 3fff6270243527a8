"""The workers of an engine: the calls of each, statistics of its work, and its replacement when it dies."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.progress import show_beside
from phrasebeam.engine.mapped_files import FileIdentity
from phrasebeam.engine.ray_cluster import Cluster
from phrasebeam.engine.worker import Call, Done

SECONDS_BETWEEN_QUESTIONS = 1.0
MOST_STARTS = 10  # attempts to start one worker
MOST_SHOWN = 12  # workers on the terminal: those that have been busy longest with a call
STRAGGLES = 3.0  # a worker is a straggler if a call takes this many times the mean time of a call


@dataclass(eq=False)
class Pending:
    """A call whose results have not been used yet."""

    call: Call
    n_items: int
    tries: int = 0
    steps: int = 0  # steps of a long piece that have been reported
    done: Done | None = None
    is_given_up: bool = False  # whether nobody waits for it any more
    missing: set[str] = field(default_factory=set)  # fingerprints of files that were shipped for this call


@dataclass(eq=False)
class CrewMember:
    """A worker; when it dies, the worker that replaces it."""

    number: int
    actor: Any
    host: str = ""
    calls: list[Pending] = field(default_factory=list)  # sent and not yet answered, in order
    n_calls: int = 0  # number of answered calls
    n_items: int = 0
    seconds: float = 0.0  # of work
    processor_seconds: float = 0.0
    processor_seconds_to_start: float = 0.0  # of the present worker
    peak: int = 0  # bytes
    n_replaced: int = 0
    since: float = 0.0  # when its current call began
    question: Any = None  # Ray's reference to the answer about steps, and the call that it is about

    def send(self, one: Pending, call: Call) -> Any:
        """Send a call; return the reference of its answer."""
        if not self.calls:
            self.since = time.monotonic()
        self.calls.append(one)
        return self.actor.do.remote(call)

    def send_file(self, file: FileIdentity, parts: list[Any]) -> None:
        """Send a file; `parts`: references to its bytes."""
        self.actor.receive.remote(file, parts)

    def answered(self, one: Pending, done: Done) -> None:
        self.calls.remove(one)
        self.n_calls += 1
        self.since = time.monotonic()
        self.n_items += done.steps or one.n_items
        self.seconds += done.seconds
        if self.n_calls == 1:
            self.processor_seconds_to_start = done.processor_seconds_in_all - done.processor_seconds
        self.processor_seconds += done.processor_seconds
        self.peak = max(self.peak, done.peak)


class CrewScreen:
    """The workers, shown by rich below the progress bars: speed, memory, replacements and stragglers."""

    def __init__(self, members: Sequence[CrewMember], dashboard: str, n_waiting: Callable[[], int]):
        self.members, self.dashboard, self.n_waiting = members, dashboard, n_waiting

    def __rich__(self) -> Any:
        """A table with a row for each worker, and a line that says where to see more."""
        from rich.table import Table

        table = Table(caption=self.caption(), caption_justify="left", box=None)
        for name in ("worker", "machine", "items", "per second", "busy for", "memory", "replaced", ""):
            table.add_column(name, justify="left" if name in ("machine", "") else "right")
        for row in self.rows():
            table.add_row(*row)
        return table

    def rows(self) -> list[list[str]]:
        """The cells of the workers that have been busy longest with a call."""
        now, mean = time.monotonic(), self._mean_seconds()
        longest = sorted(self.members, key=lambda one: one.since if one.calls else now)[:MOST_SHOWN]
        rows = []
        for one in sorted(longest, key=lambda one: one.number):
            busy = now - one.since if one.calls else 0.0
            speed = f"{one.n_items / one.seconds:.1f}" if one.seconds else ""
            state = "straggler" if mean and busy > STRAGGLES * mean else ""
            cells = [str(one.number), one.host, str(one.n_items), speed, f"{busy:.0f} s" if one.calls else "idle"]
            rows.append([*cells, f"{one.peak >> 20} MB", str(one.n_replaced), state])
        return rows

    def caption(self) -> str:
        dashboard = f"; Ray's dashboard: http://{self.dashboard}" if self.dashboard else ""
        return f"{len(self.members)} workers, {self.n_waiting()} calls wait{dashboard}"

    def _mean_seconds(self) -> float:
        n_calls = sum(one.n_calls for one in self.members)
        return sum(one.seconds for one in self.members) / n_calls if n_calls else 0.0


class Crew:
    """All workers."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.members = [CrewMember(i, cluster.new_worker()) for i in range(cluster.n_workers)]
        for member in self.members:
            self._check(member)
        self.n_waiting, self._steps = 0, dict[Pending, int]()
        self._close_screen = show_beside(CrewScreen(self.members, cluster.dashboard, lambda: self.n_waiting))
        self._asked = 0.0

    def _check(self, member: CrewMember) -> None:
        """Wait until a worker has started; a worker that dies before is replaced. Raises ConfigError."""
        for _ in range(MOST_STARTS):
            host = self.cluster.checked(member.actor)
            if host is not None:
                member.host = host
                return
            self.replace(member)
        found = f"{MOST_STARTS} workers of Ray died before they began ({excerpt(self.cluster.last_death)})"
        raise ConfigError(f"{found}; install phrasebeam there, or give fewer workers")

    def close(self) -> None:
        self._close_screen()
        for member in self.members:
            self.cluster.end_worker(member.actor)

    def replace(self, member: CrewMember, is_dead: bool = True) -> None:
        """Replace a dead worker, or a worker whose work is no longer needed, by a new one."""
        self.cluster.end_worker(member.actor)
        member.actor, member.calls, member.question = self.cluster.new_worker(), [], None
        member.n_replaced += is_dead

    def ask_for_steps(self) -> None:
        if time.monotonic() - self._asked < SECONDS_BETWEEN_QUESTIONS:
            return
        self._asked = time.monotonic()
        for member in self.members:
            if member.question is None and member.calls:
                member.question = member.actor.steps.remote(), member.calls[0]

    def steps(self) -> dict[Pending, int]:
        """Steps of each pending call that workers have reported since the last query."""
        steps = dict[Pending, int]()
        for member in self.members:
            if member.question is not None and (n := self.cluster.answer_of(member.question[0])) is not None:
                steps[member.question[1]] = n
                member.question = None
        return steps

    def show(self, n_waiting: int) -> None:
        self.n_waiting = n_waiting

    def report(self, n_bytes: int, n_shared: int) -> list[str]:
        members = self.members
        seconds = sum(member.seconds for member in members)
        n_items, n_replaced = sum(member.n_items for member in members), sum(member.n_replaced for member in members)
        peak = max(member.peak for member in members)
        work = f"{len(members)} workers of Ray: {n_items} items, {n_items / max(seconds, 1e-9):.1f}/s each"
        processor = sum(member.processor_seconds for member in members)
        start = max(member.processor_seconds_to_start for member in members)
        size = f"{processor:.1f} s of processors, {start:.1f} s for a worker to start; {peak >> 20} MB at most in one"
        wire = f"{n_bytes / 2**20:.1f} MB of messages, {n_shared / 2**20:.1f} MB for all"
        return [f"{work}; {size}; {wire}; {n_replaced} died and were replaced"]
