"""The passes of one epoch over all shards: by this process and its forks, or by remote workers.

A remote worker is sent everything that a pass needs, makes the pass in its own directory, and sends back the results.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.base.files import scratch_directory
from phrasebeam.base.side_by_side import Advance
from phrasebeam.engine.protocols import Engine, RemoteEngine
from phrasebeam.process.system_errors import named_in_errors
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.checkpoint import save_checkpoint
from phrasebeam.training.online.batches import Inline, RemoteExamples
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.mixing import restricted
from phrasebeam.training.online.objective import ExampleObjective
from phrasebeam.training.online.progress import UPDATES, PassProgress, load_pass, shard_path
from phrasebeam.training.online.shard_pass import BatchSettings, ShardPass
from phrasebeam.training.online.shards import Shards
from phrasebeam.training.online.update_log import UpdateLog
from phrasebeam.training.online.update_rules import UpdateRule

Begun = tuple[PassProgress, Mapping[str, np.ndarray]]  # of a shard, and the arrays of its own weights, if it has any


class EpochStart(NamedTuple):
    """The weights with which shards begin an epoch."""

    mixed: BestWeights | None  # the mixed weights of all shards; None: each shard continues with its own weights
    first: LearnedWeights | None  # for shards that have no weights yet
    shares_weights: bool  # False: a shard begins with its own weights, of those features that `mixed` has


@dataclass
class ShardPasses:
    """The passes of an epoch; their files are in `directory`."""

    objective: ExampleObjective[Any]
    rule: UpdateRule
    shards: Shards
    batches: BatchSettings
    start: EpochStart
    directory: Path
    signature: str
    epoch: int
    held: dict[int, LearnedWeights] = field(default_factory=dict)  # weights of a single shard, kept in memory
    sent: Mapping[int, Begun] = field(default_factory=dict)  # on a remote worker, in place of checkpoints; by shard

    def finish(self, engine: Engine, threads: int, workers: int, advance: Advance) -> list[PassProgress]:
        """Make all unfinished passes; `threads` decode a mini-batch, `workers` learn from shards."""
        n_shards = len(self.shards.members)
        if n_shards == 1:
            with self._decoding(engine, threads) as (objective, pool):
                return [self.run(0, pool, advance, objective)]
        if not engine.is_remote:
            return [*engine.run(lambda shard, own: self.run(shard, Inline(), own), range(n_shards), workers, advance)]
        return self._elsewhere(engine, workers, advance)

    @contextmanager
    def _decoding(
        self, engine: Engine, threads: int
    ) -> "Iterator[tuple[ExampleObjective[Any] | RemoteExamples, Executor]]":
        """Yield objective and executor for the examples of a single shard: remote workers, or threads."""
        if isinstance(engine, RemoteEngine):
            yield RemoteExamples(self.objective, engine), Inline()
            return
        with ThreadPoolExecutor(engine.threads(threads)) as pool:
            yield self.objective, pool

    def _elsewhere(self, engine: Engine, workers: int, advance: Advance) -> list[PassProgress]:
        progress = {shard: self._progress(shard)[0] for shard in range(len(self.shards.members))}
        done = {shard: one for shard, one in progress.items() if one.epoch == self.epoch and one.is_done}
        advance(sum(one.next_example for one in done.values()))
        left = [shard for shard in progress if shard not in done]
        alone = replace(self, objective=self.objective.with_examples({}), held={})
        pieces = map(self._task, left)
        with closing(engine.run(PassElsewhere(alone), pieces, workers, advance)) as results:
            for shard, result in zip(left, results):
                done[shard] = self._keep(shard, progress[shard].logged, result)
        return [done[shard] for shard in progress]

    def _task(self, shard: int) -> "PassTask":
        progress, arrays = self._progress(shard)
        examples = {number: self.objective.examples[number] for number in self.shards.members[shard].tolist()}
        return PassTask(shard, examples, progress, arrays if self._needs_own(progress) else {})

    def _keep(self, shard: int, logged: int, result: "PassResult") -> PassProgress:
        path = self.directory / UPDATES.format(shard)
        UpdateLog(path, logged).close()
        with named_in_errors(path), open(path, "ab") as file:
            file.write(result.log.data)
        save_checkpoint(shard_path(self.directory, shard), result.progress, result.arrays.items())
        return result.progress

    def run(
        self,
        shard: int,
        pool: Executor,
        advance: Advance,
        objective: ExampleObjective[Any] | RemoteExamples | None = None,
    ) -> PassProgress:
        """Make or continue the pass over a shard; its examples are decoded in `pool`.

        `objective`: used in place of that of the passes, if given.
        """
        progress, learned = self._open(shard)
        updates = UpdateLog(self.directory / UPDATES.format(shard), progress.logged)
        path = shard_path(self.directory, shard)
        one = ShardPass(objective or self.objective, self.rule, self.batches, path, updates, learned)
        advance(progress.next_example)
        if not progress.is_done:
            progress = one.run(self.shards.order(shard, self.epoch), progress, pool, advance)
            self.rule.settle(learned)
            if self.batches.averaging == "epochs":
                learned.count_in_average()
            progress = progress.model_copy(update={"is_done": True})
            one.save(progress)
        updates.close()
        if len(self.shards.members) == 1:
            self.held[shard] = learned
        return progress

    def _progress(self, shard: int) -> Begun:
        path = shard_path(self.directory, shard)
        if shard in self.sent:
            return self.sent[shard]
        if not path.exists():
            return PassProgress(signature=self.signature), {}
        return load_pass(path, self.signature, self.objective.features.size, self.rule.columns)

    def _needs_own(self, progress: PassProgress) -> bool:
        """Whether a shard with this progress continues with its own weights."""
        return progress.epoch == self.epoch or self.start.mixed is None or not self.start.shares_weights

    def _open(self, shard: int) -> tuple[PassProgress, LearnedWeights]:
        """Progress and weights of the shard in this epoch: from its unfinished pass, or at the start of the epoch."""
        progress, arrays = self._progress(shard)
        learned = self.held.pop(shard, None)
        if learned is None and arrays and self._needs_own(progress):
            learned = LearnedWeights.restored(arrays, self.rule.columns)
        if learned is not None and progress.epoch == self.epoch:
            return progress, learned
        if learned is None or self.start.mixed is not None:
            learned = self._first(learned)
            learned.keep(self.rule.columns)
        begun = {"epoch": self.epoch, "next_example": 0, "is_done": False, "counts": {}, "statistics": []}
        return progress.model_copy(update=begun), learned

    def _first(self, own: LearnedWeights | None) -> LearnedWeights:
        """The weights of a shard at the start of the epoch; `own`: its weights after an earlier epoch."""
        mixed, first, shares_weights = self.start
        if mixed is not None:
            begins = mixed if own is None or shares_weights else restricted(own.average().nonzero(), mixed)
            return LearnedWeights(*begins.in_table())
        if first is None:
            raise ValueError("shards begin with mixed weights, but there are none")
        return deepcopy(first)


class PassTask(NamedTuple):
    """Everything that a remote worker needs for a pass over a shard."""

    shard: int
    examples: Mapping[int, Any]  # by number
    progress: PassProgress
    arrays: Mapping[str, np.ndarray]  # of the checkpoint; empty if the shard begins with the mixed weights


class PassResult(NamedTuple):
    """The result of a finished pass that a worker sends back."""

    progress: PassProgress
    arrays: Mapping[str, np.ndarray]
    log: np.ndarray  # uint8[...], what the pass added to the update log


@dataclass(frozen=True)
class PassElsewhere:
    """The function that makes a pass on a remote worker."""

    passes: ShardPasses  # without examples

    def __call__(self, task: PassTask, advance: Advance) -> PassResult:
        """Make the pass in a temporary directory."""
        with scratch_directory() as directory:
            objective = self.passes.objective.with_examples(task.examples)
            sent, log = {task.shard: (task.progress, task.arrays)}, UPDATES.format(task.shard)
            passes = replace(self.passes, objective=objective, directory=directory, sent=sent)
            with open(directory / log, "wb") as file:
                file.truncate(task.progress.logged)  # zeros in place of earlier records, which are not needed here
            progress = passes.run(task.shard, Inline(), advance)
            arrays = replace(passes, sent={})._progress(task.shard)[1]
            grown = np.fromfile(directory / log, np.uint8, offset=task.progress.logged)
            return PassResult(progress, arrays, grown)
