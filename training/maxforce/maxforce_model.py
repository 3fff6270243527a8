"""A model directory with learned weights out of another: features, folds, gold lattices, training, and what is written.

work directory `maxforce` in the output:
features/        templates.yaml and the maps of word classes, where the settings have templates
lm_folds/        language models without a fold of the training data each
lattices/        see LatticeStore
checkpoint.npz, best.npz  see state.py and train.py
curve.csv, curve.png
"""

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from decoder.config import Weights
from decoder.features.sparse_weights import add_weights, new_sparse_weights, save_sparse_weights
from decoder.features.template_config import Templates
from decoder.features.templates import GROUPS
from decoder.forced_decoder import ForcedDecoder, Status
from decoder.gold_lattice import GoldLattice
from decoder.input import Input
from decoder.lm_folds import Fold
from decoder.model import Model, open_model
from decoder.ordered_map import map_ordered
from decoder.provenance import file_digests, signature
from decoder.sparse_files import open_sparse, save_feature_names
from decoder.translator import Decoder
from lm.config import save_config
from lm.errors import ConfigError
from lm.files import atomic_directory
from lm.progress import log, stage
from training.derived_model import share, work_directory, write_derived
from training.maxforce.config import MaxforceConfig
from training.maxforce.development import Development
from training.maxforce.examples import Comparison, Example
from training.maxforce.lattice_store import LatticeStore, LatticeWriter
from training.maxforce.names import heaviest, names_of
from training.maxforce.state import Progress, load_checkpoint
from training.maxforce.train import Trainer
from training.maxforce.update_log import latest_first
from training.training_data import TrainingData
from training.tuning.tune_model import TuningData

WORK = "maxforce"  # in the model directory
SPARSE_FILES = {f"sparse/{name}" for name in ("keys.npy", "values.npy", "names")}
WITHOUT_EFFECT = {"iterations", "patience", "checkpoint", "threads", "names", "lm_memory"}  # on what was done so far


def train_maxforce(
    model: Path, corpus: TrainingData, development: TuningData, output: Path, config: MaxforceConfig
) -> Progress:
    """Learn weights for `model`, and write it with those that were best on `development` to `output`.

    What an earlier call with the same settings and data did is not done again.
    """
    work = work_directory(model, output, WORK)
    corpus.check(config.leave_one_out)
    opened = open_model(model)
    digests = file_digests(corpus.files | {f"development {name}": path for name, path in development.files.items()})
    relevant = config.model_dump(mode="json", exclude=WITHOUT_EFFECT) | {"model": opened.description.signature}
    name = signature(relevant | {"weights": opened.weights.model_dump(mode="json")}, digests)
    opened = with_features(opened, model, work, config)
    folds = corpus.folds(opened, work / "lm_folds", config.lm_folds, config.lm_memory)
    sentences = list(corpus.pairs(config.leave_one_out, config.lm_folds, config.sentences))
    trainer = _trainer(opened, folds, sentences, development, config, work, name)
    path = work / "checkpoint.npz"
    progress, learned = load_checkpoint(path, name) if path.exists() else trainer.start(name)
    progress = trainer.finish(progress, learned)
    _write_model(model, output, opened, trainer, sentences, digests)
    return progress


def with_features(model: Model, directory: Path, work: Path, config: MaxforceConfig) -> Model:
    """The model in `directory` with the sparse features of the settings, or with its own, and scales for all groups."""
    features = directory
    if config.templates is not None:
        features = work / "features"
        if not (features / "templates.yaml").exists():
            _write_templates(config.templates, features)
    templates, levels, sparse = open_sparse(features, model.target, len(model.tables.phrases.ln_scores))
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
    """templates.yaml, and beside it the maps that it names."""
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
        save_config(templates.model_copy(update={"levels": levels}), beside / "templates.yaml")


