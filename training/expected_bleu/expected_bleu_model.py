"""A model directory with learned scores of phrase pairs out of another: the steps of Wuebker et al. (2015), Figure 1.

work directory `expected_bleu` in the output:
lists/           see ListStore, unless it is elsewhere; its lm_folds/: language models without a fold of the data each
iterations/      what is learned, before the first step (000.npy) and after each, see learners.py
checkpoint.npz   see state.py
tuned/           tuned weights of the model of each iteration that was scored, where the settings have tuning
candidate/       the model that is being scored
curve.csv, curve.png
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.model.model import Model, open_model
from phrasebeam.decoder.tables.provenance import file_digests, signature
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.curve import write_table_and_picture
from phrasebeam.training.common.derived_model import work_directory
from phrasebeam.training.common.training_data import TrainingData
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.learners import Learner, new_learner
from phrasebeam.training.expected_bleu.list_store import ListStore
from phrasebeam.training.expected_bleu.lists import make_lists
from phrasebeam.training.expected_bleu.scored_model import Scores, write_scored
from phrasebeam.training.expected_bleu.scoring import fixed_score, tuned_score, tuned_weights
from phrasebeam.training.expected_bleu.state import (
    ExpectedBleuIteration,
    ExpectedBleuProgress,
    load_checkpoint,
    save_checkpoint,
)
from phrasebeam.training.tuning.tune_model import TuningData

WORK = "expected_bleu"  # in the model directory
OF_LISTS = {"nbest", "distinct", "search", "leave_one_out", "lm_folds", "sentences", "max_words", "lowercase"}
WITHOUT_EFFECT = {"iterations", "score_every", "threads", "lm_memory", "memory"}  # on what was done so far


def train_expected_bleu(
    model: Path,
    corpus: TrainingData,
    development: TuningData,
    output: Path,
    config: ExpectedBleuConfig,
    lists: Path | None = None,
) -> ExpectedBleuProgress:
    """Learn scores of phrase pairs for `model`, and write it with those that were best on `development` to `output`.

    What an earlier call with the same settings and data did is not done again. The n-best lists, which depend neither
    on features nor on optimizers, are kept in the directory `lists`, where further trainings find them.
    """
    work = work_directory(model, output, WORK)
    corpus.check(config.leave_one_out)
    run = ExpectedBleuRun(model, open_model(model), output, config, corpus, development)
    store = run.lists(lists or work / "lists")
    learner = new_learner(run.opened, store, config)
    progress = run.learn(learner)
    progress = run.score(progress, learner)
    write_curve(work, progress, config)
    run.write(output, learner, progress.best)
    store.close()
    return progress


@dataclass(frozen=True)
class ExpectedBleuRun:
    """One training and its files."""

    model: Path
    opened: Model
    output: Path
    config: ExpectedBleuConfig
    corpus: TrainingData
    development: TuningData

    @property
    def work(self) -> Path:
        """Where what is not the model itself is kept."""
        return self.output / WORK

    @cached_property
    def digests(self) -> dict[str, dict[str, str]]:
        """Of all data."""
        development = {f"development {name}": path for name, path in self.development.files.items()}
        return file_digests(self.corpus.files | development)

    def signature(self, settings: Mapping[str, Any], digests: dict[str, dict[str, str]]) -> str:
        """Of these settings and data, with this model."""
        weights = self.opened.weights.model_dump(mode="json")
        return signature({**settings, "model": self.opened.description.signature, "weights": weights}, digests)

    def lists(self, directory: Path) -> ListStore:
        """The n-best lists in `directory`, made as far as they are not there. Raises ConfigError if there are none."""
        config = self.config
        name = self.signature(config.model_dump(mode="json", include=OF_LISTS), file_digests(self.corpus.files))
        store = ListStore(directory, name, len(self.opened.tables.phrases.ln_scores))
        if not store.is_whole:
            folds = self.corpus.folds(self.opened, directory / "lm_folds", config.lm_folds, config.lm_memory)
            sentences = self.corpus.pairs(config.leave_one_out, config.lm_folds, config.sentences)
            n_lines = sum(1 for _ in read_lines(self.corpus.source))
            total = min(config.sentences or n_lines, n_lines)
            make_lists(Decoder(self.opened, config.search, folds=folds), sentences, store, config, total)
        if store.lists().first.size == 1:
            raise ConfigError(f"{self.corpus.source}: no sentence has 1 to {config.max_words} words; give others")
        return store

    def learn(self, learner: Learner) -> ExpectedBleuProgress:
        """All iterations, from the last checkpoint on; the parameters of each are kept."""
        config, path = self.config, self.work / "checkpoint.npz"
        name = self.signature(config.model_dump(mode="json", exclude=WITHOUT_EFFECT), self.digests)
        progress, parameters, state = ExpectedBleuProgress(signature=name), learner.start(), dict[str, np.ndarray]()
        if path.exists():
            progress, parameters, state = load_checkpoint(path, name)
        log.info("parameters: %d", parameters.size)
        with stage("expected BLEU", config.iterations + 1) as advance:
            advance(len(progress.iterations))
            while (number := len(progress.iterations)) <= config.iterations:
                begin = time.perf_counter()
                with atomic_file(self.parameters_file(number)) as file:
                    np.save(file, parameters.astype(np.float32))
                value = learner.step(parameters, state)
                found = ExpectedBleuIteration(**value._asdict(), seconds=time.perf_counter() - begin)
                progress = progress.model_copy(update={"iterations": [*progress.iterations, found]})
                save_checkpoint(path, progress, parameters, state)
                log.info("iteration %d: objective %.5f, expected BLEU %.5f", number, *value[:2])
                advance(1)
        return progress

    def parameters_file(self, number: int) -> Path:
        """Where the parameters of an iteration are kept."""
        return self.work / "iterations" / f"{number:03d}.npy"

    def tuned_file(self, number: int) -> Path:
        """Where the tuned weights of the model of an iteration are kept."""
        return self.work / "tuned" / f"{number:03d}.yaml"

    def score(self, progress: ExpectedBleuProgress, learner: Learner) -> ExpectedBleuProgress:
        """Translate the development set with the weights of each iteration that shall be scored and is not yet."""
        config, path = self.config, self.work / "checkpoint.npz"
        last = len(progress.iterations) - 1
        for number in [*range(0, last, config.score_every), last]:
            if progress.iterations[number].score is not None:
                continue
            candidate = self.work / "candidate"
            self.write(candidate, learner, number)
            if config.tune:
                score = tuned_score(candidate, self.development, config, config.tune, self.tuned_file(number))
            else:
                score = fixed_score(candidate, self.development, config)
            progress = progress.with_score(number, score)
            save_checkpoint(path, progress, *load_checkpoint(path, progress.signature)[1:])
            log.info("iteration %d: score %.2f", number, score)
        shutil.rmtree(self.work / "candidate", ignore_errors=True)
        return progress

    def write(self, output: Path, learner: Learner, number: int) -> None:
        """Write the model that the parameters of an iteration make."""
        parameters = np.load(self.parameters_file(number)).astype(np.float64)
        settings = {
            "expected_bleu": self.config.model_dump(mode="json", exclude={"threads"}) | {"iteration": number},
            "trained_from": self.opened.description.signature,
        }
        weights = learner.model_weights()
        if self.config.tune and self.tuned_file(number).exists():
            weights = tuned_weights(self.tuned_file(number))
        made = Scores(learner.table_scores(parameters), learner.orientation_scores(parameters)), weights
        write_scored(self.model, output, self.opened, *made, settings, self.digests)


def write_curve(directory: Path, progress: ExpectedBleuProgress, config: ExpectedBleuConfig) -> None:
    """Write curve.csv, and curve.png if matplotlib is there: expected BLEU as in Figure 2, and the score."""

    def draw(figure: Any) -> None:
        expected, scores = figure.subplots(2, sharex=True)
        found = dict(enumerate(progress.iterations))
        expected.plot(list(found), [one.expected_bleu for one in found.values()], marker=".")
        expected.set(ylabel="expected BLEU of the training data", title=config.optimizer)
        scored = {number: one.score for number, one in found.items() if one.score is not None}
        scores.plot(list(scored), list(scored.values()), marker=".")
        scores.set(xlabel="iteration", ylabel="score of the development set")

    columns = list(ExpectedBleuIteration.model_fields)
    values = [one.model_dump() for one in progress.iterations]
    rows = [[number, *("" if one[c] is None else one[c] for c in columns)] for number, one in enumerate(values)]
    write_table_and_picture(directory, ["iteration", *columns], rows, draw)
