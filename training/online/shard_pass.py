"""One pass over the examples of a shard: decode a mini-batch, make a step, and from time to time write a checkpoint."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.training.common.checkpoint import save_checkpoint
from phrasebeam.training.online.batches import RemoteExamples, outcomes_of
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.objective import ExampleObjective, Outcome
from phrasebeam.training.online.progress import PassProgress
from phrasebeam.training.online.update_log import UpdateLog
from phrasebeam.training.online.update_rules import UpdateRule

Averaging = Literal["steps", "epochs", "none"]


class BatchSettings(NamedTuple):
    """Mini-batches, checkpoints and averaging of a pass."""

    batch: int  # examples of a mini-batch
    delay: int  # see batches.py
    checkpoint: int  # mini-batches between two checkpoints; also with a delay, all are completed before a checkpoint
    averaging: Averaging = "none"  # resulting weights: averages over mini-batches or ends of epochs, or the last ones


@dataclass
class ShardPass:
    """The pass of one epoch over one shard; `learned` changes in place."""

    objective: ExampleObjective[Any] | RemoteExamples
    rule: UpdateRule
    settings: BatchSettings
    path: Path  # of the checkpoint
    log: UpdateLog
    learned: LearnedWeights

    def run(
        self, order: np.ndarray, progress: PassProgress, pool: Executor, advance: Callable[[int], None]
    ) -> PassProgress:
        """Learn from those of the examples `order` (int64[N]) that are still left; return the progress of the pass."""
        size = self.settings.batch
        first = progress.next_example
        for begin in range(first, order.size, size * self.settings.checkpoint):
            if begin > first:
                self.save(progress)
            end = min(begin + size * self.settings.checkpoint, order.size)
            batches = [order[i : min(i + size, end)].tolist() for i in range(begin, end, size)]
            progress = self._learn(batches, progress, pool, advance)
        return progress

    def _learn(
        self, batches: Sequence[Sequence[int]], progress: PassProgress, pool: Executor, advance: Callable[[int], None]
    ) -> PassProgress:
        begin = time.perf_counter()
        delay, epoch = self.settings.delay, progress.epoch
        for batch, outcomes in outcomes_of(self.objective, batches, self._snapshot, pool, delay, epoch):
            directions = [one.direction for one in outcomes if one.direction is not None]
            self.rule.step(self.learned, directions, len(batch))
            if self.settings.averaging == "steps":
                self.rule.settle(self.learned)
                self.learned.count_in_average()
            for record in (record for one in outcomes for record in one.records):
                self.log.add(record)
            seconds = time.perf_counter() - begin
            counts = progress.counted(_summed(outcomes) | {"seconds": seconds})
            next_example = progress.next_example + len(batch)
            done = {"counts": counts, "next_example": next_example, "logged": self.log.size}
            progress = progress.model_copy(update=done).with_statistics([one.statistics for one in outcomes])
            advance(len(batch))
            begin += seconds
        return progress

    def _snapshot(self) -> Any:
        self.rule.settle(self.learned)
        sparse = self.learned.sparse
        if self.settings.delay:  # steps change the table while the snapshot is used; in the copy, new keys weigh 0
            sparse = sparse._replace(values=sparse.values.copy())
        weights = Weights.learned(self.objective.features.by_group(self.learned.dense))
        return self.objective.snapshot(weights, sparse)

    def save(self, progress: PassProgress) -> None:
        """Write the checkpoint."""
        self.log.flush()
        save_checkpoint(self.path, progress, self.learned.arrays())


def _summed(outcomes: Sequence[Outcome]) -> dict[str, int | float]:
    sums: dict[str, int | float] = {"examples": len(outcomes)}
    for outcome in outcomes:
        for name, value in outcome.counts.items():
            sums[name] = sums.get(name, 0) + value
    return sums
