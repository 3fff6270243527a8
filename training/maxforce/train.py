"""The perceptron as an online training: its direction on an example, its learning rates, its scores (Yu et al. 2013).

The updates of a mini-batch are computed under the same weights, and their sum is divided by the size of the mini-batch
(Zhao & Huang 2013). The result is the average of the weights after each mini-batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from phrasebeam.decoder.features.dense import FeatureLayout, weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.common.curve import Panel, score_panels
from phrasebeam.training.common.development_set import DevelopmentScore, DevelopmentScorer
from phrasebeam.training.common.scales import with_best_scales
from phrasebeam.training.maxforce.comparison import Comparison, Difference, TrainingExample
from phrasebeam.training.maxforce.config import MaxforceConfig, is_learned
from phrasebeam.training.maxforce.state import MaxforceIteration
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.objective import Outcome
from phrasebeam.training.online.per_feature import FeatureDirection, PerFeature, per_feature
from phrasebeam.training.online.shard_pass import BatchSettings
from phrasebeam.training.online.shards import whole
from phrasebeam.training.online.training import OnlineTraining, Plan
from phrasebeam.training.online.update_log import Record
from phrasebeam.training.online.update_rules import RULES, new_rule

INVALID = Panel("share of invalid updates", {"invalid_ratio": "training data"})  # Figure 9


@dataclass(frozen=True)
class Violation:
    """The objective of the violation-fixing perceptron: a y-good derivation above a y-bad one, see Comparison."""

    comparison: Comparison
    examples: Sequence[TrainingExample] | Mapping[int, TrainingExample]

    @property
    def features(self) -> FeatureLayout:
        """The layout of dense features."""
        return self.comparison.decoder.features

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> WeightSnapshot:
        """Weights for both decoders."""
        return self.comparison.snapshot(weights, sparse)

    def with_examples(self, examples: Mapping[int, TrainingExample]) -> "Violation":
        """The same objective on these examples only, which are given by number."""
        return replace(self, examples=examples)

    def length(self, example: int) -> int:
        """Number of source words of the example."""
        return len(self.examples[example].given.words)

    def score(self, statistics: Sequence[float]) -> None:
        """Return None: beams do not give the best translations of whole sentences, which could be scored."""

    def outcome(self, example: int, snapshot: WeightSnapshot, epoch: int) -> Outcome:
        """The direction of the example's update, and the two derivations compared."""
        given = self.examples[example]
        difference = self.comparison.difference(given, snapshot)
        counts = _counts(difference)
        if difference.bin is None or difference.better is None or difference.worse is None:
            return Outcome(None, counts)
        parts = difference.dense, difference.keys, difference.values, difference.groups
        direction = FeatureDirection(*parts, max(-difference.lead, 0.0))
        return Outcome(direction, counts, [Record(given.number, difference.better, difference.worse)])


def _counts(difference: Difference) -> dict[str, float]:
    has_update = difference.bin is not None
    return {
        "updates": int(has_update),
        "invalid": int(has_update and difference.lead > 0),
        "solved": int(difference.is_solved),
        "too_large": int(difference.is_too_large),
        "violation": max(-difference.lead, 0.0) if has_update else 0.0,
        "place": (difference.bin or 0) / difference.n_bins if has_update else 0.0,
    }


def perceptron_training(
    objective: Violation, development: DevelopmentScorer, config: MaxforceConfig, directory: Path, seed: int
) -> OnlineTraining[MaxforceIteration]:
    """The training with one `seed`, which determines the order of sentences; its work is in `directory`."""
    learned = [name for name in GROUPS if is_learned(name, config)]
    rates = rates_of(objective.features, config)
    plan = Plan(
        whole(len(objective.examples), seed),
        BatchSettings(config.batch, 0, config.checkpoint, "steps"),
        config.iterations,
        config.patience,
        threads=config.threads,
        panels=[*score_panels(config.metric, {"score": "development set"}), INVALID],
    )

    model = objective.comparison.decoder.model
    own = model.weights.model_dump(include={*config.nuisance})

    @cache
    def n_words() -> int | None:
        return development.score(model.weights, model.tables.sparse.weights).n_words if config.keep_length else None

    def score(name: str, weights: Weights, sparse: SparseWeights) -> tuple[DevelopmentScore, np.ndarray]:
        weights = weights.model_copy(update=own)
        scaled = with_best_scales(development, weights, sparse, learned, config.scales, n_words())
        return development.score_tuned(name, scaled, sparse)

    return OnlineTraining(objective, new_rule(config.rule, rates), plan, score, directory, MaxforceIteration)


def start_weights(objective: Violation) -> LearnedWeights:
    """The weights of the model."""
    decoder = objective.comparison.decoder
    return LearnedWeights(weight_vector(decoder.dense_weights, decoder.features), decoder.tables.sparse.weights)


def rates_of(layout: FeatureLayout, config: MaxforceConfig) -> PerFeature:
    """The learning rates of all features for the rule; 0 for features that are fixed or not learned."""
    share = config.batch if RULES[config.rule].normalizes else 1  # other rules average over a mini-batch themselves

    def rate(name: str) -> float:
        if name in GROUPS:
            return config.rates.of_group(name) / share if is_learned(name, config) else 0.0
        return 0.0 if name in config.fixed else float(getattr(config.rates, name)) / share

    return per_feature(layout, rate)
