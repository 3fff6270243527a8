"""The pairs of one source phrase, ranked as Moses does: by weighted scores plus the language model's estimate.

The estimate is what the language model makes of the target phrase without knowing what stands before it.
"""

from typing import NamedTuple

import numpy as np

from decoder.features.dense import LN10, UNKNOWN_WORD
from decoder.features.language_model import score_phrase
from decoder.frequent import Frequent, keep, new_frequent, recall
from decoder.ordering import is_worse, push, sift_down, sort_best_first
from decoder.tables import target_lm_words
from lm.jit import kernel

ZERO, ONE = np.int64(0), np.int64(1)


class Candidates(NamedTuple):
    """All pairs of one source phrase while the best are chosen, at most M."""

    score: np.ndarray  # float64[M]
    estimate: np.ndarray  # float64[M]
    bound: np.ndarray  # float64[M], what score and language model can at best amount to in any context
    heap: np.ndarray  # int64[M]
    lm_words: np.ndarray  # int32[longest target phrase]
    frequent: Frequent


def new_candidates(most: int, longest: int, table_limit: int) -> Candidates:
    """Room for `most` pairs of a source phrase, and target phrases of `longest` words."""
    return Candidates(
        np.zeros(most),
        np.zeros(most),
        np.zeros(most),
        np.zeros(most, np.int64),
        np.zeros(longest, np.int32),
        new_frequent(table_limit if table_limit < most else 0),
    )


@kernel
def choose(source, tables, weights, limit, candidates, states):
    """Rank the pairs of a source phrase into candidates.heap, best first; how many are kept.

    A pair whose scores without the language model are already too low is not shown to it: log p is never above 0.
    """
    first = tables.phrases.pair_offsets[source]
    n_pairs = tables.phrases.pair_offsets[source + 1] - first
    is_cut = 0 < limit < n_pairs
    if is_cut:
        known = recall(candidates.frequent, source, candidates)
        if known > 0:
            return known
    else:
        limit = n_pairs
    score, estimate, heap = candidates.score, candidates.estimate, candidates.heap
    size = ZERO
    for item in range(n_pairs):
        pair = first + item
        length = tables.phrases.target_offsets[pair + 1] - tables.phrases.target_offsets[pair]
        total = weights.phrase_penalty - weights.word_penalty * length
        for column in range(weights.translation.size):
            total += weights.translation[column] * tables.phrases.ln_scores[pair, column]
        score[item] = total
        if size == limit and weights.language_model >= 0 and total < estimate[heap[0]]:
            continue
        target_lm_words(tables, pair, candidates.lm_words)
        _estimate(item, length, tables.lm, weights.language_model, candidates, states)
        if size < limit:
            push(estimate, heap, size, item)
            size += 1
        elif is_worse(estimate, heap[0], item):
            heap[0] = item
            sift_down(estimate, heap, ZERO, size)
    sort_best_first(estimate, heap, size)
    if is_cut:
        keep(candidates.frequent, source, candidates, size)
    return size


@kernel
def _estimate(item, length, lm, weight, candidates, states):
    """Language model estimate and bound of a candidate whose words are in candidates.lm_words."""
    total, inner, _, _ = score_phrase(lm, candidates.lm_words, ZERO, length, ZERO, states)
    score = candidates.score[item]
    candidates.estimate[item] = score + weight * LN10 * total
    candidates.bound[item] = score + weight * LN10 * inner if weight >= 0 else np.inf


@kernel
def score_copy(lm_id, lm, weights, candidates, states):
    """Make candidate 0 the unknown word itself; 1, the number of candidates."""
    candidates.score[0] = weights.phrase_penalty - weights.word_penalty + weights.unknown_word_penalty * UNKNOWN_WORD
    candidates.lm_words[0] = lm_id
    candidates.heap[0] = 0
    _estimate(ZERO, ONE, lm, weights.language_model, candidates, states)
    return ONE
