"""What is declared of a dense feature, once: see registry.py."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

FeatureKind = Literal["number", "list", "list or number"]


class DenseFeature(NamedTuple):
    """A dense feature, or a list of features of one kind."""

    name: str  # as in weights.yaml
    description: str  # one line for users
    kind: FeatureKind = "number"  # of its weights; "list or number": a number stands for a list of one
    weight: float | tuple[float, ...] | None = None  # default; None: a feature of models that give it a weight alone
    needs_counts: bool = False  # of phrase pairs, which tables of other toolkits may lack
    rate: float = 0.0  # default learning rate in train-maxforce
    rate_name: str = ""  # of features that share a learning rate; "": its own name


def names_of(features: Iterable[DenseFeature]) -> tuple[str, ...]:
    """The names of `features`, in their order."""
    return tuple(feature.name for feature in features)
