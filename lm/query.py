"""KenLM's queries: the longest matching n-gram, backoff, and the shortest sufficient state (Heafield 2011)."""

import numpy as np

from phrasebeam.kernels.hashing import combine, murmur
from phrasebeam.kernels.jit import hot_kernel, inlined_kernel, kernel
from phrasebeam.lm.probing import (
    ABSENT,
    NO_EXTENSION,
    SIGN,
    UNIGRAMS,
    VOCABULARY,
    ProbingTables,
    find_entry,
    prefetch_entry,
)

# A larger log10 probability is due to damage: rounding, or pruning without normalization, may exceed 0 slightly.
HIGHEST_LOG10_PROB = 100.0


@hot_kernel
def score_word(tables: ProbingTables, context, backoffs, length, word, out_context, out_backoffs):
    """log10 p of `word` (LM id, int32) as float32, the length of the state after it and of the n-gram matched (int64).

    The state is context[:length], LM ids (int32[order - 1], the last word first), and backoffs[:length], the log10
    backoffs (float32[order - 1]) of contexts of lengths 1, 2, ...; the state after `word` is written to `out_context`
    and `out_backoffs` of the same types, which must be other arrays.
    """
    units, floats = tables.units, tables.floats
    position = tables.starts[UNIGRAMS] + 2 * np.int64(word)
    log10_prob = -abs(floats[position])
    out_context[0], out_backoffs[0] = word, floats[position + 1]
    out_length = 1 if units[position + 1] != NO_EXTENSION else 0
    ngram_length = 1
    # If the sign is set, no longer n-gram ends in this one, and the search ends.
    ends_longer = units[position] < SIGN
    next_key = np.uint64(word)
    if length > 0:
        next_key = combine(next_key, np.int64(context[0]))
    for i in range(length):
        if not ends_longer:
            break
        n = i + 2
        key = next_key
        if i + 1 < length:
            next_key = combine(key, np.int64(context[i + 1]))
            prefetch_entry(tables, n + 1, next_key)
        position = find_entry(tables, n, key)
        if position == ABSENT:
            break
        log10_prob = -abs(floats[position + 2])
        ngram_length = n
        if n == tables.order:
            break
        out_backoffs[i + 1] = floats[position + 3]
        if units[position + 3] != NO_EXTENSION:
            out_length = n
        ends_longer = units[position + 2] < SIGN
    for i in range(out_length - 1):
        out_context[i + 1] = context[i]
    for i in range(ngram_length - 1, length):
        log10_prob += backoffs[i]
    return log10_prob, np.int64(out_length), np.int64(ngram_length)


@inlined_kernel
def is_log10_prob(value):
    """Whether `value` (float64) can be the log10 probability of some words: neither NaN nor infinite nor too high."""
    return -np.inf < value <= HIGHEST_LOG10_PROB


@kernel
def score_words(tables: ProbingTables, words, contexts, backoffs, length, out_log10_prob, out_ngram_length):
    """Score `words` (LM ids, int32[T]) after the state of `length` in row 0 of `contexts` and `backoffs`.

    These are int32[2, order - 1] and float32[2, order - 1], and overwritten. Fills `out_log10_prob` (float32[T]) with
    log10 p and `out_ngram_length` (int64[T]) with the lengths of the n-grams matched. Returns the row of the state
    after the last word, its length, and the number of words before the first whose value cannot be a log10 probability.
    """
    row, n_sound = 0, words.size
    for i in range(words.size):
        log10_prob, length, ngram_length = score_word(
            tables, contexts[row], backoffs[row], length, words[i], contexts[1 - row], backoffs[1 - row]
        )
        out_log10_prob[i], out_ngram_length[i] = log10_prob, ngram_length
        if not is_log10_prob(np.float64(log10_prob)):
            n_sound = min(n_sound, i)
        row = 1 - row
    return row, length, n_sound


@kernel
def score_texts(tables: ProbingTables, words, first, begin, contexts, backoffs, out_log10_prob):
    """Fill `out_log10_prob` (float64[N]) with log10 p of texts words[first[i]:first[i + 1]] (LM ids, int32) after <s>.

    `begin`: int32, the LM id of <s>; `contexts` and `backoffs` are as in `score_words`. NaN results only from damage.
    """
    for text in range(out_log10_prob.size):
        total, row, length = 0.0, 0, np.int64(1)
        contexts[0, 0], backoffs[0, 0] = begin, tables.floats[tables.starts[UNIGRAMS] + 2 * np.int64(begin) + 1]
        for i in range(first[text], first[text + 1]):
            log10_prob, length, _ = score_word(
                tables, contexts[row], backoffs[row], length, words[i], contexts[1 - row], backoffs[1 - row]
            )
            total += np.float64(log10_prob) if is_log10_prob(np.float64(log10_prob)) else np.nan
            row = 1 - row
        out_log10_prob[text] = total


@kernel
def find_words(tables: ProbingTables, data, offsets, largest_id, out_ids):
    """Fill `out_ids` (int32[W]) with LM ids of words data[offsets[i]:offsets[i + 1]] (uint8, UTF-8), 0 if unknown.

    Returns the first id above `largest_id` (int64), which only a damaged file contains, or else 0.
    """
    invalid_id = np.int64(0)
    for i in range(out_ids.size):
        position = find_entry(tables, VOCABULARY, murmur(data, offsets[i], offsets[i + 1]))
        word_id = np.int64(0) if position == ABSENT else np.int64(tables.units[position + 2])
        out_ids[i] = word_id if word_id <= largest_id else 0
        if word_id > largest_id and invalid_id == 0:
            invalid_id = word_id
    return invalid_id
