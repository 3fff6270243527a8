"""Perceptron training of a model directory: features, LM folds, gold lattices, training, and the new model directory.

work directory `maxforce` in the output:
features/        templates.yaml and the maps of word classes, where the settings have templates
lm_folds/        language models without a fold of the training data each
lattices/        see LatticeStore
seed-N/          of the training with this seed: checkpoint.npz (see state.py), best.npz (BestWeights), updates
                 (update_log.py), curve.csv, curve.png
mean.npz         of several seeds, see mean.py
"""

import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.sparse.sparse_files import open_sparse, save_feature_names, save_templates
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.decoder.sparse.template_config import Templates
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.checkpoint import SignedSection, begin
from phrasebeam.training.common.derived_model import DerivedModel, share
from phrasebeam.training.common.development_set import DevelopmentData, DevelopmentScorer, DevelopmentSet, Tune
from phrasebeam.training.common.settings import settings_with_effect
from phrasebeam.training.common.training_data import TrainingData, data_files
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.examples import Comparison, TrainingExample
from phrasebeam.training.maxforce.feature_names import heaviest, names_of
from phrasebeam.training.maxforce.gold_examples import Examples, Pair, find_lattices
from phrasebeam.training.maxforce.mean import Mean, finish_mean
from phrasebeam.training.maxforce.state import MaxforceProgress, directory_of, load_best
from phrasebeam.training.maxforce.train import Trainer
from phrasebeam.training.maxforce.update_log import latest_first
from phrasebeam.training.tuning.tune import RunSettings, tuning_before_scores

WORK = "maxforce"  # in the model directory
SPARSE_FILES = {f"sparse/{name}" for name in ("keys.npy", "values.npy", "names")}


class TrainingResult(NamedTuple):
    """The result of train_maxforce."""

    progress: dict[int, MaxforceProgress]  # by seed
    mean: Mean | None  # of several seeds


def train_maxforce(
    model: Path, corpus: TrainingData, development: DevelopmentData, output: Path, config: MaxforceConfig
) -> TrainingResult:
    """Learn weights for `model`, and write it with those that were best on `development` to `output`.

    Of several seeds, the mean of those that were best of each is tuned and written. What an earlier call with the same
    settings and data did is not done again.
    """
    corpus.check(config)
    derived = DerivedModel.begin(model, output, WORK, data_files(corpus, development))
    read = development.read(config)
    work, signature = derived.work, derived.signature(settings_with_effect(config))
    begin(work / "work.yaml", SignedSection(signature=signature))
    opened = with_features(derived.opened, model, work, config)
    folds = corpus.folds(opened, work / "lm_folds", config)
    sentences = list(corpus.pairs(config))
    comparison = _comparison(opened, folds, config)
    examples = _examples(comparison.forced, sentences, config, work / "lattices")
    decoder, progress = Decoder(opened, config.development_search or config.search), {}

    def scorer(directory: Path, seed: int) -> DevelopmentScorer:
        return DevelopmentScorer(read, decoder, tuning(read, config, seed, directory / "tuning", signature))

    for seed in config.seeds:
        directory = directory_of(work, seed)
        progress[seed] = Trainer(comparison, examples, scorer(directory, seed), config, directory, seed).finish(
            signature
        )
    mean, best = None, load_best(directory_of(work, config.seeds[0]), signature)
    if len(progress) > 1:
        mean, best = finish_mean(work, progress, scorer(work, config.seeds[0]), signature)
    _write_model(derived, decoder, best, sentences, config)
    return TrainingResult(progress, mean)


def tuning(
    development: DevelopmentSet, config: MaxforceConfig, seed: int, directory: Path, signature: str
) -> Tune | None:
    """A function that tunes dense weights and scales of groups before weights are scored; None without tuning."""
    if config.tune is None:
        return None
    return tuning_before_scores(development, [RunSettings(f"seed-{seed}", seed, config.tune)], directory, signature)


def with_features(model: Model, directory: Path, work: Path, config: MaxforceConfig) -> Model:
    """The model in `directory` with the sparse features of the settings, or with its own, and scales for all groups."""
    features = directory
    if config.templates is not None:
        features = work / "features"
        if not (features / "templates.yaml").exists():
            _write_templates(config.templates, features)
    templates, levels, sparse = open_sparse(features, model.source, model.target, model.tables.phrases)
    scales = {
        name: 1.0 for name, is_there in zip(GROUPS, sparse.active) if is_there and getattr(model.weights, name) is None
    }
    absent = {name: None for name, is_there in zip(GROUPS, sparse.active) if not is_there}
    return model._replace(
        weights=model.weights.model_copy(update=scales | absent),
        tables=model.tables._replace(sparse=sparse),
        templates=templates,
        levels=levels,
    )


def _write_templates(templates: Templates, directory: Path) -> None:
    """Write templates.yaml to `directory`, and the word class maps that it names."""
    levels = []
    with atomic_directory(directory) as beside:
        for i, level in enumerate(templates.levels):
            update = {}
            for side in ("source", "target"):
                path = getattr(level, side)
                if path:
                    update[side] = f"classes.{i}.{side}"
                    shutil.copyfile(path, beside / update[side])
            levels.append(level.model_copy(update=update))
        save_templates(beside, templates.model_copy(update={"levels": levels}))


def _comparison(model: Model, folds: Sequence[Fold], config: MaxforceConfig) -> Comparison:
    limits = config.search
    if config.gold_table_limit is not None:
        limits = limits.model_copy(update={"table_limit": config.gold_table_limit})
    forced = ForcedDecoder(Decoder(model, limits, folds=folds), config.forcing)
    decoder = Decoder(model, config.search, folds=folds)
    return Comparison(decoder, forced, config.update, float(config.future_cost))


def _examples(
    forced: ForcedDecoder, sentences: Sequence[Pair], config: MaxforceConfig, directory: Path
) -> Sequence[TrainingExample]:
    examples = Examples(find_lattices(forced, sentences, config, directory), sentences)
    if not examples:
        raise ConfigError("no sentence pair has y-good derivations; give more data, or a larger distortion_limit")
    return examples


def _write_model(
    derived: DerivedModel, decoder: Decoder, best: BestWeights, sentences: Sequence[Pair], config: MaxforceConfig
) -> None:
    opened, output = decoder.model, derived.output
    features = derived.work / "features"
    if features.exists():
        for path in sorted(features.iterdir()):
            share(path, output / path.name)
    if opened.templates is not None:
        save_sparse_weights(best.table(), output / "sparse")
        keys = heaviest(best.keys, best.values, best.group, config.names)
        logs = (directory_of(derived.work, seed) / "updates" for seed in config.seeds)
        with stage("naming features"):
            feature_names = names_of(keys, chain.from_iterable(map(latest_first, logs)), sentences, opened)
        save_feature_names(output, feature_names)
    replaced = {"templates.yaml", "sparse"} if features.exists() else SPARSE_FILES
    settings = {
        "maxforce": config.model_dump(mode="json", exclude={"threads"}),
        "trained_from": opened.description.signature,
    }
    weights = Weights.model_validate(decoder.features.by_group(best.dense))
    names = "maxforce", ""
    derived.write(weights, settings, names, lambda path: not replaced.intersection((str(path), path.parts[0])))
