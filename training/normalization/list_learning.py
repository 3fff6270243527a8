"""Learns the weights of the first choice, which maximize the conditional likelihood of right forms of held-out words.

Features are scaled to a standard deviation of 1. The squares of the scaled weights are penalized. L-BFGS finds the
weights.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.candidates import CandidateLists
from phrasebeam.decoder.normalization.list_choice import normalized
from phrasebeam.training.tuning.methods.lbfgs import minimize

STEPS, TOLERANCE = 200, 1e-4  # of L-BFGS
LEAST_DEVIATION = 1e-6  # features with a smaller standard deviation are not learned


class GoldPairs(NamedTuple):
    """P pairs of a word in candidate lists and the candidate that is its right form."""

    word: np.ndarray  # int64[P], number in the lists
    candidate: np.ndarray  # int64[P], number in the lists
    occurrences: np.ndarray  # float64[P], number of occurrences of the pair in the text


def learn_weights(lists: CandidateLists, pairs: GoldPairs, penalty: float) -> dict[str, float]:
    """Learn the weight of each feature; 0 for features that are the same in all candidates."""
    deviation = lists.features.std(axis=0)
    is_learned = deviation > LEAST_DEVIATION
    learned = lists.features[:, is_learned]
    scaled = (learned - learned.mean(axis=0)) / deviation[is_learned]
    found, _ = minimize(_Likelihood(scaled, lists.first, pairs, penalty), np.zeros(scaled.shape[1]), STEPS, TOLERANCE)
    weights = np.zeros(len(lists.names))
    weights[is_learned] = found / deviation[is_learned]
    return dict(zip(lists.names, weights.tolist()))


@dataclass(frozen=True)
class _Likelihood:
    """The negative ln likelihood of all right forms plus the penalty, and its gradient, as a function of weights."""

    features: np.ndarray  # float64[C, F]
    first: np.ndarray  # int64[W + 1]
    pairs: GoldPairs
    penalty: float

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        word, right, count = self.pairs.word, self.pairs.candidate, self.pairs.occurrences
        ln_prob = normalized(self.features @ weights, self.first)
        per_word = np.bincount(word, count, self.first.size - 1)
        expected = np.exp(ln_prob) * np.repeat(per_word, np.diff(self.first))
        gradient = expected @ self.features - count @ self.features[right] + self.penalty * weights
        value = -float(count @ ln_prob[right]) + 0.5 * self.penalty * float(weights @ weights)
        return value, gradient
