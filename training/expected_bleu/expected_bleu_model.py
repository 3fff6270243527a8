"""Expected BLEU training of a model directory: the steps of Wuebker et al. (2015), Figure 1.

work directory `expected_bleu` in the output:
lists/           n-best lists (ListStore), unless another directory is given; lm_folds/ in it has the language models
                 that are each estimated without one fold
iterations/      the parameters before the first step (000.npy) and after each step, see learners.py
checkpoint.npz   ExpectedBleuProgress, the parameters of the next iteration, and the state of the optimizer by name
tuned/           tuned weights of the model of each iteration that was scored, if the settings have tuning
candidate/       the model that is being scored
curve.csv, curve.png
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.array_file import LARGEST_NUMBER, map_array
from phrasebeam.base.array_struct import array
from phrasebeam.base.config import Section, load_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.model_check import check_arrays
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.process.unfinished import remove
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.checkpoint import load_checkpoint, save_checkpoint
from phrasebeam.training.common.curve import Panel, score_panels, write_curve
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.development_set import DevelopmentScore, DevelopmentSet, read_development
from phrasebeam.training.common.gain import Gain
from phrasebeam.training.common.iterations import Progress
from phrasebeam.training.common.kept_translations import keep_translations
from phrasebeam.training.common.settings import changed_settings, settings_with_effect
from phrasebeam.training.common.training_data import data_files, training_folds, training_pairs, with_alignment
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.learners import Learner, new_learner
from phrasebeam.training.expected_bleu.list_store import ListStore
from phrasebeam.training.expected_bleu.lists import make_lists
from phrasebeam.training.expected_bleu.scored_model import Scores, write_scored
from phrasebeam.training.metrics.score_hints import hint_at_low_score
from phrasebeam.training.tuning.carried_search import with_inner_search
from phrasebeam.training.tuning.tune import all_runs, tuning_before_scores

WORK = "expected_bleu"  # in the model directory
EXPECTED = Panel("expected BLEU", {"expected_bleu": "training data"}, 100.0)  # with the score panel, as in Figure 2
TITLES = {"rprop": "RPROP", "adagrad": "AdaGrad", "sgd": "SGD", "gt": "growth transformation"}  # of optimizers
PARAMETERS = array(np.float32, "parameters")  # of an iteration, as a file
LIST_SETTINGS = {"nbest", "distinct", "search", "leave_one_out", "lm_folds", "sentences", "max_words", "lowercase"}


class ExpectedBleuIteration(Section):
    """Objective and scores of the weights of an iteration."""

    objective: float
    expected_bleu: float = Field(description="mean of the lists, brevity not clipped")
    penalty: float = Field(description="sum of the squares of all weights; of gt, of KL divergences")
    seconds: float = Field(description="of computing the objective, its gradient and the next weights")
    score: float | None = Field(None, description="of the development set, 0 to 100; error rates negative")
    chrfpp: float | None = Field(None, description="chrF++ of the same translations")


class ExpectedBleuProgress(Progress[ExpectedBleuIteration]):
    """All iterations so far; iteration 0 is the model before training."""

    format: Literal["phrasebeam expected BLEU 1"] = "phrasebeam expected BLEU 1"

    def with_score(self, number: int, scored: DevelopmentScore) -> "ExpectedBleuProgress":
        """A copy with the scores of iteration `number`."""
        iterations = list(self.iterations)
        iterations[number] = iterations[number].model_copy(update={"score": scored.score, "chrfpp": scored.chrfpp})
        return self.model_copy(update={"iterations": iterations})


@alone_in_output
def train_expected_bleu(
    model: Path,
    corpus: BitextFiles,
    development: BitextFiles,
    output: Path,
    config: ExpectedBleuConfig,
    lists: Path | None = None,
    is_forced: bool = False,
) -> ExpectedBleuProgress:
    """Learn scores of phrase pairs for `model`; write the model with the scores that are best on `development`.

    Work of an earlier call with the same settings and data is continued; another model or run in `output` is
    refused or, if `is_forced`, deleted. The n-best lists depend neither on features nor on optimizers; they are kept in
    the directory `lists` for further training runs.
    """
    corpus, config = with_alignment(corpus, model, config), with_inner_search(config, model)
    derived = DerivedModel.begin(model, output, WORK, data_files(corpus, development))
    if derived.opened.description.score_loss:
        message = "scores in 8 bits, but learned scores need 32; train it with 32"
        raise ConfigError(f"{model}: {message} (phrases.score_bits)")
    check_arrays(model, derived.opened)
    config = config.for_model(has_orientations=derived.opened.description.reordering is not None)
    read = read_development(development, config, derived.opened.has_tags)
    training = ExpectedBleuTraining(derived, config, corpus, read)
    derived.begin_work("train-expected-bleu", settings_with_effect(config), is_forced, development)
    store = training.lists(lists or derived.work / "lists")
    learner = new_learner(derived.opened, store, config)
    progress = training.learn(learner)
    progress = training.score(progress, learner)
    panels = [*score_panels(config.metric, {"score": "development set"}), EXPECTED]
    title = f"Expected BLEU by {TITLES.get(config.optimizer, config.optimizer)}"
    write_curve(derived.work, progress.rows(), title, panels, {None: progress.best})
    tuned = load_config(training.tuned_file(progress.best), Weights) if config.tune else None
    training.write(derived, learner, progress.best, tuned, str(Gain.of(progress, config.metric)))
    store.close()
    hint_at_low_score(config.metric, progress.best_score)
    return progress


@dataclass(frozen=True)
class ExpectedBleuTraining:
    """The steps of one training, and its files."""

    derived: DerivedModel
    config: ExpectedBleuConfig
    corpus: BitextFiles
    development: DevelopmentSet

    @property
    def checkpoint(self) -> Path:
        """The checkpoint file of the training."""
        return self.derived.work / "checkpoint.npz"

    def lists(self, directory: Path) -> ListStore:
        """Open the n-best lists in `directory`, and make missing ones. Raises ConfigError if no sentence has a list."""
        config, opened = self.config, self.derived.opened
        data = {name: self.derived.digests[name] for name in self.corpus.by_name}
        name = self.derived.signature(config.model_dump(mode="json", include=LIST_SETTINGS), data)
        store = ListStore(directory, name, len(opened.tables.phrases.ln_scores))
        if not store.index.is_whole:
            folds = training_folds(self.corpus, opened, directory / "lm_folds", config, config.memory)
            sentences = training_pairs(self.corpus, config, opened.has_tags)
            n_lines = sum(1 for _ in read_lines(self.corpus.source))
            total = min(config.sentences or n_lines, n_lines)
            make_lists(Decoder(opened, config.search, folds=folds), sentences, store, config, total)
        if store.lists().first.size == 1:
            raise ConfigError(f"{self.corpus.source}: no sentence has 1 to {config.max_words} words; give others")
        return store

    def learn(self, learner: Learner) -> ExpectedBleuProgress:
        """Make all iterations, from the last checkpoint on. The parameters of each iteration are written to a file."""
        config, path, name = self.config, self.checkpoint, self.derived.signature(settings_with_effect(self.config))
        progress, parameters, state = ExpectedBleuProgress(signature=name), learner.start(), dict[str, np.ndarray]()
        if path.exists():
            progress, state = load_checkpoint(path, ExpectedBleuProgress, name, learner.declared)
            parameters = state.pop("parameters")
        log.info("parameters: %d", parameters.size)
        with stage("expected BLEU", config.iterations + 1, "steps") as advance:
            advance(len(progress.iterations))
            while (number := len(progress.iterations)) <= config.iterations:
                begin = time.perf_counter()
                with atomic_file(self.parameters_file(number)) as file:
                    np.save(file, parameters.astype(PARAMETERS.dtype))
                value = learner.step(parameters, state)
                iteration = ExpectedBleuIteration(**value._asdict(), seconds=time.perf_counter() - begin)
                progress = progress.with_iteration(iteration)
                save_checkpoint(path, progress, (state | {"parameters": parameters}).items())
                log.info("iteration %d: objective %.5f, expected BLEU %.5f", number, *value[:2])
                advance(1)
        return progress

    def parameters_file(self, number: int) -> Path:
        """The file of the parameters of iteration `number`."""
        return self.derived.work / "iterations" / f"{number:03d}.npy"

    def parameters(self, number: int, size: int) -> np.ndarray:
        """The parameters of iteration `number` (float64[size]). Raises FormatError if the file is damaged."""
        path, mend = self.parameters_file(number), f"delete {self.checkpoint}, and the training begins again"
        stored = map_array(path, PARAMETERS, {"parameters": size}, mend)
        with np.errstate(invalid="ignore"):  # a damaged file may have a signalling NaN
            parameters = stored.astype(np.float64)
        if not (np.abs(parameters) <= LARGEST_NUMBER).all():
            raise FormatError(path, f"a number beyond {LARGEST_NUMBER:g}, or not a number; {mend}")
        return parameters

    def tuned_file(self, number: int) -> Path:
        """The file of the tuned weights of the model of iteration `number`."""
        return self.derived.work / "tuned" / f"{number:03d}.yaml"

    def score(self, progress: ExpectedBleuProgress, learner: Learner) -> ExpectedBleuProgress:
        """Score the iterations that are due according to the settings, and have no score yet."""
        last = len(progress.iterations) - 1
        for number in [*range(0, last, self.config.score_every), last]:
            if progress.iterations[number].score is not None:
                continue
            scored = self._score(learner, number, progress.signature)
            progress = progress.with_score(number, scored)
            arrays = load_checkpoint(self.checkpoint, ExpectedBleuProgress, progress.signature, learner.declared)[1]
            save_checkpoint(self.checkpoint, progress, arrays.items())
            log.info("iteration %d: score %.2f", number, abs(scored.score))
        remove(self.derived.work / "candidate")
        return progress

    def _score(self, learner: Learner, number: int, signature: str) -> DevelopmentScore:
        """The scores of the model of an iteration, with tuned weights if the settings have tuning; these are stored."""
        candidate, config = self.derived.work / "candidate", self.config
        self.write(replace(self.derived, output=candidate), learner, number)
        if config.tune is None:
            decoder = Decoder(open_model(candidate), config.development_search or config.search)
            scored = self.development.score(decoder)
            keep_translations(self.derived.work, number, scored.texts)
            return scored
        tune = tuning_before_scores(self.development, all_runs(config.tune), self.derived.work / "tuned", signature)
        tuned = tune(f"{number:03d}", open_model(candidate))
        save_config(tuned.weights, self.tuned_file(number))
        keep_translations(self.derived.work, number, tuned.texts)
        return DevelopmentScore(tuned.score, tuned.texts, self.development.chrfpp_of(tuned.texts))

    def write(
        self, output: DerivedModel, learner: Learner, number: int, tuned: Weights | None = None, gain: str = ""
    ) -> None:
        """Write the model with the scores of an iteration, and with `tuned` weights or those of the learner."""
        parameters = self.parameters(number, learner.start().size)
        settings = {
            "expected_bleu": self.config.model_dump(mode="json", exclude={"threads", "memory"}) | {"iteration": number},
            "trained_from": self.derived.opened.description.signature,
        }
        scores = Scores(learner.table_scores(parameters), learner.orientation_scores(parameters))
        making = Making("train-expected-bleu", settings, changed_settings(self.config), gain, "expected bleu")
        write_scored(output, scores, tuned or learner.model_weights(), making)
