"""Interpolated modified Kneser-Ney (Chen and Goodman 1998, section 3.2), as Heafield et al. (2013) estimate it.

Everything here sees one bucket of n-grams, all orders in context order (see lm/counting.py).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.counting import BEGIN_ID, END_ID, group_begins

FALLBACK = (0.0, 0.5, 1.0, 1.5)  # discounts where counts of counts give none
LARGEST_COUNT = 4  # of which equation 26 wants the count
LOG10_ZERO = -99.0  # log10 of a backoff of 0: what SRILM writes


class AdjustedOrder(NamedTuple):
    """The n-grams of one length in one bucket."""

    words: np.ndarray  # int32[K, n]
    counts: np.ndarray  # int64[K], adjusted counts
    suffixes: np.ndarray  # int32[K], row of the n-gram's last n - 1 words one order below; for n = 2 the word id


def adjusted_orders(words: np.ndarray, counts: np.ndarray) -> Iterator[AdjustedOrder]:
    """Adjusted counts of a bucket's n-grams, from the highest order down to bigrams.

    `words`, `counts`: distinct padded windows in context order. The adjusted count of an n-gram is the number of
    different words seen before it; for those of the highest order and those that begin with <s>, how often it occurs.
    """
    adjusted, real = counts, words[:, 1] != BEGIN_ID
    while words.shape[1] > 2:
        lower, lower_counts, extensions, suffixes = _shorten(words, counts)
        lower_real = lower[:, 1] != BEGIN_ID
        row_of_real = np.cumsum(lower_real, dtype=np.int32) - np.int32(1)
        yield AdjustedOrder(words[real], adjusted[real], row_of_real[suffixes[real]])
        words, counts, real = lower, lower_counts, lower_real
        adjusted = np.where(words[:, 0] == BEGIN_ID, counts, extensions)
    yield AdjustedOrder(words, adjusted, words[:, 1])


def _shorten(words: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distinct suffixes of n-grams without the first word: words, counts, numbers of n-grams; each n-gram's suffix."""
    context_begins = group_begins(words[:, 1:-1])
    key = np.repeat(np.arange(context_begins.size), np.diff(context_begins, append=len(words)))
    key *= np.int64(words[:, -1].max(initial=0)) + 1
    key += words[:, -1]
    order = np.argsort(key)
    begins = group_begins(key[order])
    extensions = np.diff(begins, append=key.size)
    suffixes = np.empty(key.size, np.int32)
    suffixes[order] = np.repeat(np.arange(begins.size, dtype=np.int32), extensions)
    sums = np.add.reduceat(counts[order], begins) if begins.size else counts
    return words[order[begins], 1:], sums, extensions, suffixes


def counts_of_counts(counts: np.ndarray) -> np.ndarray:
    """int64[5]: how many of `counts` are 1, 2, 3 and 4, at these indices."""
    found = np.bincount(np.minimum(counts, LARGEST_COUNT + 1), minlength=LARGEST_COUNT + 2)
    found[0] = 0
    return found[: LARGEST_COUNT + 1]


def discounts(n: np.ndarray) -> np.ndarray:
    """float64[4] taken from counts 0, 1, 2 and 3 or more (equation 26), given counts of counts `n`.

    FALLBACK where a count of counts is zero or a discount is negative or larger than its count.
    """
    if not n[1:LARGEST_COUNT].all():
        return np.array(FALLBACK)
    y = n[1] / (n[1] + 2 * n[2])
    found = np.array([0.0] + [k - (k + 1) * y * n[k + 1] / n[k] for k in range(1, LARGEST_COUNT)])
    return found if (found >= 0).all() and (found <= np.arange(LARGEST_COUNT)).all() else np.array(FALLBACK)


def unigram_probs(counts: np.ndarray) -> np.ndarray:
    """float64[V] probabilities of unigrams with adjusted counts int64[V], interpolated with the uniform distribution.

    Uniform over all words with <unk> and </s>, without <s>: that has probability 1, as in the ARPA files of lmplz.
    """
    discount = discounts(counts_of_counts(counts))
    of_count = np.minimum(counts, LARGEST_COUNT - 1)
    taken = discount[of_count]
    prob = (counts - taken + taken.sum() / (counts.size - 1)) / counts.sum()
    prob[BEGIN_ID] = 1.0
    return prob


@kernel
def _interpolate(begins, counts, suffixes, lower_prob, discount, prob, backoff):
    for context in range(begins.size):
        begin = begins[context]
        end = begins[context + 1] if context + 1 < begins.size else counts.size
        total, taken = np.int64(0), 0.0
        for i in range(begin, end):
            total += counts[i]
            taken += discount[min(counts[i], discount.size - 1)]
        backoff[context] = taken / total
        for i in range(begin, end):
            left = counts[i] - discount[min(counts[i], discount.size - 1)]
            prob[i] = left / total + backoff[context] * lower_prob[suffixes[i]]


def interpolate(
    order: AdjustedOrder, begins: np.ndarray, lower_prob: np.ndarray, discount: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities float64[K] of the n-grams, and backoffs float64[C] of their contexts, which begin at `begins`.

    `lower_prob`: float64, indexed by `order.suffixes`; `discount`: float64[4].
    """
    prob, backoff = np.empty(len(order.words)), np.empty(begins.size)
    _interpolate(begins, order.counts, order.suffixes, lower_prob, discount, prob, backoff)
    return prob, backoff


def log10_probs(prob: np.ndarray) -> np.ndarray:
    """float32 log10 of probabilities; rounding errors above 0 are cut."""
    return np.minimum(np.log10(prob), 0.0).astype(np.float32)


def log10_backoffs(backoff: np.ndarray) -> np.ndarray:
    """float32 log10 of backoffs, LOG10_ZERO for 0 (possible where a discount is 0)."""
    out = np.full(backoff.size, LOG10_ZERO)
    return np.log10(backoff, out=out, where=backoff > 0).astype(np.float32)


@kernel
def _place_backoffs(last_words, of_contexts, place, out):
    for i in range(last_words.size):
        word = last_words[i]
        if word != END_ID:
            out[i] = of_contexts[place[word]]
            place[word] += 1


def place_backoffs(last_words: np.ndarray, of_contexts: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """float32[K] backoffs of n-grams in context order, whose last words are int32[K].

    `of_contexts`: float32, those of the n-grams that are contexts, by last word and then in context order: the order
    in which the buckets one order higher yield them. All but those that end in </s> are contexts.
    """
    n_contexts = np.bincount(last_words, minlength=vocabulary_size)
    n_contexts[END_ID] = 0
    out = np.zeros(last_words.size, np.float32)
    _place_backoffs(np.ascontiguousarray(last_words), of_contexts, np.cumsum(n_contexts) - n_contexts, out)
    return out