def _trainer(
    model: Model,
    folds: Sequence[Fold],
    sentences: Sequence[tuple[Input, tuple[str, ...]]],
    development: TuningData,
    config: MaxforceConfig,
    work: Path,
    name: str,
) -> Trainer:
    limits = config.search
    if config.gold_table_limit is not None:
        limits = limits.model_copy(update={"table_limit": config.gold_table_limit})
    forced = ForcedDecoder(Decoder(model, limits, folds=folds), config.forcing)
    store = _lattices(forced, sentences, config, work / "lattices")
    examples = Examples(store, sentences)
    if not examples:
        raise ConfigError("no sentence pair has y-good derivations; give more data, or a larger distortion_limit")
    comparison = Comparison(
        Decoder(model, config.search, folds=folds), forced, config.update, float(config.future_cost)
    )
    dev_decoder = Decoder(model, config.development_search or config.search)
    dev = Development(dev_decoder, development, config, work / "tuning", name)
    return Trainer(comparison, examples, dev, config, work)


class Examples(Sequence[Example]):
    """Those sentence pairs that have gold lattices, which are read where they are needed."""

    def __init__(self, store: LatticeStore, sentences: Sequence[tuple[Input, tuple[str, ...]]]):
        self.store, self.sentences = store, sentences

    def __len__(self) -> int:
        return len(self.store.numbers)

    def __getitem__(self, place: int) -> Example:  # type: ignore[override]
        number = self.store.numbers[place]
        return Example(number, *self.sentences[number], self.store.lattice(place))


def _lattices(
    forced: ForcedDecoder,
    sentences: Sequence[tuple[Input, tuple[str, ...]]],
    config: MaxforceConfig,
    directory: Path,
) -> LatticeStore:
    """The gold lattices of all sentences that have any."""
    if LatticeStore.is_there(directory):
        return LatticeStore(directory)
    find: Callable[[tuple[Input, tuple[str, ...]]], tuple[str, GoldLattice | None]] = partial(_lattice, forced, config)
    counts: dict[str, int] = {}
    with stage("forced decoding", len(sentences)) as advance, LatticeWriter(directory) as writer:
        for number, (status, lattice) in enumerate(map_ordered(find, sentences, config.threads)):
            counts[status] = counts.get(status, 0) + 1
            if lattice is not None:
                writer.add(number, lattice)
            advance(1)
        writer.finish(counts)
    log.info("sentence pairs: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    return LatticeStore(directory)


def _lattice(
    forced: ForcedDecoder, config: MaxforceConfig, pair: tuple[Input, tuple[str, ...]]
) -> tuple[Status | str, GoldLattice | None]:
    given, reference = pair
    if len(given.words) > config.max_words:
        return "too long", None
    return forced.lattice(forced.prepare(given, reference))


def _write_model(
    model: Path,
    output: Path,
    opened: Model,
    trainer: Trainer,
    sentences: Sequence[tuple[Input, tuple[str, ...]]],
    digests: dict[str, dict[str, str]],
) -> None:
    config = trainer.config
    with np.load(output / WORK / "best.npz") as best:
        weights: Weights = trainer.weights(best["dense"])
        keys, values, groups = best["keys"], best["values"], best["group"]
    features = output / WORK / "features"
    if features.exists():
        for path in sorted(features.iterdir()):
            share(path, output / path.name)
    if opened.templates is not None:
        sparse = new_sparse_weights(keys.size)
        add_weights(sparse, keys, values)
        save_sparse_weights(sparse, output / "sparse")
        wanted = heaviest(keys, values, groups, config.names)
        with stage("naming features"):
            found = names_of(wanted, latest_first(output / WORK / "updates"), sentences, opened)
        save_feature_names(output, found)
    replaced = {"templates.yaml", "sparse"} if features.exists() else SPARSE_FILES
    settings = {
        "maxforce": config.model_dump(mode="json", exclude={"threads"}),
        "trained_from": opened.description.signature,
    }
    write_derived(
        model,
        output,
        opened.description,
        weights,
        settings,
        digests,
        ("maxforce", ""),
        lambda path: path.parts[0] != WORK and not replaced.intersection((str(path), path.parts[0])),
    )
