"""Objectives of online learning: the direction in which an example of the training data moves the weights."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.training.online.per_feature import FeatureDirection
from phrasebeam.training.online.update_log import Record


class Outcome(NamedTuple):
    """The result of decoding one example."""

    direction: FeatureDirection | None  # None: the example changes nothing
    counts: Mapping[str, float]  # added to the fields of that name of the iteration
    records: Sequence[Record] = ()  # derivations from which features are named
    statistics: Sequence[float] = ()  # of a metric, of the best translation, see ExampleObjective.score


Snapshot = TypeVar("Snapshot")


class ExampleObjective(Protocol[Snapshot]):
    """The gradient of a loss on single examples; threads share an instance."""

    @property
    def features(self) -> FeatureLayout:
        """The layout of dense features."""

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> Snapshot:
        """Weights as `outcome` uses them; the arrays of `sparse` do not change while it does."""

    def outcome(self, example: int, snapshot: Snapshot, epoch: int) -> Outcome:
        """Decode the example of that number under the weights of the snapshot; what is drawn depends on the epoch."""

    def score(self, statistics: Sequence[float]) -> float | None:
        """The score (0 to 100, error rates negative) of examples whose statistics add up to these; None if unknown."""

    @property
    def examples(self) -> Any:
        """The examples by number, a sequence or a mapping."""

    def with_examples(self, examples: Mapping[int, Any]) -> Self:
        """The same objective on these alone, to be sent elsewhere."""

    def length(self, example: int) -> int:
        """Source words of the example: long ones are begun first, so that no thread waits."""
