"""Pairs of the hypotheses of a list for ranking: multipartite (Simianer et al. 2012), sampled (Hopkins & May 2011)."""

from typing import NamedTuple

import numpy as np


class Pairs(NamedTuple):
    """P pairs of hypotheses of the same sentence."""

    better: np.ndarray  # int64[P], hypotheses with the higher sentence score, as rows of the list
    worse: np.ndarray  # int64[P], those with the lower one


def multipartite_pairs(gains: np.ndarray, share: float = 0.1) -> Pairs:
    """All pairs of hypotheses of different levels, by their sentence scores `gains` (float64[K]); section 5.1 there.

    There are three levels: the best and the worst `share` of the hypotheses, rounded, at least one; and the middle. Of
    hypotheses with equal gains, the first is better. Order of the pairs: each of the best with the middle, then with
    the worst; then each of the middle with the worst. Pairs with equal gains are left out.
    """
    order = np.argsort(-gains, kind="stable")
    size = min(max(1, round(share * gains.size)), gains.size // 2)
    end = gains.size - size
    high, middle, low = order[:size], order[size:end], order[end:]
    better = np.concatenate([np.repeat(high, end), np.repeat(middle, size)])
    worse = np.concatenate([np.tile(order[size:], size), np.tile(low, middle.size)])
    differs = gains[better] > gains[worse]
    return Pairs(better[differs], worse[differs])


def sampled_pairs(gains: np.ndarray, rng: np.random.Generator, samples: int, kept: int, threshold: float) -> Pairs:
    """Draw `samples` pairs from a list, and keep the `kept` ones that differ most in `gains` (float64[K], K > 0).

    Only pairs whose difference is above the `threshold` are kept; a pair may be drawn more than once.
    """
    left, right = rng.integers(gains.size, size=(2, samples))
    difference = gains[left] - gains[right]
    above = np.flatnonzero(np.abs(difference) > threshold)
    chosen = above[np.argsort(-np.abs(difference[above]), kind="stable")[:kept]]
    is_better = difference[chosen] > 0
    return Pairs(
        np.where(is_better, left[chosen], right[chosen]),
        np.where(is_better, right[chosen], left[chosen]),
    )
