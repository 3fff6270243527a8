"""Protocols of the engines and calls that long work uses; the local engine and Ray's engine implement them.

Work is a function. Its results come in the order of its items, and are the same for any number of workers and for both
engines.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from phrasebeam.base.side_by_side import Advance

Item = TypeVar("Item")
Result = TypeVar("Result")
ITEMS_AT_ONCE = 16  # items that are sent to a worker in one message: a message costs a millisecond


class Engine(Protocol):
    """An engine that runs computations."""

    is_remote: bool  # whether workers see only what is sent to them, and files
    processes: int  # number of workers if it was given, otherwise 1

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        threads: int,
        at_once: int = ITEMS_AT_ONCE,
        is_python: bool = False,
    ) -> Generator[Result]:
        """Yield function(item) for every item, in order, with `threads` threads if no number of workers was given.

        `at_once`: number of short items worth sending in one message. `is_python`: most of the work is done by the
        Python interpreter, so that threads would wait for each other. An exception raised by the function or by reading
        is raised here. A caller that may stop early, say after an error, must close this (contextlib.closing).
        """

    def run(
        self, work: Callable[[Any, Advance], Result], pieces: Iterable[Any], workers: int, advance: Advance
    ) -> Generator[Result]:
        """The results of the work on long pieces, in order; as run_side_by_side, but pieces may be any objects."""

    def threads(self, threads: int) -> int:
        """The number of threads to use in this process: `threads`, unless a number of workers was given."""


@runtime_checkable
class RemoteEngine(Engine, Protocol):
    """An engine whose workers are elsewhere."""

    def begin(self, function: Callable[..., Any]) -> "Calls":
        """Return Calls of `function`, whose further arguments may change; the function is sent as it is now."""


class Calls(Protocol):
    """Calls of one function, whose further arguments change from time to time."""

    def share(self, value: Any) -> Any:
        """A name for the present `value`. The value is sent to each worker once, for any number of calls."""

    def begin(self, items: Sequence[Any], *shared: Any) -> Callable[[], list[Any]]:
        """Begin function(item, *shared) for all items; return a function that waits for the results, in order.

        `shared`: names that `share` returned. A worker keeps the last four values, and passes the same object for each
        call with the same name until it drops that value.
        """
