"""The loop around all methods: decode, merge the n-best lists, optimize, until few new hypotheses are found.

This is batch tuning as in Och (2003) and Cherry & Foster (2012). All data are on disk after every iteration. A run that
was killed continues after its last complete iteration, and gives the same weights.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.sparse_weights import with_values
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.unfinished import remove
from phrasebeam.training.common.derived_model import with_sparse_weights
from phrasebeam.training.common.development_set import DevelopmentSet, Tune, TunedWeights, points
from phrasebeam.training.common.kept_translations import keep_translations, translations_of
from phrasebeam.training.nbest.nbest_store import NbestStore
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.decoding import ListRequest, decode_into
from phrasebeam.training.tuning.methods.problem import Problem
from phrasebeam.training.tuning.methods.registry import METHODS
from phrasebeam.training.tuning.run_state import TuningIteration, TuningRun
from phrasebeam.training.tuning.sparse import is_group, most_frequent, weights_of, with_scales


@dataclass(frozen=True)
class RunSettings:
    """The seed and the settings of one of several runs; `config` has the C of this run."""

    name: str
    seed: int
    config: TuneConfig
    c: float | None = None  # C of MIRA, if several values are compared


def all_runs(config: TuneConfig) -> list[RunSettings]:
    """A run for each seed and each C."""
    runs = []
    for seed in config.seeds:
        if not config.c:
            runs.append(RunSettings(f"seed-{seed}", seed, config))
        runs += [RunSettings(f"seed-{seed}-c-{c:g}", seed, config.with_c(c), c) for c in config.c]
    return runs


def starting_weights(model: Model, config: TuneConfig) -> Weights:
    """The model's weights, with weight 0 for the features to add. Raises ConfigError, see with_scales."""
    weights = with_scales(model.weights, model.tables.sparse) if config.sparse == "weights" else model.weights
    return config.add.added_to(weights)


