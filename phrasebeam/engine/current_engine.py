"""The engine in use: threads and forked processes of this process, or Ray's workers on many machines.

A command chooses it at its beginning; code that distributes its work gets it from here.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.base.side_by_side import Advance, run_side_by_side
from phrasebeam.engine.forked_map import map_by_processes
from phrasebeam.engine.protocols import ITEMS_AT_ONCE, Engine, Item, Result
from phrasebeam.system.forks import can_fork

EngineName = Literal["local", "ray"]
MOST_WORKERS = 10_000


class EngineSettings(Section):
    """Where the long work of a command is done; results do not depend on it."""

    engine: EngineName = Field(
        "local",
        description="where to compute: on this machine (local) or on Ray's workers; results do not depend on it",
    )
    address: str | None = Field(None, description="address of Ray's cluster, host:port or auto")
    workers: int | None = Field(None, ge=1, le=MOST_WORKERS, description="number of worker processes")


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
        """Engine.map by threads, or by forked processes if the work is mostly Python's and forking is safe."""
        if is_python and self.threads(threads) > 1 and can_fork():
            return map_by_processes(function, items, self.threads(threads), at_once)
        return map_ordered(function, items, self.threads(threads))

    def run(
        self, work: Callable[[Any, Advance], Result], pieces: Iterable[Any], workers: int, advance: Advance
    ) -> Generator[Result]:
        yield from run_side_by_side(work, [*pieces], self.workers or workers, advance)

    def threads(self, threads: int) -> int:
        return self.workers or threads


_engine: ContextVar[Engine | None] = ContextVar("engine", default=None)
LOCAL = LocalEngine()


def current_engine() -> Engine:
    """The engine of the command, or of the API function, that runs in this thread."""
    return _engine.get() or LOCAL


@contextmanager
def using_engine(settings: EngineSettings) -> Iterator[Engine]:
    """Let the engine of `settings` do long work until the context ends. Raises ConfigError if that is impossible."""
    if settings.engine == "local" and settings.address is not None:
        raise ConfigError("--address is for a Ray cluster; give --engine ray, or leave it out")
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
