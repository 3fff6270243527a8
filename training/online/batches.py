"""Mini-batches over threads: synchronous, or asynchronous with a fixed delay, so that results depend on no timing.

With delay d, mini-batch t is decoded under the weights after mini-batch t - 1 - d, so that threads need not wait for
its predecessor. Asynchronous training elsewhere lets the delay depend on which thread is first (Green et al. 2013b).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from phrasebeam.training.online.objective import ExampleObjective, Outcome


class Inline(Executor):
    """An executor without threads: what is submitted is computed at once."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The result of the call, or what it raised."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


def outcomes_of(
    objective: ExampleObjective[Any],
    batches: Iterable[Sequence[int]],
    snapshot: Callable[[], Any],
    pool: Executor,
    delay: int,
    epoch: int,
) -> Iterator[tuple[Sequence[int], list[Outcome]]]:
    """Mini-batches and the outcomes of their examples, in order; the caller changes the weights in between.

    `snapshot` gives the weights of the moment; at the end the mini-batches that were begun are completed.
    """
    begun: deque[tuple[Sequence[int], dict[int, Future[Outcome]]]] = deque()
    for batch in batches:
        weights = snapshot()
        longest_first = sorted(range(len(batch)), key=lambda i: -objective.length(batch[i]))
        begun.append((batch, {i: pool.submit(objective.outcome, batch[i], weights, epoch) for i in longest_first}))
        if len(begun) > delay:
            yield _completed(*begun.popleft())
    while begun:
        yield _completed(*begun.popleft())


def _completed(batch: Sequence[int], futures: dict[int, Future[Outcome]]) -> tuple[Sequence[int], list[Outcome]]:
    return batch, [futures[i].result() for i in range(len(batch))]
