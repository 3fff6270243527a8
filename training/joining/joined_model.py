"""A model with the sparse features of another model, so that it has what two trainers learned from the same data.

The papers do not do this. Scores by expected BLEU and features by the perceptron, both learned from the same initial
model, can be better together than either alone, once everything is tuned (docs/experiments/both-trainers.md).
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory, check_keeps_inputs
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import Model, open_model
from phrasebeam.decoder.model.replacement import check_replaceable
from phrasebeam.decoder.sparse.sparse_files import open_feature_names, save_feature_names
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights, used, with_values
from phrasebeam.decoder.sparse.templates import GROUPS, PAIR_SPARSE, Templates
from phrasebeam.decoder.tables.provenance import check_output
from phrasebeam.process.hints import hint
from phrasebeam.training.common.derived_model import DerivedModel, Making, check_not_itself
from phrasebeam.training.common.shared_file import share
from phrasebeam.training.joining.template_union import GivenTemplates, save_with_classes, union_of


def join_features(model: Path, features: Path, output: Path, is_forced: bool = False) -> None:
    """Write `model` with the sparse features of the model `features` to `output`.

    An existing model is replaced if it was made from the same two or `is_forced`.

    The weights of `model` are multiplied by a factor, so that the first language model has the same weight in both
    models: scales of groups, and the steps of MIRA, are meant for weights of this size. Raises SmtError if `features`
    has no sparse features that can be added, if both models have features of the same group, or if the weight of a
    first language model is not positive.
    """
    check_output(output)
    check_not_itself(output, model, features)
    check_keeps_inputs([output], [model, features])
    opened, giving = open_model(model), open_model(features)
    if giving.templates is None:
        expected = "expected one of train-maxforce, train-ranking or tune --method online"
        raise ConfigError(f"{features}: has no sparse features; {expected}")
    if not giving.tables.sparse.weights.n_used[0]:
        hint(f"{features}: none of its sparse features has a weight, so they would have no effect")
    if giving.tables.sparse.active[PAIR_SPARSE]:
        raise ConfigError(f"{features}: has features of single phrase pairs, which belong to its own phrase table")
    if opened.description.preprocessing != giving.description.preprocessing:
        raise ConfigError(
            f"{model}, {features}: trained on text that was preprocessed differently; expected the same words"
        )
    weights = _joined(opened.weights, giving.weights, (model, features))
    before, other = opened.description, giving.description
    update = {
        "settings": other.settings | before.settings,
        "data": other.data | before.data,
        "stages": [*before.stages, *(stage for stage in other.stages if stage not in before.stages)],
    }
    merged = before.model_copy(update=update)
    settings = {"joined": {"model": before.signature, "features": other.signature}}
    check_replaceable(output, "join-features", merged.settings | settings, merged.data, weights, is_forced)
    with atomic_directory(output) as beside:
        if opened.templates is None:
            for name in _files(giving.templates, features):
                share(features / name, beside / name)
        else:
            write_union(SparseModel(model, opened), SparseModel(features, giving), beside)
        own = {path.relative_to(beside).as_posix() for path in beside.rglob("*")}
        derived = DerivedModel(model, opened, beside, beside, {})
        derived.write(weights, Making("join-features", settings), own, description=merged)


def _joined(weights: Weights, others: Weights, models: tuple[Path, Path]) -> Weights:
    """The first weights, scaled to the size of the second, with the scales of groups of the second."""
    size, other_size = (model.language_model[0] for model in (weights, others))
    if min(size, other_size) <= 0:
        problem = f"the first language models of {models[0]} and {models[1]} weigh {size:g} and {other_size:g}"
        mend = "expected weights above 0: tune both before, or learn with start: model"
        raise ConfigError(f"{problem}; {mend}")
    factor = other_size / size
    scaled = {
        name: [factor * weight for weight in value] if isinstance(value, list) else factor * value
        for name, value in weights.model_dump().items()
    }
    groups = {name: value for name, value in others.model_dump().items() if name in GROUPS and value is not None}
    return parse_config(scaled | groups, Weights, "joined weights")


def _files(templates: Templates, directory: Path) -> list[str]:
    """Paths, relative to the model directory, of all files of sparse features."""
    maps = [path for level in templates.levels for path in (level.source, level.target) if path]
    weights = sorted(f"sparse/{path.name}" for path in (directory / "sparse").glob("*"))
    return ["templates.yaml", *maps, *weights]


class SparseModel(NamedTuple):
    """A model with sparse features, and its directory."""

    directory: Path
    opened: Model

    @property
    def given_templates(self) -> GivenTemplates:
        """The templates of the model. Raises ValueError if it has none."""
        if self.opened.templates is None:
            raise ValueError(f"{self.directory}: no templates")
        return GivenTemplates(self.opened.templates, self.directory, str(self.directory))


def write_union(one: SparseModel, other: SparseModel, output: Path) -> None:
    """Write templates, maps of word classes, sparse weights and names of features of both models to `output`.

    Raises ConfigError if both have features of the same group, or if they need levels that differ.
    """
    shared = np.flatnonzero(one.opened.tables.sparse.active & other.opened.tables.sparse.active)
    if shared.size:
        names = ", ".join(GROUPS[i] for i in shared)
        mend = "expected other groups, or a training that begins with the model of the other"
        raise ConfigError(f"{one.directory}, {other.directory}: both have features of {names}; {mend}")
    save_with_classes(union_of(one.given_templates, other.given_templates), output)
    weights = with_values(one.opened.tables.sparse.weights, *used(other.opened.tables.sparse.weights))
    save_sparse_weights(weights, output / "sparse")
    save_feature_names(output, open_feature_names(one.directory) | open_feature_names(other.directory))
