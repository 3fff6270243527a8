"""The progress of an online training and of the pass over a shard, in checkpoints from which training can continue."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import Field

from phrasebeam.base.array_struct import array_fields
from phrasebeam.base.config import Count, Section
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.checkpoint import AnySigned, SignedSection, load_checkpoint
from phrasebeam.training.common.iterations import AnyIteration, Progress
from phrasebeam.training.online.learned_weights import LearnedWeights

CHECKPOINT, BEST = "checkpoint.npz", "best.npz"  # in the directory of a training
UPDATES = "updates-{}"  # update log of a shard, see update_log.py


class OnlineIteration(Section):
    """One iteration over the training data; number 0 is only the score before the first."""

    examples: Count = 0
    updates: Count = 0
    seconds: float = Field(0.0, description="of learning, summed over shards")
    score: float = Field(
        0.0, description="of the development set by the averaged weights, 0 to 100; error rates negative"
    )
    chrfpp: float | None = Field(None, description="chrF++ of the same translations")
    development_words: Count = Field(0, description="of the translations of the development set")
    development_seconds: float = 0.0
    example_score: float | None = Field(
        None, description="of the best translations of the examples, as they were decoded, where that is known"
    )
    features: Count = Field(0, description="sparse ones with a weight")

    @property
    def speed(self) -> float:
        """Sentences per second in one shard."""
        return self.examples / self.seconds if self.seconds else 0.0

    def row(self) -> dict[str, object]:
        """The fields, for a curve."""
        return self.model_dump()

    def text(self) -> str:
        """The counts in words, for the log."""
        return f"{self.updates} updates"


class OnlineProgress(Progress[AnyIteration]):
    """All iterations so far."""

    format: Literal["phrasebeam online 2"] = "phrasebeam online 2"
    logged: list[Count] = Field([], description="bytes of the log of updates, by shard")


class PassProgress(SignedSection):
    """The progress of the pass over the examples of one shard."""

    format: Literal["phrasebeam online shard 2"] = "phrasebeam online shard 2"
    epoch: Count = Field(0, description="whose pass it is; 0: none was begun")
    next_example: Count = Field(0, description="in the order of the epoch")
    is_done: bool = Field(True, description="whether the pass is complete")
    counts: dict[str, int | float] = Field({}, description="of the pass so far, by fields of the iteration")
    statistics: list[float] = Field([], description="of the metric, of the best translations of the examples so far")
    logged: Count = Field(0, description="bytes of the log of updates")

    def with_statistics(self, rows: Iterable[Sequence[float]]) -> Self:
        """A copy with the statistics of more examples added, one after the other."""
        sums = self.statistics
        for row in rows:
            sums = [a + b for a, b in zip(sums, row, strict=True)] if sums else list(row)
        return self.model_copy(update={"statistics": sums})

    def counted(self, counts: dict[str, int | float]) -> dict[str, int | float]:
        """The counts of the pass plus `counts`."""
        return self.counts | {name: self.counts.get(name, 0) + value for name, value in counts.items()}


def shard_path(directory: Path, shard: int) -> Path:
    """The checkpoint of a shard: PassProgress and the LearnedWeights of the shard."""
    return directory / f"shard-{shard}.npz"


def own_best_path(directory: Path, shard: int) -> Path:
    """The file of a shard's own weights at the time when the mixed weights were best."""
    return directory / f"best-{shard}.npz"


def load_best(directory: Path, signature: str, n_dense: int, shard: int | None = None) -> BestWeights:
    """Read the best weights of a training so far; with `shard`, the shard's own weights of the same time.

    `n_dense`: number of dense weights.
    """
    path = directory / BEST if shard is None else own_best_path(directory, shard)
    return load_weights(path, SignedSection, signature, n_dense)[1]


def load_weights(path: Path, kind: type[AnySigned], signature: str, n_dense: int) -> tuple[AnySigned, BestWeights]:
    """Read progress and weights from a checkpoint; raises the errors of load_checkpoint."""
    progress, arrays = load_checkpoint(path, kind, signature, array_fields(BestWeights), {"F": n_dense})
    return progress, BestWeights(**arrays)


def load_pass(path: Path, signature: str, n_dense: int, columns: type) -> tuple["PassProgress", dict[str, np.ndarray]]:
    """Read a shard's checkpoint: its progress and the arrays of its LearnedWeights; `columns`: of the update rule."""
    return load_checkpoint(path, PassProgress, signature, LearnedWeights.declared(columns), {"F": n_dense})
