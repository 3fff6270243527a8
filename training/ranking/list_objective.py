"""Ranking as an objective of online learning: decodes an example's n-best list, and learns from pairs of hypotheses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import FeatureLayout, weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.list_features import HypothesisList, ListFeatures, hypothesis_list, scores_of
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.plugins.declarations import plugins
from phrasebeam.training.common.development_set import points
from phrasebeam.training.common.settings import ScoringSettings
from phrasebeam.training.metrics.metric import Metric, make_metric, sentence_gains
from phrasebeam.training.metrics.sentence_bleu import SentenceBleu
from phrasebeam.training.online.objective import Outcome
from phrasebeam.training.online.per_feature import FeatureDirection, PerFeature
from phrasebeam.training.online.update_log import Record
from phrasebeam.training.ranking.expected_gain import ListLoss
from phrasebeam.training.ranking.pair_losses import (
    Ranking,
    decoded_perceptron,
    direction,
    logistic_ranking,
    ranking_by,
    sequential_perceptron,
)
from phrasebeam.training.ranking.pairs import multipartite_pairs, sampled_pairs


class ListExample(NamedTuple):
    """A sentence to be translated, and its references."""

    number: int  # line of the data, from 0
    given: Input
    references: Sequence[str]


@dataclass(frozen=True)
class MultipartiteRanking:
    """Simianer et al. (2012): all pairs of hypotheses of different levels, with the perceptron or a plugin's loss."""

    rates: PerFeature
    margin: float
    share: float  # share of the list in the best level, and in the worst level
    pairs: str  # "sequential": each pair sees the weights after the pair before it; "decoded"; or a plugin's loss

    def ranking(
        self, features: ListFeatures, scores: np.ndarray, gains: np.ndarray, rng: np.random.Generator
    ) -> Ranking:
        """The ranking by all pairs of different levels; `rng` is not used."""
        pairs = multipartite_pairs(gains, self.share)
        if self.pairs == "sequential":
            return sequential_perceptron(features, scores, pairs, self.rates, self.margin)
        if self.pairs == "decoded":
            return decoded_perceptron(scores, pairs, self.margin)
        return ranking_by(plugins().pair_losses[self.pairs], scores, pairs, self.margin)


@dataclass(frozen=True)
class SampledLogistic:
    """Green et al. (2013): the pairs of PRO (Hopkins & May 2011), and the logistic loss."""

    samples: int
    kept: int
    threshold: float

    def ranking(
        self, features: ListFeatures, scores: np.ndarray, gains: np.ndarray, rng: np.random.Generator
    ) -> Ranking:
        """The ranking by pairs that `rng` draws."""
        return logistic_ranking(scores, sampled_pairs(gains, rng, self.samples, self.kept, self.threshold))


class ListSettings(NamedTuple):
    """Settings of decoding and scoring lists."""

    n: int  # number of hypotheses
    distinct: bool  # whether all have different texts
    sentence_bleu: SentenceBleu
    scoring: ScoringSettings
    seed: int


class ListSnapshot(NamedTuple):
    """The weights at one time, for the search and for scoring lists."""

    search: WeightSnapshot
    dense: np.ndarray  # float64[F]
    sparse: SparseWeights


@dataclass(frozen=True)
class ListObjective:
    """The objective on the n-best lists of examples; threads may share an instance."""

    decoder: Decoder
    examples: Sequence[ListExample] | Mapping[int, ListExample]
    loss: ListLoss
    settings: ListSettings

    @property
    def features(self) -> FeatureLayout:
        """The layout of dense features."""
        return self.decoder.features

    def with_examples(self, examples: Mapping[int, ListExample]) -> "ListObjective":
        """The same objective on these examples only, which are given by number."""
        return replace(self, examples=examples)

    def length(self, example: int) -> int:
        """Number of source words of the example."""
        return len(self.examples[example].given.words)

    def snapshot(self, weights: Weights, sparse: SparseWeights) -> ListSnapshot:
        """The weights for the search, and as vectors."""
        search = self.decoder.searcher.new_snapshot(weights, sparse)
        return ListSnapshot(search, weight_vector(search.dense, search.layout), sparse)

    def score(self, statistics: Sequence[float]) -> float:
        """The score of the best translations of examples, from the sum of their statistics."""
        return points(float(self._metric([""]).score(np.array([statistics]))[0]))

    def outcome(self, example: int, snapshot: ListSnapshot, epoch: int) -> Outcome:
        """Decode the example's list, and return the direction of its loss."""
        one, settings = self.examples[example], self.settings
        with self.decoder.searcher.search(one.given, snapshot.search) as result:
            hypotheses = hypothesis_list(result, settings.n, settings.distinct)
        metric, features = self._metric(one.references), hypotheses.features
        statistics = metric.statistics(np.zeros(len(hypotheses.texts), np.int64), hypotheses.texts)
        gains = sentence_gains(metric, statistics, settings.sentence_bleu)
        scores = scores_of(features, snapshot.dense, snapshot.sparse)
        rng = np.random.default_rng([settings.seed, epoch, one.number])
        ranking = self.loss.ranking(features, scores, gains, rng)
        counts = {"updates": ranking.n_updates, "wrong": ranking.n_wrong, "loss": ranking.loss}
        best = statistics[0].tolist()
        if not ranking.n_updates:
            return Outcome(None, counts, statistics=best)
        moved: FeatureDirection = direction(features, ranking)
        return Outcome(moved, counts, [_record(one.number, hypotheses, ranking.coefficients)], best)

    def _metric(self, references: Sequence[str]) -> Metric:
        scoring = self.settings.scoring
        sets = [[reference] for reference in references]
        return make_metric(scoring.metric, sets, scoring.lowercase, scoring.reference_length)


def _record(number: int, hypotheses: HypothesisList, coefficients: np.ndarray) -> Record:
    """The derivations of the hypotheses with the largest and the smallest coefficient."""
    best, worst = int(np.argmax(coefficients)), int(np.argmin(coefficients))
    return Record(number, hypotheses.derivations.derivation(best), hypotheses.derivations.derivation(worst))
