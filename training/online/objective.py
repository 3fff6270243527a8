"""Objectives of online learning: they compute the direction in which a training example moves the weights."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.training.online.per_feature import FeatureDirection
from phrasebeam.training.online.update_log import Record


class Outcome(NamedTuple):
    """The result of decoding one example."""

    direction: FeatureDirection | None  # None: the example does not change the weights
    counts: Mapping[str, float]  # added to the fields of the iteration with these names
    records: Sequence[Record] = ()  # derivations from which names of features are computed
    statistics: Sequence[float] = ()  # statistics of a metric for the best translation, see ExampleObjective.score


Snapshot = TypeVar("Snapshot")


class ExampleObjective(Protocol[Snapshot]):
    """The gradient of a loss on single examples; threads share an instance."""

    @property
    def features(self) -> FeatureLayout:
        """The layout of dense features."""

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> Snapshot:
        """The weights in the form for `outcome`; the arrays of `sparse` do not change while the snapshot is used."""

    def outcome(self, example: int, snapshot: Snapshot, epoch: int) -> Outcome:
        """Decode example number `example` under the weights of the snapshot; random numbers depend on the epoch."""

    def score(self, statistics: Sequence[float]) -> float | None:
        """The score (0 to 100, error rates negative) of examples with this sum of statistics; None if unknown."""

    @property
    def examples(self) -> Any:
        """The examples by number, a sequence or a mapping."""

    def with_examples(self, examples: Mapping[int, Any]) -> Self:
        """The same objective with only these examples, to be sent to a worker."""

    def length(self, example: int) -> int:
        """Number of source words of the example; long examples are begun first, so that no thread waits."""
