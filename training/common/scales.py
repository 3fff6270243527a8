"""Chooses the scales of groups of learned features among some factors, by the score of the development set.

If the length of translations is to stay the same, a word penalty is found for each factor: learned features change the
length of translations, and fixed dense weights cannot compensate for that.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.base.progress import log
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.training.common.development_set import DevelopmentScorer

TRANSLATIONS = 5  # the development set is translated at most so often to find a word penalty
CLOSE = 0.001  # a length is close enough if it differs by no more than this share of the words
# First change of the penalty for each unit of ln(words / words wanted), in multiples of the largest absolute weight;
# Multi30k and TED need 5 to 10
FIRST_STEP = 10.0
STEEPER = 10.0  # from one step to the next, the slope changes at most by this factor, or by its inverse


class Tried(NamedTuple):
    """Weights, and the score and the length of the development set's translation with these weights."""

    weights: Weights
    score: float  # 0 to 100, error rates negative
    n_words: int


def with_best_scales(
    development: DevelopmentScorer,
    weights: Weights,
    sparse: SparseWeights,
    learned: Sequence[str],
    factors: Sequence[float],
    n_words: int | None = None,
) -> Weights:
    """The weights, with the scales of the `learned` groups multiplied by the one of `factors` with the best score.

    With `n_words`, each factor gets the word penalty that brings the translation closest to that many words.
    """
    groups = {name: getattr(weights, name) for name in learned if getattr(weights, name) is not None}
    if not groups or not sparse.n_used[0] or (list(factors) == [1.0] and n_words is None):
        return weights
    scaled = [weights.model_copy(update={name: factor * scale for name, scale in groups.items()}) for factor in factors]
    if n_words is None:
        tried = [_tried(development, one, sparse) for one in scaled]
    else:
        tried = [with_length(development, one, sparse, n_words) for one in scaled]
    listed = ", ".join(f"{factor:g}: {abs(one.score):.2f}" for factor, one in zip(factors, tried, strict=True))
    log.info(f"scales of sparse features: {listed}")
    return tried[int(np.argmax([one.score for one in tried]))].weights


def with_length(development: DevelopmentScorer, weights: Weights, sparse: SparseWeights, n_words: int) -> Tried:
    """Try a few word penalties; return the weights whose translation is closest to `n_words` words.

    The secant method finds the penalties, from the logarithm of the number of words, which falls as the weight grows.
    """
    tried = [_tried(development, weights, sparse)]
    decoder = development.decoder
    largest = float(np.abs(weight_vector(decoder.dense_weights, decoder.features)).max())
    slope = -1 / (FIRST_STEP * largest)  # d ln(words) / d weight, assumed until two points are known
    while len(tried) < TRANSLATIONS and abs(tried[-1].n_words - n_words) > CLOSE * n_words:
        last = tried[-1]
        penalty = last.weights.word_penalty - _log_ratio(last.n_words, n_words) / slope
        tried.append(_tried(development, last.weights.model_copy(update={"word_penalty": penalty}), sparse))
        change = _log_ratio(tried[-1].n_words, last.n_words)
        if change:
            slope = min(slope / STEEPER, max(STEEPER * slope, change / (penalty - last.weights.word_penalty)))
    return min(tried, key=lambda one: abs(one.n_words - n_words))


def _tried(development: DevelopmentScorer, weights: Weights, sparse: SparseWeights) -> Tried:
    found = development.score(weights, sparse)
    return Tried(weights, found.score, found.n_words)


def _log_ratio(n_words: int, others: int) -> float:
    return math.log(max(n_words, 1) / max(others, 1))
