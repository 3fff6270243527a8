"""Mini-batches over threads: synchronous, or asynchronous with a fixed delay, so that results do not depend on timing.

With delay d, mini-batch t is decoded under the weights after mini-batch t - 1 - d, so that threads need not wait for
mini-batch t - 1. In other asynchronous training, the delay depends on which thread is first (Green et al. 2013b).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.engine.followed_arrays import ArrayChanges, FollowingArrays, LeadingArrays
from phrasebeam.engine.protocols import Calls, RemoteEngine
from phrasebeam.training.online.objective import ExampleObjective, Outcome


class Inline(Executor):
    """An executor without threads, which computes each submitted call at once."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function; return a future with its result or its exception."""
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
    """Yield mini-batches and the outcomes of their examples, in order; the caller changes the weights in between.

    `snapshot` returns the current weights. At the end, all mini-batches under way are completed.
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
    """Begin with a mini-batch, its longest examples first; return a function that waits for the outcomes."""
    longest_first = sorted(range(len(batch)), key=lambda i: -objective.length(batch[i]))
    futures = {i: pool.submit(objective.outcome, batch[i], weights, epoch) for i in longest_first}
    return lambda: [futures[i].result() for i in range(len(batch))]


def _completed(batch: Sequence[int], outcomes: Callable[[], list[Outcome]]) -> tuple[Sequence[int], list[Outcome]]:
    return batch, outcomes()


class RemoteExamples:
    """An objective whose examples are decoded by remote workers.

    Workers are sent all weights from time to time, and with each mini-batch the changes since then.
    """

    def __init__(self, objective: ExampleObjective[Any], engine: RemoteEngine):
        self.objective, self.features, self._engine = objective, objective.features, engine
        self._calls: Calls | None = None
        self._sent: tuple[LeadingArrays, Any] | None = None  # all sparse weights, and the name that they are shared by

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> "SentWeights":
        """Share the weights with the workers, and return the names under which they are shared."""
        table = sparse.keys, sparse.values
        changes = self._sent[0].changes(table) if self._sent else None
        if self._calls is None:
            self._calls = self._engine.begin(RemoteOutcomes(self.objective.with_examples({})))
        if self._sent is None or changes is None:
            copy = LeadingArrays(table)
            self._sent, changes = (copy, self._calls.share(copy.copies)), copy.no_changes()
        return SentWeights(self._calls, self._sent[1], self._calls.share((weights, changes)))

    def begin(self, batch: Sequence[int], weights: "SentWeights", epoch: int) -> Callable[[], list[Outcome]]:
        """Send a mini-batch; return a function that waits for the outcomes."""
        items = [(number, self.objective.examples[number], epoch) for number in batch]
        return weights.calls.begin(items, weights.table, weights.changes)


class SentWeights(NamedTuple):
    """The weights of a mini-batch, for workers that have all sparse weights of an earlier time."""

    calls: Calls
    table: Any  # name of the keys and values of the sparse weights at that time
    changes: Any  # name of the dense weights, and of the changes in the table since then


class RemoteOutcomes:
    """Computes outcomes on a remote worker: examples arrive one by one, weights arrive for many examples together."""

    def __init__(self, objective: ExampleObjective[Any]):
        self.objective = objective
        self._following: FollowingArrays | None = None
        self._changes: ArrayChanges | None = None
        self._snapshot: Any = None

    def __call__(
        self, item: tuple[int, Any, int], table: Sequence[np.ndarray], sent: tuple[Weights, ArrayChanges]
    ) -> Outcome:
        """The outcome of `item`: number, example and epoch.

        `table`: keys and values of sparse weights, which are changed in place; `sent`: the dense weights, and the
        changes of the table.
        """
        dense, changes = sent
        if self._following is None or self._following.arrays is not table:
            self._following, self._changes = FollowingArrays(table), None
        if changes is not self._changes:
            self._following.follow(changes)
            keys, values = self._following.arrays
            sparse = SparseWeights(keys, values, np.array([np.count_nonzero(keys)]))
            self._changes, self._snapshot = changes, self.objective.snapshot(dense, sparse)
        number, example, epoch = item
        return self.objective.with_examples({number: example}).outcome(number, self._snapshot, epoch)
