"""The sparse features of two models in one: those of groups that only one of them has."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.model.model import Model
from phrasebeam.decoder.sparse.sparse_files import open_feature_names, save_feature_names, save_templates
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights, used, with_values
from phrasebeam.decoder.sparse.template_config import SWITCHES, Templates
from phrasebeam.decoder.sparse.templates import GROUPS, SPARSE_GROUPS
from phrasebeam.training.common.shared_file import share


class SparseModel(NamedTuple):
    """A model with sparse features, and its directory."""

    directory: Path
    opened: Model

    @property
    def templates(self) -> Templates:
        """Its templates. Raises ValueError where it has none."""
        if self.opened.templates is None:
            raise ValueError(f"{self.directory}: no templates")
        return self.opened.templates

    @property
    def needs_levels(self) -> bool:
        """Whether any of its features depends on levels."""
        groups = zip(SPARSE_GROUPS, self.opened.tables.sparse.active)
        return any(group.is_of_levels and is_active for group, is_active in groups)


def write_union(one: SparseModel, other: SparseModel, output: Path) -> None:
    """Write templates, their maps of word classes, weights and names of both models to `output`.

    Raises ConfigError where both have features of the same group, or levels that differ and are needed.
    """
    shared = np.flatnonzero(one.opened.tables.sparse.active & other.opened.tables.sparse.active)
    if shared.size:
        names = ", ".join(GROUPS[i] for i in shared)
        mend = "expected other groups, or a training that begins with the model of the other"
        raise ConfigError(f"{one.directory}, {other.directory}: both have features of {names}; {mend}")
    leveled = one if one.needs_levels else other
    if one.needs_levels and other.needs_levels and one.templates.levels != other.templates.levels:
        raise ConfigError(f"{one.directory}, {other.directory}: levels of templates differ; expected the same")
    update = {name: getattr(one.templates, name) or getattr(other.templates, name) for name in SWITCHES}
    update |= {"levels": leveled.templates.levels, "word_edges": one.templates.word_edges or other.templates.word_edges}
    update["word_lists"] = (one if any(words for _, words in one.templates.word_lists) else other).templates.word_lists
    save_templates(output, one.templates.model_copy(update=update))
    for level in leveled.templates.levels:
        for name in filter(None, (level.source, level.target)):
            share(leveled.directory / name, output / name)
    weights = with_values(one.opened.tables.sparse.weights, *used(other.opened.tables.sparse.weights))
    save_sparse_weights(weights, output / "sparse")
    save_feature_names(output, open_feature_names(one.directory) | open_feature_names(other.directory))
