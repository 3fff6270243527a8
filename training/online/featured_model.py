"""A model with the sparse features that a trainer learns: given templates to begin with, written with its weights."""

import shutil
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from phrasebeam.base.config import Section
from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_directory
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.sparse.sparse_files import open_sparse, save_feature_names, save_templates
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.decoder.sparse.template_config import Templates
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.shared_file import share
from phrasebeam.training.online.feature_names import heaviest, names_of
from phrasebeam.training.online.update_log import latest_first

FEATURES = "features"  # in the work directory: templates.yaml and the maps of word classes
SPARSE_FILES = {f"sparse/{name}" for name in ("keys.npy", "values.npy", "names")}


def with_features(model: Model, directory: Path, work: Path, templates: Templates | None) -> Model:
    """The model in `directory` with the sparse features of `templates`, or with its own, and scales for all groups.

    The templates and their maps of word classes are written to `work`, unless they are there. Raises FormatError where
    others are there.
    """
    features = directory
    if templates is not None:
        features = work / FEATURES
        if not (features / "templates.yaml").exists():
            with atomic_directory(features) as beside:
                save_with_classes(templates, beside)
    opened, levels, sparse = open_sparse(features, model.source, model.target, model.tables.phrases)
    if templates is not None and (opened is None or _without_maps(opened) != _without_maps(templates)):
        mend = f"delete {features}, and they are written again"
        raise FormatError(features / "templates.yaml", f"not the templates of the settings; {mend}")
    scales = {
        name: 1.0 for name, is_there in zip(GROUPS, sparse.active) if is_there and getattr(model.weights, name) is None
    }
    absent = {name: None for name, is_there in zip(GROUPS, sparse.active) if not is_there}
    return model._replace(
        weights=model.weights.model_copy(update=scales | absent),
        tables=model.tables._replace(sparse=sparse),
        templates=opened,
        levels=levels,
    )


def _without_maps(templates: Templates) -> dict[str, Any]:
    """The settings of `templates`, but for the names of their maps of word classes."""
    maps = {"levels": {"__all__": {"source", "target"}}}
    return templates.model_dump(include=set(Templates.model_fields), exclude=maps)


def save_with_classes(templates: Templates, directory: Path) -> None:
    """Write templates.yaml to `directory`, and copies of the word class maps that it names. Raises FormatError."""
    levels = []
    for i, level in enumerate(templates.levels):
        update = {}
        for side in ("source", "target"):
            path = getattr(level, side)
            if path:
                read_word_classes(path)  # raises FormatError where it is none
                update[side] = f"classes.{i}.{side}"
                shutil.copyfile(path, directory / update[side])
        levels.append(level.model_copy(update=update))
    save_templates(directory, templates.model_copy(update={"levels": levels}))


class LearnedFeatures:
    """The names of learned features: what they are computed from."""

    def __init__(self, logs: Iterable[Path], sentences: Mapping[int, Input], n: int):
        """`logs`: of updates, see update_log.py, whose records are of `sentences`; the `n` heaviest ones are named."""
        self.logs, self.sentences, self.n = [*logs], sentences, n

    def names(self, best: BestWeights, model: Model) -> dict[int, str]:
        """The names of the heaviest features of each group, by key."""
        keys = heaviest(best.keys, best.values, best.group, self.n)
        records = chain.from_iterable(latest_first(path) for path in self.logs if path.exists())
        with stage("naming features"):
            return names_of(keys, records, self.sentences, model)


def write_learned(
    derived: DerivedModel,
    decoder: Decoder,
    best: BestWeights,
    learned: LearnedFeatures,
    making: Making,
    own: Iterable[str] = (),
) -> None:
    """Write the model with the best weights; `decoder` has its features, `own` are files that were written already."""
    opened, output, features, written = decoder.model, derived.output, derived.work / FEATURES, {*own}
    if features.exists():
        for path in sorted(features.iterdir()):
            share(path, output / path.name)
            written.add(path.name)
    if opened.templates is not None:
        save_sparse_weights(best.table(), output / "sparse")
        save_feature_names(output, learned.names(best, opened))
        written |= SPARSE_FILES
    without = {"templates.yaml", "sparse"} if features.exists() else ()
    derived.write(Weights.learned(decoder.features.by_group(best.dense)), making, written, without)


def about_training(trainer: str, config: Section, derived: DerivedModel) -> dict[str, object]:
    """The settings in model.yaml of what the `trainer` learned with the settings `config`."""
    settings = config.model_dump(mode="json", exclude={"threads", "workers", "memory"})
    return {trainer: settings, "trained_from": derived.opened.description.signature}
