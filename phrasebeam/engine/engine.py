"""The seam between long work and what does it: threads and forked processes of this one, or workers on many machines.

Work is a function; its results come in the order of its items and are the same for any number of workers and either
engine. The engine is chosen where a command begins, and found here by whatever spreads its work.
"""

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.side_by_side import Advance, run_side_by_side
from phrasebeam.engine.forked_map import map_by_processes

Item = TypeVar("Item")
Result = TypeVar("Result")
EngineName = Literal["local", "ray"]
MOST_WORKERS = 10_000
ITEMS_AT_ONCE = 16  # that are sent to a worker together: a message costs a millisecond


class EngineSettings(Section):
    """Who does the long work of a command; results do not depend on it."""

    engine: EngineName = Field(
        "local", description="who does the work: this machine (local) or Ray's workers; results do not depend on it"
    )
    address: str | None = Field(None, description="address of Ray's cluster, host:port or auto")
    workers: int | None = Field(None, ge=1, le=MOST_WORKERS, description="processes that work at the same time")


class Engine(Protocol):
    """Who does the work."""

    is_remote: bool  # whether workers see only what is sent to them, and files
    processes: int  # that work at the same time, where it was told; else 1

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        threads: int,
        at_once: int = ITEMS_AT_ONCE,
        is_python: bool = False,
    ) -> Generator[Result]:
        """function(item) for every item, in order; `threads` where the engine was not told of workers.

        `at_once`: short items that are worth a message together. `is_python`: the work is mostly that of Python's
        interpreter, so that threads would wait for each other. What the function or reading raises is raised here.
        Who may not come to its end, be it by an error of its own, closes it (contextlib.closing).
        """

    def run(
        self, work: Callable[[Any, Advance], Result], pieces: Iterable[Any], workers: int, advance: Advance
    ) -> Generator[Result]:
        """The results of work on long pieces, in their order; see run_side_by_side, which takes numbers alone."""

    def threads(self, threads: int) -> int:
        """Threads of this process to use where it was told `threads`, unless the engine was told of workers."""


@runtime_checkable
class RemoteEngine(Engine, Protocol):
    """An engine whose workers are elsewhere."""

    def begin(self, function: Callable[..., Any]) -> "Calls":
        """Calls of `function` on items and what changes between them; the function is sent as it is now."""


class Calls(Protocol):
    """Calls of one function, whose further arguments change from time to time."""

    def share(self, value: Any) -> Any:
        """A name for `value` as it is now, which is sent to each worker once, for any number of calls."""

    def begin(self, items: Sequence[Any], *shared: Any) -> Callable[[], list[Any]]:
        """Begin with function(item, *shared) for all items; a function that waits for the results, in their order.

        `shared`: names of what was shared; workers keep the last four values, the same objects as long as they do.
        """


class LocalEngine:
    """Threads of this process, and processes forked from it."""

    is_remote = False

    def __init__(self, workers: int | None = None):
        self.workers, self.processes = workers, workers or 1

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        threads: int,
        at_once: int = ITEMS_AT_ONCE,
        is_python: bool = False,
    ) -> Generator[Result]:
        """By threads, or by forked processes where the work is Python's and the system can fork safely."""
        if is_python and self.threads(threads) > 1 and sys.platform == "linux":
            return map_by_processes(function, items, self.threads(threads), at_once)
        return map_ordered(function, items, self.threads(threads))

    def run(
        self, work: Callable[[Any, Advance], Result], pieces: Iterable[Any], workers: int, advance: Advance
    ) -> Generator[Result]:
        """By forked processes."""
        yield from run_side_by_side(work, [*pieces], self.workers or workers, advance)

    def threads(self, threads: int) -> int:
        """See Engine.threads."""
        return self.workers or threads


_engine: ContextVar[Engine | None] = ContextVar("engine", default=None)
LOCAL = LocalEngine()


def current_engine() -> Engine:
    """The engine of the command, or of the function of the API, that runs in this thread."""
    return _engine.get() or LOCAL


@contextmanager
def using_engine(settings: EngineSettings) -> Iterator[Engine]:
    """Let long work be done as `settings` say until the context ends. Raises ConfigError where that is impossible."""
    if settings.engine == "local" and settings.address is not None:
        raise ConfigError("--address is that of a Ray cluster; give --engine ray, or leave it out")
    engine: Engine = LocalEngine(settings.workers) if settings.engine == "local" else _ray_engine(settings)
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)
        if settings.engine == "ray":
            engine.close()  # type: ignore[attr-defined]


def _ray_engine(settings: EngineSettings) -> Engine:
    from phrasebeam.engine.ray_engine import RayEngine

    return RayEngine.connected(settings.address, settings.workers)
