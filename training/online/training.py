"""The loop of online learning: parallel passes over shards, mixed or averaged weights, scores, checkpoints.

All files are in one directory: checkpoint.npz (OnlineProgress, and the mixed weights if shards begin epochs with them),
shard-K.npz and updates-K of each shard, best.npz (BestWeights), curve.csv, curve.png, translations/. A training that
was killed continues after its last checkpoint, with results that are the same to the bit for any number of threads.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from phrasebeam.base.progress import log, stage
from phrasebeam.base.side_by_side import Advance
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.training.common.best_weights import BestWeights, TableWeights
from phrasebeam.training.common.checkpoint import SignedSection, load_checkpoint, save_checkpoint
from phrasebeam.training.common.curve import Panel, is_drawn_to_the_end, write_curve
from phrasebeam.training.common.development_set import DevelopmentScore
from phrasebeam.training.common.kept_translations import keep_translations
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.mixing import Selection, mean, restricted
from phrasebeam.training.online.objective import ExampleObjective
from phrasebeam.training.online.progress import (
    BEST,
    CHECKPOINT,
    UPDATES,
    OnlineIteration,
    OnlineProgress,
    PassProgress,
    load_pass,
    load_weights,
    own_best_path,
    shard_path,
)
from phrasebeam.training.online.shard_pass import BatchSettings
from phrasebeam.training.online.shard_passes import EpochStart, ShardPasses
from phrasebeam.training.online.shards import Shards
from phrasebeam.training.online.update_log import UpdateLog
from phrasebeam.training.online.update_rules import UpdateRule

Iteration = TypeVar("Iteration", bound=OnlineIteration)
SECONDS_BETWEEN_PICTURES = 10.0  # between pictures of the curve; each takes a tenth of a second
Scorer = Callable[[str, Weights, SparseWeights], tuple[DevelopmentScore, np.ndarray]]  # see DevelopmentScorer


class Plan(NamedTuple):
    """How a training goes through its examples: shards, batches, iterations, mixing, threads."""

    shards: Shards
    batches: BatchSettings
    iterations: int  # maximum number
    patience: int  # the training ends after so many iterations without a better score
    restarts: bool = False  # whether all shards begin each epoch with the mixed weights
    selection: Selection | None = None  # selection of features when weights are mixed
    shares_weights: bool = True  # False: a shard begins an epoch with its own weights of the features that were mixed
    threads: int = 1  # threads that decode the examples of a mini-batch
    workers: int = 1  # number of shards that are trained at the same time
    panels: Sequence[Panel] = ()  # of the curve
    most_features: int | None = None  # only so many sparse features, with the largest weights, are scored and written


@dataclass
class OnlineTraining(Generic[Iteration]):
    """Runs one training to its end, from its beginning or its last checkpoint."""

    objective: ExampleObjective[Any]
    rule: UpdateRule
    plan: Plan
    scorer: Scorer
    directory: Path
    iteration: type[Iteration]

    def finish(self, signature: str, start: LearnedWeights) -> OnlineProgress[Iteration]:
        """Begin with the weights `start`, or continue, until the development score or the settings end the training.

        Raises ConfigError if the checkpoint has another signature.
        """
        self.signature = signature
        self.drawn = time.monotonic()
        self.held: dict[int, LearnedWeights] = {}  # weights of a single shard, kept in memory
        progress, self.mixed = self._last(start)
        if not progress.iterations:
            progress = self._end_iteration(progress, self.iteration(), start.average(self.plan.most_features))
        self.start = None if self.plan.restarts else start
        del start  # it may be large
        while len(progress.iterations) <= self.plan.iterations and not progress.has_stopped(self.plan.patience):
            progress, iteration = self._finish_epoch(len(progress.iterations), progress)
            progress = self._end_iteration(progress, iteration, self._mix())
        for shard, size in enumerate(progress.logged):
            UpdateLog(self.directory / UPDATES.format(shard), size).close()  # deletes records after the last iteration
        if not is_drawn_to_the_end(self.directory):  # also if matplotlib was not installed before
            self._write_curve(progress)
        return progress

    def _last(self, start: LearnedWeights) -> tuple[OnlineProgress[Iteration], BestWeights | None]:
        path, mixed = self.directory / CHECKPOINT, None
        if not path.exists():
            self.directory.mkdir(parents=True, exist_ok=True)
            if self.plan.restarts:
                mixed = start.average().nonzero()
            return OnlineProgress[self.iteration](signature=self.signature), mixed  # type: ignore[name-defined]
        kind, n_dense = OnlineProgress[self.iteration], self.objective.features.size  # type: ignore[name-defined]
        if self.plan.restarts:
            return load_weights(path, kind, self.signature, n_dense)
        return load_checkpoint(path, kind, self.signature, {})[0], None

    def _finish_epoch(
        self, epoch: int, progress: OnlineProgress[Iteration]
    ) -> tuple[OnlineProgress[Iteration], Iteration]:
        """Make the pass of the epoch over each shard; return the progress, and the iteration with the counts of all."""
        plan, counts = self.plan, dict[str, int | float]()
        n_examples = sum(members.size for members in plan.shards.members)
        start = EpochStart(self.mixed, self.start, plan.shares_weights)
        at = self.directory, self.signature, epoch, self.held
        passes = ShardPasses(self.objective, self.rule, plan.shards, plan.batches, start, *at)
        with stage(f"iteration {epoch}, best score {abs(progress.best_score):.2f}", n_examples, "sentences") as advance:
            done = passes.finish(current_engine(), plan.threads, plan.workers, self._one_at_a_time(advance))
        sums = PassProgress(signature=self.signature).with_statistics(one.statistics for one in done)
        for one in done:
            counts = one.counted(counts)
        score = self.objective.score(sums.statistics)
        progress = progress.model_copy(update={"logged": [one.logged for one in done]})
        return progress, self.iteration.model_validate({**counts, "example_score": score})

    @staticmethod
    def _one_at_a_time(advance: Advance) -> Advance:
        advancing = Lock()

        def advance_alone(n: int) -> None:
            with advancing:
                advance(n)

        return advance_alone

    def _mix(self) -> TableWeights:
        """The resulting weights of an epoch. If epochs begin with mixed weights, they are kept for the next epoch."""
        shards = range(len(self.plan.shards.members))
        if len(shards) == 1 and not self.plan.restarts:
            return self.held[0].average(self.plan.most_features)
        mixed = mean(map(self._average, shards), len(shards), self.plan.selection)
        if self.plan.restarts:
            self.mixed = mixed
        return mixed.largest(self.plan.most_features).in_table()

    def _average(self, shard: int) -> BestWeights:
        """The resulting weights of a shard."""
        path = shard_path(self.directory, shard)
        n_dense = self.objective.features.size
        return LearnedWeights.average_in(load_pass(path, self.signature, n_dense, self.rule.columns)[1])

    def _end_iteration(
        self, progress: OnlineProgress[Iteration], iteration: Iteration, counting: TableWeights
    ) -> OnlineProgress[Iteration]:
        """Score the resulting weights, and save them if they are the best so far."""
        begin, number = time.perf_counter(), len(progress.iterations)
        dense, sparse, _ = counting
        weights = Weights.learned(self.objective.features.by_group(dense))
        scored, dense = self.scorer(f"iteration-{number}", weights, sparse)
        score, n_words = scored.score, scored.n_words
        keep_translations(self.directory, number, scored.texts)
        ended = {
            "score": score,
            "chrfpp": scored.chrfpp,
            "development_words": n_words,
            "features": int(np.count_nonzero(sparse.values)),
            "development_seconds": time.perf_counter() - begin,
        }
        progress = progress.with_iteration(iteration.model_copy(update=ended))
        if progress.best == number:
            best = counting._replace(dense=dense).nonzero()._asdict()
            save_checkpoint(self.directory / BEST, SignedSection(signature=self.signature), best.items())
            self._save_own(number)
        self._write_curve(progress, is_drawn=time.monotonic() - self.drawn > SECONDS_BETWEEN_PICTURES)
        self._save(progress)
        log.info(f"iteration {number}: {progress.iterations[-1].text()}; score {abs(score):.2f}, {n_words} words")
        return progress

    def _write_curve(self, progress: OnlineProgress[Iteration], is_drawn: bool = True) -> None:
        rows, best = [{"iteration": i, **row.row()} for i, row in enumerate(progress.iterations)], {None: progress.best}
        write_curve(self.directory, rows, "Weights after each iteration", self.plan.panels, best, is_drawn)
        self.drawn = time.monotonic() if is_drawn else self.drawn

    def _save_own(self, number: int) -> None:
        """Save the weights of each shard beside the best mixed weights, if shards do not share weights."""
        if self.plan.shares_weights or self.mixed is None or number == 0:
            return
        for shard in range(len(self.plan.shards.members)):
            own = restricted(self._average(shard), self.mixed)
            path = own_best_path(self.directory, shard)
            save_checkpoint(path, SignedSection(signature=self.signature), own._asdict().items())

    def _save(self, progress: OnlineProgress[Iteration]) -> None:
        arrays = {} if self.mixed is None else self.mixed._asdict()
        save_checkpoint(self.directory / CHECKPOINT, progress, arrays.items())
