"""Mini-batches over threads: synchronous, or asynchronous with a fixed delay, so that results depend on no timing.

With delay d, mini-batch t is decoded under the weights after mini-batch t - 1 - d, so that threads need not wait for
its predecessor. Asynchronous training elsewhere lets the delay depend on which thread is first (Green et al. 2013b).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.engine.engine import Calls
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
    objective: "ExampleObjective[Any] | RemoteExamples",
    batches: Iterable[Sequence[int]],
    snapshot: Callable[[], Any],
    pool: Executor,
    delay: int,
    epoch: int,
) -> Iterator[tuple[Sequence[int], list[Outcome]]]:
    """Mini-batches and the outcomes of their examples, in order; the caller changes the weights in between.

    `snapshot` gives the weights of the moment; at the end the mini-batches that were begun are completed.
    """
    begun: deque[tuple[Sequence[int], Callable[[], list[Outcome]]]] = deque()
    for batch in batches:
        weights = snapshot()
        if isinstance(objective, RemoteExamples):
            begun.append((batch, objective.begin(batch, weights, epoch)))
        else:
            begun.append((batch, _begin(objective, batch, weights, pool, epoch)))
        if len(begun) > delay:
            yield _completed(*begun.popleft())
    while begun:
        yield _completed(*begun.popleft())


def _begin(
    objective: ExampleObjective[Any], batch: Sequence[int], weights: Any, pool: Executor, epoch: int
) -> Callable[[], list[Outcome]]:
    """Begin with a mini-batch, its longest examples first; a function that waits for the outcomes."""
    longest_first = sorted(range(len(batch)), key=lambda i: -objective.length(batch[i]))
    futures = {i: pool.submit(objective.outcome, batch[i], weights, epoch) for i in longest_first}
    return lambda: [futures[i].result() for i in range(len(batch))]


def _completed(batch: Sequence[int], outcomes: Callable[[], list[Outcome]]) -> tuple[Sequence[int], list[Outcome]]:
    return batch, outcomes()


class RemoteExamples:
    """An objective whose examples are decoded by workers elsewhere: weights are sent once for each mini-batch."""

    def __init__(self, objective: ExampleObjective[Any], calls: Calls):
        self.objective, self.features, self._calls = objective, objective.features, calls

    @staticmethod
    def outcomes(objective: ExampleObjective[Any]) -> "RemoteOutcomes":
        """The function that workers have."""
        return RemoteOutcomes(objective.with_examples({}))

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> tuple[Weights, SparseWeights]:
        """The weights as they are sent."""
        return weights, sparse

    def begin(self, batch: Sequence[int], weights: Any, epoch: int) -> Callable[[], list[Outcome]]:
        """Send a mini-batch; a function that waits for the outcomes."""
        items = [(number, self.objective.examples[number], epoch) for number in batch]
        return self._calls.begin(items, weights)


class RemoteOutcomes:
    """The outcomes of examples that arrive one by one, under weights that arrive for many."""

    def __init__(self, objective: ExampleObjective[Any]):
        self.objective = objective
        self._sent: Any = None
        self._snapshot: Any = None

    def __call__(self, item: tuple[int, Any, int], sent: tuple[Weights, SparseWeights]) -> Outcome:
        """The outcome of an example: number, example and epoch."""
        if sent is not self._sent:
            self._sent, self._snapshot = sent, self.objective.snapshot(*sent)
        number, example, epoch = item
        return self.objective.with_examples({number: example}).outcome(number, self._snapshot, epoch)
