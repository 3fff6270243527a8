"""The sparse features of two models in one: those of groups that only one of them has."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.sparse_files import open_feature_names, save_feature_names
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights, used, with_values
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.joining.template_union import GivenTemplates, save_with_classes, union_of


class SparseModel(NamedTuple):
    """A model with sparse features, and its directory."""

    directory: Path
    opened: Model

    @property
    def given_templates(self) -> GivenTemplates:
        """Its templates. Raises ValueError where it has none."""
        if self.opened.templates is None:
            raise ValueError(f"{self.directory}: no templates")
        return GivenTemplates(self.opened.templates, self.directory, str(self.directory))


def write_union(one: SparseModel, other: SparseModel, output: Path) -> None:
    """Write templates, their maps of word classes, weights and names of both models to `output`.

    Raises ConfigError where both have features of the same group, or levels that differ and are needed.
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
