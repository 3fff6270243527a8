"""The scales of groups of learned features, chosen among factors by the score of the development set.

Where the length is kept, each factor has its own word penalty: what is learned changes how long translations are, for
which dense weights that stay as they are cannot make up.
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

TRANSLATIONS = 5  # of the development set, at most, to find a word penalty
CLOSE = 0.001  # a length that differs by no more than this share of the words is right
# Change of the penalty by ln(words / words wanted), in multiples of the largest weight; Multi30k and TED need 5 to 10
FIRST_STEP = 10.0
STEEPER = 10.0  # each slope is at most so many times as steep as the one before, and at most so many times less steep


class Tried(NamedTuple):
    """Weights, and the score and the length of the development set's translations with them."""

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
    """The weights with the scales of the `learned` groups times that one of the `factors` whose score is best.

    With `n_words`, each factor has the word penalty with which translations come nearest to that many words.
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
    """The weights with that word penalty, of a few tried, with which translations are nearest to `n_words` words.

    The penalties are those of the secant method on the logarithm of the words, which falls as the weight grows.
    """
    tried = [_tried(development, weights, sparse)]
    decoder = development.decoder
    largest = float(np.abs(weight_vector(decoder.dense_weights, decoder.features)).max())
    slope = -1 / (FIRST_STEP * largest)  # of the logarithm of the words, by weight, until two are known
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
