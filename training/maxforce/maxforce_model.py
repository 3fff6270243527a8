"""Perceptron training of a model directory: features, LM folds, gold lattices, training, and the new model directory.

work directory `maxforce` in the output:
features/        templates.yaml and the maps of word classes, if the settings have templates
lm_folds/        language models, each estimated without one fold of the training data
lattices/        see LatticeStore
seed-N/          files of the training with seed N, see phrasebeam.training.online.training
mean.npz         the mean of several seeds, see mean.py
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.templates import needs_tags
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.development_set import DevelopmentScorer, DevelopmentSet, Tune, read_development
from phrasebeam.training.common.gain import Gain
from phrasebeam.training.common.settings import changed_settings, settings_with_effect
from phrasebeam.training.common.training_data import data_files, training_folds, training_pairs, with_alignment
from phrasebeam.training.maxforce.comparison import Comparison, TrainingExample
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.gold_examples import Examples, Pair, find_lattices
from phrasebeam.training.maxforce.mean import Mean, finish_mean
from phrasebeam.training.maxforce.state import MaxforceIteration, directory_of
from phrasebeam.training.maxforce.train import Violation, perceptron_training, rates_of, start_weights
from phrasebeam.training.metrics.score_hints import hint_at_low_score
from phrasebeam.training.online.featured_model import LearnedFeatures, about_training, with_features, write_learned
from phrasebeam.training.online.per_feature import check_learns
from phrasebeam.training.online.progress import UPDATES, OnlineProgress, load_best
from phrasebeam.training.tuning.carried_search import with_inner_search
from phrasebeam.training.tuning.tune import RunSettings, tuning_before_scores

WORK = "maxforce"  # in the model directory


class TrainingResult(NamedTuple):
    """The result of train_maxforce."""

    progress: dict[int, OnlineProgress[MaxforceIteration]]  # by seed
    mean: Mean | None  # None if there is only one seed

    def gain(self, metric: str) -> Gain:
        """The gain of the training; for several seeds, that of the mean of their weights."""
        gain = Gain.of(next(iter(self.progress.values())), metric)
        if self.mean is None:
            return gain
        begun = max((progress.iterations[0] for progress in self.progress.values()), key=lambda one: one.score)
        found = f"the mean of {len(self.progress)} seeds" if self.mean.score > begun.score else ""
        return Gain.between(metric, begun, self.mean, found)


@alone_in_output
def train_maxforce(
    model: Path,
    corpus: BitextFiles,
    development: BitextFiles,
    output: Path,
    config: MaxforceConfig,
    is_forced: bool = False,
) -> TrainingResult:
    """Learn weights for `model`; write the model with the weights that are best on `development`.

    With several seeds, the mean of the best weights of each seed is tuned and written. Work of an earlier call with the
    same settings and data is continued; another model or run in `output` is refused or, if `is_forced`, deleted.
    """
    corpus, config = with_alignment(corpus, model, config), with_inner_search(config, model)
    derived = DerivedModel.begin(model, output, WORK, data_files(corpus, development))
    has_tags = needs_tags(config.templates) or needs_tags(derived.opened.templates)
    read, sentences = read_development(development, config, has_tags), list(training_pairs(corpus, config, has_tags))
    signature = derived.begin_work("train-maxforce", settings_with_effect(config), is_forced, development)
    work = derived.work
    opened = with_features(derived.opened, model, work, config)
    folds = training_folds(corpus, opened, work / "lm_folds", config, config.memory)
    comparison = _comparison(opened, folds, config)
    check_learns(rates_of(comparison.decoder.features, config), opened.tables.sparse.active)
    objective = Violation(comparison, _examples(comparison.forced, sentences, config, work / "lattices"))
    decoder, progress = Decoder(opened, config.development_search or config.search), {}

    def scorer(directory: Path, seed: int) -> DevelopmentScorer:
        return DevelopmentScorer(read, decoder, tuning(read, config, seed, directory / "tuning", signature))

    for seed in config.seeds:
        directory = directory_of(work, seed)
        training = perceptron_training(objective, scorer(directory, seed), config, directory, seed)
        progress[seed] = training.finish(signature, start_weights(objective))
    mean, best = None, load_best(directory_of(work, config.seeds[0]), signature, decoder.features.size)
    if len(progress) > 1:
        mean, best = finish_mean(work, progress, scorer(work, config.seeds[0]), signature)
    logs = (directory_of(work, seed) / UPDATES.format(0) for seed in config.seeds)
    learned = LearnedFeatures(logs, {number: given for number, (given, _) in enumerate(sentences)}, config.names)
    result = TrainingResult(progress, mean)
    gain, about = str(result.gain(config.metric)), about_training("maxforce", config, derived)
    making = Making("train-maxforce", about, changed_settings(config), gain, "maxforce")
    write_learned(derived, decoder, best, learned, making)
    hint_at_low_score(config.metric, mean.score if mean else progress[config.seeds[0]].best_score)
    return result


def tuning(
    development: DevelopmentSet, config: MaxforceConfig, seed: int, directory: Path, signature: str
) -> Tune | None:
    """A function that tunes dense weights and scales of groups before weights are scored; None without tuning."""
    if config.tune is None:
        return None
    return tuning_before_scores(development, [RunSettings(f"seed-{seed}", seed, config.tune)], directory, signature)


def _comparison(model: Model, folds: Sequence[Fold], config: MaxforceConfig) -> Comparison:
    decoder = good = Decoder(model, config.search, folds=folds)
    if config.gold_table_limit not in (None, config.search.table_limit):
        limits = config.search.model_copy(update={"table_limit": config.gold_table_limit})
        good = Decoder(model, limits, folds=folds)
    forced = ForcedDecoder(good, config.forcing)
    return Comparison(decoder, forced, config.update, float(config.future_cost), config.margin)


def _examples(
    forced: ForcedDecoder, sentences: Sequence[Pair], config: MaxforceConfig, directory: Path
) -> Sequence[TrainingExample]:
    examples = Examples(find_lattices(forced, sentences, config, directory), sentences)
    if not examples:
        raise ConfigError("no sentence pair has y-good derivations; give more data, or a larger distortion_limit")
    return examples
