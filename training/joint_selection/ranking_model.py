"""Training of a model directory by distributed ranking: features, folds, shards, epochs, and the new model directory.

The work directory `ranking` in the output has features/ and lm_folds/ like that of the perceptron, and the files of an
OnlineTraining.
"""

from collections.abc import Sequence
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.progress import log
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.templates import needs_tags
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.development_set import DevelopmentScorer, DevelopmentSet, read_development
from phrasebeam.training.common.gain import Gain
from phrasebeam.training.common.settings import changed_settings, settings_with_effect
from phrasebeam.training.common.training_data import data_files, training_folds, training_pairs, with_alignment
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_training import (
    list_objective,
    ranking_training,
    rates_of,
    start_weights,
)
from phrasebeam.training.joint_selection.tasks import divided, weights_of_tasks, write_task_models
from phrasebeam.training.metrics.score_hints import hint_at_low_score
from phrasebeam.training.online.featured_model import LearnedFeatures, about_training, with_features, write_learned
from phrasebeam.training.online.per_feature import check_learns
from phrasebeam.training.online.progress import UPDATES, OnlineProgress, load_best
from phrasebeam.training.ranking.list_iteration import ListIteration
from phrasebeam.training.ranking.list_objective import ListExample
from phrasebeam.training.tuning.carried_search import with_inner_search
from phrasebeam.training.tuning.tune import RunSettings, tuning_before_scores

WORK = "ranking"  # in the model directory


@alone_in_output
def train_ranking(
    model: Path,
    corpus: BitextFiles,
    development: BitextFiles,
    output: Path,
    config: RankingConfig,
    tasks: Path | None = None,
    is_forced: bool = False,
) -> OnlineProgress[ListIteration]:
    """Learn weights for `model` by ranking; write the model with the weights that are best on `development`.

    `tasks`: a file with a label for each sentence pair, such as its domain; the pairs with the same label are a shard.
    Work of an earlier call with the same settings and data is continued; another model or run in `output` is refused
    or, if `is_forced`, deleted. Raises SmtError.
    """
    corpus, config = with_alignment(corpus, model, config), with_inner_search(config, model)
    files = data_files(corpus, development) | ({"tasks": tasks} if tasks else {})
    derived = DerivedModel.begin(model, output, WORK, files)
    has_tags = needs_tags(config.templates) or needs_tags(derived.opened.templates)
    read, pairs = read_development(development, config, has_tags), list(training_pairs(corpus, config, has_tags))
    signature = derived.begin_work("train-ranking", settings_with_effect(config), is_forced, development)
    work = derived.work
    opened = with_features(derived.opened, model, work, config)
    examples = examples_of(pairs, config)
    folds = training_folds(corpus, opened, work / "lm_folds", config, config.memory)
    decoder = Decoder(opened, config.search, folds=folds)
    decoder.searcher.rank_by(opened.weights)
    rates = rates_of(decoder.features, config)
    check_learns(rates, opened.tables.sparse.active)
    division = divided(examples, tasks, len(pairs), config)
    scorer = _scorer(read, opened, config, work, signature)
    objective = list_objective(decoder, examples, rates, config)
    training = ranking_training(objective, rates, division.shards, scorer, config, work)
    progress = training.finish(signature, start_weights(decoder, rates, config))
    del training  # it has all weights
    logs = [work / UPDATES.format(shard) for shard in range(len(division.shards.members))]
    learned = LearnedFeatures(logs, {one.number: one.given for one in examples}, config.names)
    gain, about = str(Gain.of(progress, config.metric)), about_training(WORK, config, derived)
    making = Making("train-ranking", about, changed_settings(config), gain, WORK)
    best = load_best(work, signature, decoder.features.size)
    write_learned(derived, scorer.decoder, best, learned, making)
    if config.task_weights == "own" and progress.best > 0:
        own = weights_of_tasks(work, signature, division.labels, rates, config)
        write_task_models(derived, scorer.decoder, own, learned, making)
    elif config.task_weights == "own":
        log.info("nothing was gained, so the tasks have no separate models")
    hint_at_low_score(config.metric, progress.best_score)
    return progress


def examples_of(pairs: Sequence[tuple[Input, tuple[str, ...]]], config: RankingConfig) -> list[ListExample]:
    """The sentence pairs whose source has 1 to max_words words. Raises ConfigError if there is none."""
    examples = [
        ListExample(number, given, [" ".join(reference)])
        for number, (given, reference) in enumerate(pairs)
        if 0 < len(given.words) <= config.max_words
    ]
    if not examples:
        raise ConfigError(f"no sentence pair of 1 to {config.max_words} source words; give more data, or max_words")
    return examples


def _scorer(
    read: DevelopmentSet, opened: Model, config: RankingConfig, work: Path, signature: str
) -> DevelopmentScorer:
    tune = None
    if config.tune is not None:
        runs = [RunSettings(f"seed-{config.seed}", config.seed, config.tune)]
        tune = tuning_before_scores(read, runs, work / "tuning", signature)
    return DevelopmentScorer(read, Decoder(opened, config.development_search or config.search), tune)
