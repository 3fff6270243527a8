"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998, section 3.2), as done by Heafield et al. (2013).

Functions process one bucket of n-grams; n-grams of every length are in context order (see lm/counting.py).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.counting import BEGIN_ID, END_ID, group_begins

FALLBACK = (0.0, 0.5, 1.0, 1.5)  # discounts if those of equation 26 are invalid
LARGEST_COUNT = 4  # the largest count whose count of counts equation 26 needs
LOG10_ZERO = -99.0  # written as log10 of a backoff of 0, as in SRILM


class AdjustedOrder(NamedTuple):
    """The n-grams of one length n in one bucket, in context order."""

    words: np.ndarray  # int32[K, n], word ids
    counts: np.ndarray  # int64[K], adjusted counts
    suffixes: np.ndarray  # int32[K], row of the last n - 1 words among the (n-1)-grams; for n = 2 their word id
    is_pruned: np.ndarray  # bool[K], whether the model omits the n-gram, so that its context backs off instead


def adjusted_orders(words: np.ndarray, counts: np.ndarray, thresholds: Sequence[int]) -> Iterator[AdjustedOrder]:
    """Adjusted counts of a bucket's n-grams, from the highest order down to bigrams.

    `words` (int32[K, n]), `counts` (int64[K]): distinct padded windows in context order. The adjusted count of an
    n-gram is the number of distinct words before it; for the highest order and n-grams that begin with <s>, its count.
    N-grams of n words that occur thresholds[n - 1] times or less are pruned, after all counts have been adjusted.
    """
    # A window whose second word is <s> has more padding than an n-gram.
    adjusted, is_ngram = counts, words[:, 1] != BEGIN_ID
    while words.shape[1] > 2:
        lower, lower_counts, extensions, suffixes = _shorten(words, counts)
        lower_is_ngram = lower[:, 1] != BEGIN_ID
        ngram_row = np.cumsum(lower_is_ngram, dtype=np.int32) - np.int32(1)
        is_pruned = counts[is_ngram] <= thresholds[words.shape[1] - 1]
        yield AdjustedOrder(words[is_ngram], adjusted[is_ngram], ngram_row[suffixes[is_ngram]], is_pruned)
        words, counts, is_ngram = lower, lower_counts, lower_is_ngram
        adjusted = np.where(words[:, 0] == BEGIN_ID, counts, extensions)
    yield AdjustedOrder(words, adjusted, words[:, 1], counts <= thresholds[1])


def _shorten(words: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Remove the first word of n-grams `words` (int32[K, n]) with `counts` (int64[K]), in context order.

    Returns the L distinct suffixes in context order (int32[L, n - 1]), the sums of their counts (int64[L]), the numbers
    of their n-grams (int64[L]), and the row of each n-gram's suffix (int32[K]).
    """
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
    """int64[5]: at index k > 0, how many of `counts` (int64[K]) are k; 0 at index 0."""
    histogram = np.bincount(np.minimum(counts, LARGEST_COUNT + 1), minlength=LARGEST_COUNT + 2)
    histogram[0] = 0
    return histogram[: LARGEST_COUNT + 1]


def discounts(n: np.ndarray) -> np.ndarray:
    """float64[4] discounts of counts 0, 1, 2 and 3 or more (equation 26), from counts of counts `n` (int64[5]).

    FALLBACK if a count of counts is zero, or a discount is negative or larger than its count.
    """
    if not n[1:LARGEST_COUNT].all():
        return np.array(FALLBACK)
    y = n[1] / (n[1] + 2 * n[2])
    discount = np.array([0.0] + [k - (k + 1) * y * n[k + 1] / n[k] for k in range(1, LARGEST_COUNT)])
    is_valid = (discount >= 0).all() and (discount <= np.arange(LARGEST_COUNT)).all()
    return discount if is_valid else np.array(FALLBACK)


def unigram_probs(counts: np.ndarray) -> np.ndarray:
    """float64[V] probabilities of unigrams with adjusted counts int64[V], interpolated with the uniform distribution.

    The uniform distribution includes <unk> and </s>, but not <s>, which has probability 1 as in ARPA files of lmplz.
    """
    discount = discounts(counts_of_counts(counts))
    discounted = discount[np.minimum(counts, LARGEST_COUNT - 1)]
    prob = (counts - discounted + discounted.sum() / (counts.size - 1)) / counts.sum()
    prob[BEGIN_ID] = 1.0
    return prob


@kernel
def _interpolate(begins, counts, suffixes, is_pruned, lower_prob, discount, prob, backoff):
    """Fill `prob` and `backoff` of `interpolate`."""
    for context in range(begins.size):
        begin = begins[context]
        end = begins[context + 1] if context + 1 < begins.size else counts.size
        total, discounted = np.int64(0), 0.0
        for i in range(begin, end):
            total += counts[i]
            discounted += counts[i] if is_pruned[i] else discount[min(counts[i], discount.size - 1)]
        backoff[context] = discounted / total
        for i in range(begin, end):
            remaining = counts[i] - discount[min(counts[i], discount.size - 1)]
            prob[i] = remaining / total + backoff[context] * lower_prob[suffixes[i]]


def interpolate(
    order: AdjustedOrder, begins: np.ndarray, lower_prob: np.ndarray, discount: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities float64[K] of the n-grams of `order`, and backoffs float64[C] of their contexts.

    `begins`: int64[C], first n-gram of each context; `lower_prob`: float64, probabilities of the next lower order,
    indexed by `order.suffixes`; `discount`: float64[4], from `discounts`. Values of pruned n-grams are not used.
    """
    prob, backoff = np.empty(len(order.words)), np.empty(begins.size)
    _interpolate(begins, *order[1:], lower_prob, discount, prob, backoff)
    return prob, backoff


def log10_probs(prob: np.ndarray) -> np.ndarray:
    """float32[K] log10 of probabilities (float64[K]), at most 0 in spite of rounding errors."""
    return np.minimum(np.log10(prob), 0.0).astype(np.float32)


def log10_backoffs(backoff: np.ndarray) -> np.ndarray:
    """float32[C] log10 of backoffs (float64[C]); LOG10_ZERO for 0, which occurs if a discount is 0."""
    log10_backoff = np.full(backoff.size, LOG10_ZERO)
    return np.log10(backoff, out=log10_backoff, where=backoff > 0).astype(np.float32)


@kernel
def _place_backoffs(last_words, context_backoffs, next_backoff, log10_backoff):
    """Fill log10_backoff of `place_backoffs`; next_backoff (int64[V]): index of the next one for each word."""
    for i in range(last_words.size):
        word = last_words[i]
        if word != END_ID:
            log10_backoff[i] = context_backoffs[next_backoff[word]]
            next_backoff[word] += 1


def place_backoffs(last_words: np.ndarray, context_backoffs: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """float32[K] log10 backoffs of n-grams in context order with `last_words` (int32[K]); 0 if that is </s>.

    `context_backoffs`: float32, log10 backoffs of the n-grams that do not end in </s>, all of which are contexts, by
    last word and then in context order: the order in which the buckets of n-grams one word longer yield them.
    """
    n_contexts = np.bincount(last_words, minlength=vocabulary_size)
    n_contexts[END_ID] = 0
    begins = np.cumsum(n_contexts) - n_contexts
    log10_backoff = np.zeros(last_words.size, np.float32)
    _place_backoffs(np.ascontiguousarray(last_words), context_backoffs, begins, log10_backoff)
    return log10_backoff
