"""Features that tune can add to a model, and the weights that they begin with."""

from typing import Any

from pydantic import Field

from phrasebeam.base.config import Section, section_of
from phrasebeam.decoder.features.pair import n_length_groups
from phrasebeam.decoder.features.registry import ADDED_BY_TUNE
from phrasebeam.decoder.features.weights import Weights


class _LengthGroups(Section):
    length_groups: int | None = Field(None, ge=1, le=20, description="longest phrase in group features")


_Features: Any = section_of("_Features", {feature.name: (bool, False) for feature in ADDED_BY_TUNE}, _LengthGroups)


class AddedFeatures(_Features):
    """Features that the model has not and that begin with weight 0."""

    def added_to(self, weights: Weights) -> Weights:
        """`weights` and those of the features that are added, where these have none."""
        added: dict[str, float | list[float]] = {f.name: 0.0 for f in ADDED_BY_TUNE if getattr(self, f.name)}
        if self.length_groups is not None:
            added["length_groups"] = [0.0] * n_length_groups(self.length_groups, len(weights.translation))
        return weights.model_copy(update={name: v for name, v in added.items() if getattr(weights, name) is None})
