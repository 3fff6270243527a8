"""A model with the sparse features that a trainer learns, its own and those of given templates; writes such a model."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from phrasebeam.base.config import Section
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_directory
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.sparse_files import open_feature_names, open_sparse, save_feature_names
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.decoder.sparse.templates import GROUPS, Templates
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.shared_file import share
from phrasebeam.training.joining.template_union import GivenTemplates, save_with_classes, union_of
from phrasebeam.training.online.feature_names import heaviest, names_of
from phrasebeam.training.online.update_log import latest_first

FEATURES = "features"  # in the work directory: templates.yaml, the maps of word classes, and sparse/ of the model
SPARSE = "sparse"  # the folder of weights of sparse features, and of features of single phrase pairs
SPARSE_FILES = {f"{SPARSE}/{name}" for name in ("keys.npy", "values.npy", "names")}


def with_features(model: Model, directory: Path, work: Path, settings: Section) -> Model:
    """The model in `directory` with its own sparse features and those of the settings, and scales for all groups.

    `settings` have `templates`, which may be None. Learning begins with the weights of the features that the model has.
    The templates of both, with their maps of word classes and the model's weights, are written to `work`, unless they
    are there, or the model has all of them. Raises FormatError if `work` has other templates, and ConfigError if the
    keys of features of the model would change; with the default templates, the model then has only its own features.
    """
    templates = _with_own(model, directory, settings)
    features = directory
    if templates is not None:
        features = work / FEATURES
        if not (features / "templates.yaml").exists():
            with atomic_directory(features) as beside:
                save_with_classes(templates, beside)
                for path in sorted((directory / SPARSE).rglob("*")) if model.templates else ():
                    if path.is_file():
                        share(path, beside / path.relative_to(directory))
    opened, levels, sparse = open_sparse(features, model.source, model.target, model.tables.phrases, model.word_counts)
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


def _with_own(model: Model, directory: Path, settings: Section) -> Templates | None:
    """The union of the templates of the model and of the settings; None if only those of the model are learned."""
    templates: Templates | None = dict(settings)["templates"]
    if templates is None or model.templates is None:
        return templates
    own = GivenTemplates(model.templates, directory, str(directory))
    try:
        union = union_of(own, GivenTemplates(templates, Path(), "settings"))
    except ConfigError as error:
        if templates == type(settings).model_fields["templates"].default:
            log.info(f"{directory}: levels or word edges are not the default ones; only its own features are learned")
            return None
        raise ConfigError(f"{error}; to learn only the model's own features, give templates: null") from error
    return None if _without_maps(union) == _without_maps(model.templates) else union


def _without_maps(templates: Templates) -> dict[str, Any]:
    """The settings of `templates`, except the file names of word class maps."""
    maps = {"levels": {"__all__": {"source", "target"}}}
    return templates.model_dump(include=set(Templates.model_fields), exclude=maps)


class LearnedFeatures:
    """Data from which the names of learned features are computed."""

    def __init__(self, logs: Iterable[Path], sentences: Mapping[int, Input], n: int):
        """`logs`: update logs (see update_log.py) of `sentences`; `n`: number of features of a group that get names."""
        self.logs, self.sentences, self.n = [*logs], sentences, n

    def names(self, best: BestWeights, model: Model, before: Mapping[int, str]) -> dict[int, str]:
        """Names by key of the features of each group with the largest weights, and those in `before` with weights."""
        keys = heaviest(best.keys, best.values, best.group, self.n)
        records = chain.from_iterable(latest_first(path) for path in self.logs if path.exists())
        with stage("naming features"):
            known = np.array([*before], np.uint64)
            kept = {key: before[key] for key in known[np.isin(known, best.keys)].tolist()}
            return kept | names_of(keys[~np.isin(keys, known)], records, self.sentences, model)


def write_learned(
    derived: DerivedModel,
    decoder: Decoder,
    best: BestWeights,
    learned: LearnedFeatures,
    making: Making,
    own: Iterable[str] = (),
) -> None:
    """Write the model with the best weights; `decoder` has its features; `own`: files that were already written."""
    opened, output, features, written = decoder.model, derived.output, derived.work / FEATURES, {*own}
    if features.exists():
        for path in sorted(path for path in features.rglob("*") if path.is_file()):
            name = path.relative_to(features).as_posix()
            share(path, output / name)
            written.add(name)
    if opened.templates is not None:
        save_sparse_weights(best.table(), output / SPARSE)
        before = open_feature_names(features if features.exists() else derived.model)
        save_feature_names(output, learned.names(best, opened, before))
        written |= SPARSE_FILES
    without = {"templates.yaml", SPARSE} if features.exists() else ()
    derived.write(Weights.learned(decoder.features.by_group(best.dense)), making, written, without)


def about_training(trainer: str, config: Section, derived: DerivedModel) -> dict[str, object]:
    """The settings that model.yaml gets for a `trainer` with the settings `config`."""
    settings = config.model_dump(mode="json", exclude={"threads", "workers", "memory"})
    return {trainer: settings, "trained_from": derived.opened.description.signature}
