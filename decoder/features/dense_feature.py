"""The declaration of a dense feature: its name, description, default weight and learning rate."""

from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

FeatureKind = Literal["number", "list", "list or number"]
LARGEST_WEIGHT = 1e30  # its products with values of features, and their sums, are finite
Finite = Annotated[float, Field(ge=-LARGEST_WEIGHT, le=LARGEST_WEIGHT, allow_inf_nan=False)]


class DenseFeature(NamedTuple):
    """A dense feature, or a list of features of one kind."""

    name: str  # as in weights.yaml
    description: str  # one line for users
    kind: FeatureKind = "number"  # of its weights; "list or number": a single number stands for a list of one
    weight: float | tuple[float, ...] | None = None  # default; None: only models that give it a weight have the feature
    needs_counts: bool = False  # whether it needs counts of phrase pairs, which other toolkits' tables may lack
    rate: float = 0.0  # default learning rate in train-maxforce
    rate_name: str = ""  # name of a learning rate shared by several features; "": the feature's own name


def names_of(features: Iterable[DenseFeature]) -> tuple[str, ...]:
    """The names of `features`, in their order."""
    return tuple(feature.name for feature in features)
