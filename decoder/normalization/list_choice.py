"""The first choice: a log-linear model over the candidates of a word, and the candidates that it keeps."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.normalization.candidates import CandidateLists

MOST_KEPT, LEAST_LN = 8, -7.0  # of kept candidates: number, and ln probability of all but the best


class KeptCandidates(NamedTuple):
    """The likeliest candidates of W words, K in all; those of word i are first[i]:first[i + 1], the likeliest first."""

    first: np.ndarray  # int64[W + 1]
    candidate: np.ndarray  # int64[K], number in the lists
    ln_prob: np.ndarray  # float64[K]


def ln_posteriors(lists: CandidateLists, weights: Mapping[str, float]) -> np.ndarray:
    """float64[C], ln of the probability of each candidate; the probabilities of a word's candidates add up to 1."""
    vector = np.array([weights.get(name, 0.0) for name in lists.names])
    return normalized(lists.features @ vector, lists.first)


def normalized(scores: np.ndarray, first: np.ndarray) -> np.ndarray:
    """float64[C], ln of the softmax of scores within each word; `first`: int64[W + 1]; each word has candidates."""
    if not scores.size:
        return scores
    owner = np.repeat(np.arange(first.size - 1), np.diff(first))
    largest = np.maximum.reduceat(scores, first[:-1])
    totals = np.add.reduceat(np.exp(scores - largest[owner]), first[:-1])
    return scores - (largest + np.log(totals))[owner]


def likeliest(lists: CandidateLists, ln_prob: np.ndarray) -> KeptCandidates:
    """The candidates that the second choice considers; of equal candidates, those that come first in the lists."""
    owner = lists.owner
    order = np.lexsort((-ln_prob, owner))
    rank = np.arange(order.size) - lists.first[owner]  # owner[order] is owner
    kept = order[(rank == 0) | ((rank < MOST_KEPT) & (ln_prob[order] >= LEAST_LN))]
    sizes = np.bincount(owner[kept], minlength=len(lists.words))
    return KeptCandidates(np.append(np.int64(0), np.cumsum(sizes)), kept, ln_prob[kept])
