"""The engines and calls that long work knows: protocols, which this process and Ray's workers fulfil.

Work is a function; its results come in the order of its items and are the same for any number of workers and either
engine.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from phrasebeam.base.side_by_side import Advance

Item = TypeVar("Item")
Result = TypeVar("Result")
ITEMS_AT_ONCE = 16  # that are sent to a worker together: a message costs a millisecond


class Engine(Protocol):
    """An engine that runs computations."""

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
        A caller that may not read to the end, for example after an error, closes it (contextlib.closing).
        """

    def run(
        self, work: Callable[[Any, Advance], Result], pieces: Iterable[Any], workers: int, advance: Advance
    ) -> Generator[Result]:
        """The results of work on long pieces, in their order; see run_side_by_side, which takes numbers alone."""

    def threads(self, threads: int) -> int:
        """Number of threads of this process: `threads`, unless the engine has a number of workers."""


@runtime_checkable
class RemoteEngine(Engine, Protocol):
    """An engine whose workers are elsewhere."""

    def begin(self, function: Callable[..., Any]) -> "Calls":
        """Start calls of `function` on items and changing arguments; the function is sent in its present state."""


class Calls(Protocol):
    """Calls of one function, whose further arguments change from time to time."""

    def share(self, value: Any) -> Any:
        """A name for the present `value`, which is sent to each worker once, for any number of calls."""

    def begin(self, items: Sequence[Any], *shared: Any) -> Callable[[], list[Any]]:
        """Begin function(item, *shared) for all items; returns a function that waits for the results, in order.

        `shared`: names of what was shared; workers keep the last four values, the same objects as long as they do.
        """
