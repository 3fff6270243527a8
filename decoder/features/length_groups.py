"""Group features of phrase lengths (Tan et al. 2013, section 4.1).

For each score of the phrase table and each range of lengths a..b within 1..M, a feature has that score as its value
for the pairs whose two sides are both a to b words long, and 0 for others. The paper speaks of ranges for each side,
but of 55 groups a score for M = 10, which is the number of ranges; so we take one range for both sides.
"""

import math

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.kernels.jit import inner_kernel, kernel


@kernel
def range_index(a, b, longest):
    """Index of the range a..b among the sorted ranges within 1..longest; all are int64."""
    return (a - 1) * longest - (a - 1) * (a - 2) // 2 + b - a


@inner_kernel
def add_length_groups(ln_scores, shorter, longer, longest, values):
    """Add the features of a pair with `ln_scores` (float32[K]) to `values` (float64[K * ranges within 1..longest]).

    `shorter` and `longer` (int64): words of its shorter and of its longer side.
    """
    n_ranges = longest * (longest + 1) // 2
    for column in range(ln_scores.size):
        for a in range(1, shorter + 1):
            for b in range(longer, longest + 1):
                values[column * n_ranges + range_index(a, b, longest)] += ln_scores[column]


def n_length_groups(longest: int, n_translation: int) -> int:
    """The number of features for phrases of up to `longest` words and `n_translation` scores of the phrase table."""
    return n_translation * longest * (longest + 1) // 2


def longest_grouped(n_weights: int, n_translation: int) -> int:
    """The longest grouped phrase M, from the number of weights. Raises ModelError where no M has so many."""
    n_ranges = n_weights // n_translation
    longest = (math.isqrt(8 * n_ranges + 1) - 1) // 2
    if n_length_groups(longest, n_translation) != n_weights:
        message = f"{n_translation} scores times M (M + 1) / 2 for phrases up to M words, such as {28 * n_translation}"
        raise ModelError(f"weights: length_groups has {n_weights} weights, expected {message}")
    return longest


def weights_by_length(weights: np.ndarray, n_translation: int) -> np.ndarray:
    """float64[K, M + 1, M + 1]: at [column, shorter, longer] the sum of `weights` of all groups of such pairs."""
    longest = longest_grouped(weights.size, n_translation)
    summed = np.zeros((n_translation, longest + 1, longest + 1))
    grouped = weights.reshape(n_translation, longest * (longest + 1) // 2)
    for a in range(1, longest + 1):
        for b in range(a, longest + 1):
            summed[:, a:, : b + 1] += grouped[:, range_index(a, b, longest)][:, None, None]
    return summed