class Tuner:
    """Runs one run to its end, from its beginning or its last complete iteration."""

    def __init__(self, model: Model, development: DevelopmentSet, settings: RunSettings, run: TuningRun):
        self.model, self.development, self.settings, self.run = model, development, settings, run
        self.config, self.metric = settings.config, development.metric

    def finish(self) -> None:
        """Iterate until few hypotheses are new, or up to the maximum number; then the last weights are only scored."""
        self.run.extend(self.config.iterations)
        if not self.run.progress.iterations:
            self.run.save_weights(0, starting_weights(self.model, self.config))
        while not self.run.progress.finished:
            number = len(self.run.progress.iterations) + 1
            iteration, finished = self._iterate(number)
            self.run.add(iteration, finished)
            log.info(self._line(number, iteration))

    def decoder(self, number: int) -> Decoder:
        sparse = self.run.sparse_weights(number)
        model = self.model if sparse is None else with_sparse_weights(self.model, sparse)
        return Decoder(model, self.config.search, self.run.weights(number))

    def _iterate(self, number: int) -> tuple[TuningIteration, bool]:
        decoder, begin = self.decoder(number - 1), time.perf_counter()
        if number > self.config.iterations:
            scored, n_kept = self.development.score(decoder), self.run.progress.iterations[-1].hypotheses
            keep_translations(self.run.directory, number - 1, scored.texts)
            seconds, scores = time.perf_counter() - begin, {"score": scored.score, "chrfpp": scored.chrfpp}
            return TuningIteration(**scores, hypotheses=n_kept, found=0, new=0, decode_seconds=seconds), True
        store = self._store(number, decoder)
        request = ListRequest(self.config.nbest, self.config.distinct, self.config.sparse == "weights")
        iteration, texts = decode_into(store, decoder, self.development, request)
        keep_translations(self.run.directory, number - 1, texts)
        iteration = iteration.model_copy(update={"decode_seconds": time.perf_counter() - begin})
        finished = iteration.new <= self.config.min_new * iteration.found
        if not finished:
            iteration = self._optimize(number, iteration, store, decoder)
        store.close()
        return iteration, finished

    def _store(self, number: int, decoder: Decoder) -> NbestStore:
        n_dense = len(decoder.features.names())
        return NbestStore(self.run.nbest, self.metric.n_sentences, n_dense, self.metric.n_statistics, number - 1)

    def _optimize(
        self, number: int, iteration: TuningIteration, store: NbestStore, decoder: Decoder
    ) -> TuningIteration:
        """Optimize the weights on the lists and save them; return the iteration with score and updates filled in."""
        problem, n_dense = self.problem(number, store, decoder), store.n_dense
        with stage(f"optimize ({self.config.method})"):
            begin = time.perf_counter()
            method = self.config.list_method
            optimum = METHODS[method](problem, self.config.of(method))
            seconds = time.perf_counter() - begin
        weights = Weights.learned(decoder.features.by_group(optimum.weights[:n_dense]))
        sparse = None
        if self.config.sparse == "weights":
            sparse = with_values(decoder.model.tables.sparse.weights, store.keys, optimum.weights[n_dense:])
        self.run.save_weights(number, weights, sparse)
        update = {
            "list_score": points(problem.score_of(optimum.weights)),
            "updates": optimum.n_updates,
            "epoch": optimum.epoch,
            "optimize_seconds": seconds,
        }
        return iteration.model_copy(update=update)

    def problem(self, number: int, store: NbestStore, decoder: Decoder) -> Problem:
        """The problem of iteration `number`; it starts with the weights of the `decoder` that made its lists."""
        n_dense, tunable = store.n_dense, np.ones(store.n_features, bool)
        dense = weight_vector(decoder.dense_weights, decoder.features)
        start = np.concatenate([dense, weights_of(decoder.model.tables.sparse.weights, store.keys)])
        sizes = [(name, 1 if size is None else size) for name, size in decoder.features.groups]
        tunable[:n_dense] = np.repeat([name not in self.config.fixed for name, _ in sizes], [n for _, n in sizes])
        if self.config.sparse == "weights":
            tunable[:n_dense] &= ~is_group(decoder.features)
        lists = store.lists()
        if self.config.most_sparse is not None:
            tunable[n_dense:] = most_frequent(lists, store.n_features - n_dense, self.config.most_sparse)
        rng = np.random.default_rng([self.settings.seed, number])
        return Problem(lists, self.metric, start, tunable, rng, self.development.threads, self.config.memory)

    def _line(self, number: int, iteration: TuningIteration) -> str:
        """The message about the decoding of an iteration, which uses the weights of the previous one."""
        reported, after = self.development.reported, iteration.list_score
        weights = f"after iteration {number - 1}" if number > 1 else "before"
        lists = "" if after is None else f", {reported(after):.2f} on the lists after optimizing"
        return f"{self.settings.name}: {weights}: {reported(iteration.score):.2f}, {iteration.new} new{lists}"


def tuning_before_scores(
    development: DevelopmentSet, runs: Sequence[RunSettings], directory: Path, signature: str
) -> Tune:
    """A function by which another trainer tunes weights before it scores them: it makes all `runs`, and takes the best.

    The work is in `directory` until the tuning ends. A tuning that was killed is continued by one with the same name;
    ConfigError is raised if it has another signature. A trainer that is killed before it records the result tunes
    again, and gets the same weights.
    """

    def tune(name: str, model: Model) -> TunedWeights:
        tuners = [
            Tuner(model, development, settings, TuningRun(directory / name / settings.name, signature))
            for settings in runs
        ]
        for tuner in tuners:
            tuner.finish()
        best = max((tuner.run for tuner in tuners), key=lambda run: run.progress.best_score)
        texts = translations_of(best.directory, best.progress.best, development.metric.n_sentences)
        tuned = TunedWeights(best.weights(best.progress.best), best.progress.best_score, texts)
        remove(directory / name)  # it holds n-best lists
        return tuned

    return tune
