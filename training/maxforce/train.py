"""The perceptron's loop: mini-batches over threads, averaged weights scored after each iteration (Yu et al. 2013).

The updates of a mini-batch are computed under the same weights, and added divided by its size, in the order of its
sentences (Zhao & Huang 2013): so neither threads nor their number change a bit of the weights.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.features.dense import FeatureLayout, weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.common.best_weights import nonzero_weights
from phrasebeam.training.common.checkpoint import SignedSection, load_checkpoint, save_checkpoint
from phrasebeam.training.common.curve import write_curve
from phrasebeam.training.common.development_set import DevelopmentScorer
from phrasebeam.training.maxforce.config import MaxforceConfig, is_learned
from phrasebeam.training.maxforce.examples import Comparison, Difference, TrainingExample
from phrasebeam.training.maxforce.learned_weights import LearnedWeights
from phrasebeam.training.maxforce.state import BEST, CHECKPOINT, MaxforceIteration, MaxforceProgress
from phrasebeam.training.maxforce.update_log import Record, UpdateLog

PLOTS = {"score": "score of the development set", "invalid_ratio": "share of invalid updates"}  # Figures 8 and 9


class Trainer:
    """Carries one training on, from its last checkpoint to its end."""

    def __init__(
        self,
        comparison: Comparison,
        examples: Sequence[TrainingExample],
        development: DevelopmentScorer,
        config: MaxforceConfig,
        directory: Path,
        seed: int,
    ):
        """Checkpoints, log and curve are kept in `directory`; `seed` determines the order of sentences."""
        self.comparison, self.examples, self.development = comparison, examples, development
        self.config, self.directory, self.seed = config, directory, seed
        self.features: FeatureLayout = comparison.decoder.features
        self.rates, self.sparse_rates = dense_rates(self.features, config), sparse_rates(config)

    def start(self, signature: str) -> tuple[MaxforceProgress, LearnedWeights]:
        """Progress and weights at the start of a training: the weights are those of the model."""
        decoder = self.comparison.decoder
        model = decoder.model
        decoder.reweigh(model.weights, model.tables.sparse.weights)  # it may be that of another training
        learned = LearnedWeights(weight_vector(decoder.weights, self.features), decoder.tables.sparse.weights)
        return MaxforceProgress(signature=signature), learned

    def finish(self, signature: str) -> MaxforceProgress:
        """Begin, or go on behind the last checkpoint, until the development set or the settings say to stop.

        Raises ConfigError where the checkpoint has another signature.
        """
        progress, learned = self._last(signature)
        self.log = UpdateLog(self.directory / "updates", progress.logged)
        if not progress.iterations:
            progress = self._end_iteration(progress, learned)
        with ThreadPoolExecutor(self.config.threads) as pool:
            while len(progress.iterations) <= self.config.iterations and not progress.has_stopped(self.config.patience):
                progress = self._finish_iteration(progress, learned, pool)
                progress = self._end_iteration(progress, learned)
        self.log.close()
        return progress

    def _last(self, signature: str) -> tuple[MaxforceProgress, LearnedWeights]:
        """Progress and weights of the last checkpoint, or of the start."""
        if not (self.directory / CHECKPOINT).exists():
            self.directory.mkdir(exist_ok=True)
            return self.start(signature)
        progress, arrays = load_checkpoint(self.directory / CHECKPOINT, MaxforceProgress, signature)
        return progress, LearnedWeights.restored(arrays)

    def _finish_iteration(
        self, progress: MaxforceProgress, learned: LearnedWeights, pool: ThreadPoolExecutor
    ) -> MaxforceProgress:
        number = len(progress.iterations)
        order = np.random.default_rng([self.seed, number]).permutation(len(self.examples))
        with stage(f"iteration {number}, best score {progress.best_score:.2f}", len(order)) as advance:
            advance(progress.next_example)
            for count, first in enumerate(range(progress.next_example, len(order), self.config.batch), 1):
                begin, batch = time.perf_counter(), order[first : first + self.config.batch].tolist()
                self._reweigh(learned)
                differences = list(self._differences(batch, pool))
                self._step(differences, learned)
                self._log(batch, differences)
                current = _counted(progress.current, differences, time.perf_counter() - begin)
                done = {"current": current, "next_example": first + len(batch), "logged": self.log.size}
                progress = progress.model_copy(update=done)
                advance(len(batch))
                if count % self.config.checkpoint == 0:
                    self._save(progress, learned)
                    log.info(_line(number, len(order), current))
        return progress

    def _reweigh(self, learned: LearnedWeights) -> None:
        weights = self.weights(learned.dense)
        self.comparison.decoder.reweigh(weights, learned.sparse)
        self.comparison.forced.decoder.reweigh(weights, learned.sparse)

    def weights(self, dense: np.ndarray) -> Weights:
        """Dense weights (float64[F]) by feature name."""
        return Weights.model_validate(self.features.by_group(dense))

    def _differences(self, batch: Sequence[int], pool: ThreadPoolExecutor) -> Iterator[Difference]:
        """The differences of a mini-batch, in its order; long sentences are computed first to keep all threads busy."""
        examples = [self.examples[i] for i in batch]
        longest_first = sorted(range(len(batch)), key=lambda i: -len(examples[i].given.words))
        futures = {i: pool.submit(self.comparison.difference, examples[i]) for i in longest_first}
        for i in range(len(batch)):
            yield futures[i].result()

    def _step(self, differences: Sequence[Difference], learned: LearnedWeights) -> None:
        for difference in differences:
            if difference.bin is not None:
                rates = self.sparse_rates[difference.groups] / len(differences)
                moved = rates > 0
                amounts = (rates * difference.values)[moved]
                dense = self.rates / len(differences) * difference.dense
                learned.add(dense, difference.keys[moved], amounts, difference.groups[moved])
        learned.end_step()

    def _log(self, batch: Sequence[int], differences: Sequence[Difference]) -> None:
        for i, difference in zip(batch, differences, strict=True):
            if difference.better is not None and difference.worse is not None:
                self.log.add(Record(self.examples[i].number, difference.better, difference.worse))

    def _save(self, progress: MaxforceProgress, learned: LearnedWeights) -> None:
        self.log.flush()
        save_checkpoint(self.directory / CHECKPOINT, progress, learned.arrays())

    def _end_iteration(self, progress: MaxforceProgress, learned: LearnedWeights) -> MaxforceProgress:
        """Score the averaged weights, and keep them if they are the best."""
        begin, number = time.perf_counter(), len(progress.iterations)
        dense, sparse = learned.average()
        weights = with_best_scales(self.development, self.weights(dense), sparse, self.config)
        (score, n_words), dense = self.development.score_tuned(f"iteration-{number}", weights, sparse)
        ended = {
            "score": score,
            "development_words": n_words,
            "features": int(sparse.n_used[0]),
            "development_seconds": time.perf_counter() - begin,
        }
        iteration = progress.current.model_copy(update=ended)
        progress = progress.with_iteration(iteration, current=MaxforceIteration(), next_example=0)
        if progress.best == number:
            best = nonzero_weights(dense, sparse, learned.columns.group)
            save_checkpoint(self.directory / BEST, SignedSection(signature=progress.signature), best._asdict())
        ratios = ({"invalid_ratio": one.invalid_ratio} for one in progress.iterations)
        rows = [row | ratio for row, ratio in zip(progress.rows(), ratios)]
        write_curve(self.directory, rows, "averaged weights after each iteration", PLOTS)
        self._save(progress, learned)
        log.info(f"{_line(number, len(self.examples), iteration)}; score {score:.2f}, {n_words} words")
        return progress


def with_best_scales(
    development: DevelopmentScorer, weights: Weights, sparse: SparseWeights, config: MaxforceConfig
) -> Weights:
    """The weights with the scales of learned groups times that factor of the settings whose score is best."""
    learned = [name for name in GROUPS if is_learned(name, config)]
    groups = {name: getattr(weights, name) for name in learned if getattr(weights, name) is not None}
    if config.scales == [1.0] or not groups or not sparse.n_used[0]:
        return weights
    tried = [
        weights.model_copy(update={name: factor * scale for name, scale in groups.items()}) for factor in config.scales
    ]
    scores = [development.score(scaled, sparse).score for scaled in tried]
    listed = ", ".join(f"{factor:g}: {score:.2f}" for factor, score in zip(config.scales, scores, strict=True))
    log.info(f"scales of sparse features: {listed}")
    return tried[int(np.argmax(scores))]


def dense_rates(features: FeatureLayout, config: MaxforceConfig) -> np.ndarray:
    """float64[F] learning rates; scales of sparse groups stay, since their features are learned one by one."""
    rates = []
    for name, size in features.groups:
        is_fixed = name in config.fixed or name in GROUPS
        rates += [0.0 if is_fixed else float(getattr(config.rates, name))] * (1 if size is None else size)
    return np.array(rates)


def sparse_rates(config: MaxforceConfig) -> np.ndarray:
    """float64[len(GROUPS)] learning rates of the sparse groups; 0 for those that are not learned."""
    return np.array([config.rates.of_group(name) if is_learned(name, config) else 0.0 for name in GROUPS])


def _counted(iteration: MaxforceIteration, differences: Sequence[Difference], seconds: float) -> MaxforceIteration:
    """The iteration with the counts of a mini-batch added."""
    updates = [one for one in differences if one.bin is not None]
    counts = {
        "examples": len(differences),
        "updates": len(updates),
        "invalid": sum(one.margin > 0 for one in updates),
        "solved": sum(one.is_solved for one in differences),
        "too_large": sum(one.is_too_large for one in differences),
        "violation": sum(max(-one.margin, 0.0) for one in updates),
        "place": sum((one.bin or 0) / one.n_bins for one in updates),
        "seconds": seconds,
    }
    return iteration.model_copy(update={name: getattr(iteration, name) + value for name, value in counts.items()})


def _line(number: int, n_examples: int, iteration: MaxforceIteration) -> str:
    speed = iteration.examples / iteration.seconds if iteration.seconds else 0.0
    updates = f"{iteration.updates} updates, {100 * iteration.invalid_ratio:.1f}% invalid"
    if iteration.too_large:
        updates += f", {iteration.too_large} too large"
    return f"iteration {number}: {iteration.examples} of {n_examples}, {speed:.1f} sentences/s, {updates}"
