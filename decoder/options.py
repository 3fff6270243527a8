"""Translation options: for each span of the source sentence, the target phrases worth trying, best first.

As in Moses, an option is ranked by its weighted scores plus the language model's estimate from inside the phrase,
the table limit cuts the list, and a single word without any option is copied.
"""

from typing import NamedTuple

import numpy as np

from decoder.features.dense import LN10, UNKNOWN_WORD
from decoder.features.language_model import score_phrase
from decoder.features.reordering import BACKWARD, FORWARD, N_ORIENTATIONS, orientation_column
from decoder.ordering import is_worse, push, sift_down, sort_best_first
from decoder.phrase_table import ABSENT, PhraseTable, find_source
from lm.hashing import START, combine, mix
from lm.jit import kernel
from lm.probing import ProbingTables

COPY = np.int64(-1)  # in `pair`: the source word itself
EMPTY = -1
ZERO, ONE = np.int64(0), np.int64(1)
FULL = np.int64(-1)  # returned where the arrays are too small


class Tables(NamedTuple):
    """What a model knows, mapped from its files."""

    phrases: PhraseTable
    ln_reordering: np.ndarray  # float32[P, 2 * O], shape (0, 0) without a reordering model
    target_lm_ids: np.ndarray  # int32[V], language model ids of the target vocabulary
    lm: ProbingTables
    end_word: np.ndarray  # int32[1], language model id of </s>


class Sentence(NamedTuple):
    """A source sentence of n words."""

    words: np.ndarray  # int32[n], source ids, -1 where unknown
    copy_lm_ids: np.ndarray  # int32[n], language model ids of the words themselves


class Options(NamedTuple):
    """O options over at most D distinct target phrases; spans are half open and at most `longest` words."""

    longest: int
    first: np.ndarray  # int64[n * longest + 1]; options of begin:begin+k are first[begin * longest + k - 1] and on
    pair: np.ndarray  # int64[O], phrase pair or COPY
    begin: np.ndarray  # int32[O]
    end: np.ndarray  # int32[O]
    score: np.ndarray  # float64[O], weighted scores known without context
    estimate: np.ndarray  # float64[O], score plus the weighted language model estimate
    bound: np.ndarray  # float64[O], what score and language model can at best amount to in any context
    backward: np.ndarray  # float64[O, 4], weighted, by orientation to the phrase before
    forward: np.ndarray  # float64[O, 4], weighted, by orientation of the phrase after
    target: np.ndarray  # int32[O], distinct target phrase
    state: np.ndarray  # int32[O], equal where all that a next phrase can see of this one is equal
    target_first: np.ndarray  # int64[D + 1], into lm_words
    lm_words: np.ndarray  # int32[...], language model ids
    slots: np.ndarray  # int32[T], hash table of options by target, T a power of two >= 2 O
    state_slots: np.ndarray  # int32[T], hash table of options by state


class Candidates(NamedTuple):
    """All pairs of one source phrase while the best are chosen."""

    score: np.ndarray  # float64[M]
    estimate: np.ndarray  # float64[M]
    bound: np.ndarray  # float64[M]
    heap: np.ndarray  # int64[M]
    lm_words: np.ndarray  # int32[longest target phrase]


def new_options(n_words: int, longest: int, capacity: int, n_lm_words: int) -> Options:
    """Room for `capacity` options (a power of two) with `n_lm_words` target words in all."""
    return Options(
        longest,
        np.zeros(n_words * longest + 1, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros((capacity, N_ORIENTATIONS)),
        np.zeros((capacity, N_ORIENTATIONS)),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity + 1, np.int64),
        np.zeros(n_lm_words, np.int32),
        np.zeros(2 * capacity, np.int32),
        np.zeros(2 * capacity, np.int32),
    )


def new_candidates(phrases: PhraseTable) -> Candidates:
    """Room for the source phrase with the most pairs, and the longest target phrase."""
    most = int(np.diff(phrases.pair_offsets).max(initial=1))
    longest = int(np.diff(phrases.target_offsets).max(initial=1))
    return Candidates(
        np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most, np.int64), np.zeros(longest, np.int32)
    )


@kernel
def fill_options(sentence, tables, weights, limit, candidates, states, options):
    """Fill `options` for a sentence; their number, or FULL. `limit` options a span, 0 for all."""
    options.slots[:] = EMPTY
    options.state_slots[:] = EMPTY
    options.target_first[0] = 0
    n, longest, count, targets = sentence.words.size, options.longest, np.int64(0), np.int64(0)
    for begin in range(n):
        for length in range(1, longest + 1):
            options.first[begin * longest + length - 1] = count
            if begin + length > n:
                continue
            source, first_pair, kept = find_source(tables.phrases, sentence.words, begin, begin + length), COPY, ZERO
            if source != ABSENT:
                first_pair = tables.phrases.pair_offsets[source]
                kept = _choose(source, tables, weights, limit, candidates, states)
            elif length == 1:
                kept = _score_copy(sentence.copy_lm_ids[begin], tables.lm, weights, candidates, states)
            for k in range(kept):
                if count == options.pair.size:
                    return FULL
                item = candidates.heap[k]
                options.pair[count] = first_pair + item
                options.begin[count], options.end[count] = begin, begin + length
                options.score[count] = candidates.score[item]
                options.estimate[count] = candidates.estimate[item]
                options.bound[count] = candidates.bound[item]
                _add_reordering(options, count, tables.ln_reordering, weights)
                if first_pair != COPY:
                    size = _target_lm_words(tables, options.pair[count], candidates.lm_words)
                else:
                    size = ONE
                targets = _add_target(options, count, candidates.lm_words, size, targets)
                if targets == FULL:
                    return FULL
                count += 1
    options.first[n * longest] = count
    return count


@kernel
def _target_lm_words(tables, pair, lm_words):
    """Write the language model ids of the pair's target phrase; its length."""
    begin = tables.phrases.target_offsets[pair]
    size = tables.phrases.target_offsets[pair + 1] - begin
    for i in range(size):
        lm_words[i] = tables.target_lm_ids[tables.phrases.target_words[begin + i]]
    return size


@kernel
def _choose(source, tables, weights, limit, candidates, states):
    """Rank the pairs of a source phrase into candidates.heap, best first; how many are kept.

    A pair whose scores without the language model are already too low is not shown to it: log p is never above 0.
    """
    first = tables.phrases.pair_offsets[source]
    n_pairs = tables.phrases.pair_offsets[source + 1] - first
    limit = n_pairs if limit == 0 else min(limit, n_pairs)
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
        _target_lm_words(tables, pair, candidates.lm_words)
        _estimate(item, length, tables.lm, weights.language_model, candidates, states)
        if size < limit:
            push(estimate, heap, size, item)
            size += 1
        elif is_worse(estimate, heap[0], item):
            heap[0] = item
            sift_down(estimate, heap, ZERO, size)
    sort_best_first(estimate, heap, size)
    return size


@kernel
def _estimate(item, length, lm, weight, candidates, states):
    """Language model estimate and bound of a candidate whose words are in candidates.lm_words."""
    total, inner, _, _ = score_phrase(lm, candidates.lm_words, ZERO, length, ZERO, states)
    score = candidates.score[item]
    candidates.estimate[item] = score + weight * LN10 * total
    candidates.bound[item] = score + weight * LN10 * inner if weight >= 0 else np.inf


@kernel
def _score_copy(lm_id, lm, weights, candidates, states):
    """Make candidate 0 the unknown word itself; 1, the number of candidates."""
    candidates.score[0] = weights.phrase_penalty - weights.word_penalty + weights.unknown_word_penalty * UNKNOWN_WORD
    candidates.lm_words[0] = lm_id
    candidates.heap[0] = 0
    _estimate(ZERO, ONE, lm, weights.language_model, candidates, states)
    return ONE


@kernel
def _add_target(options, option, lm_words, size, targets):
    """Give the option its distinct target phrase, a new one if need be; the number of targets, or FULL."""
    h = START
    for i in range(size):
        h = combine(h, np.int64(lm_words[i]))
    mask = np.int64(options.slots.size - 1)
    slot = np.int64(mix(h) & np.uint64(mask))
    while options.slots[slot] != EMPTY:
        target = options.target[options.slots[slot]]
        begin = options.target_first[target]
        same = options.target_first[target + 1] - begin == size
        for i in range(size):
            same = same and options.lm_words[begin + i] == lm_words[i]
        if same:
            options.target[option] = target
            return targets
        slot = (slot + 1) & mask
    begin = options.target_first[targets]
    if begin + size > options.lm_words.size:
        return FULL
    for i in range(size):
        options.lm_words[begin + i] = lm_words[i]
    options.target_first[targets + 1] = begin + size
    options.slots[slot] = option
    options.target[option] = targets
    return targets + 1


@kernel
def _add_reordering(options, option, ln_reordering, weights):
    """Weighted reordering scores, and the id of what the next phrase can see: the span and the forward scores."""
    pair, n_orientations = options.pair[option], ln_reordering.shape[1] // 2
    h = combine(combine(START, np.int64(options.begin[option])), np.int64(options.end[option]))
    for which in range(N_ORIENTATIONS):
        backward, forward = 0.0, 0.0
        if pair != COPY and n_orientations > 0:
            column = orientation_column(BACKWARD, which, n_orientations)
            backward = weights.reordering[column] * ln_reordering[pair, column]
            column = orientation_column(FORWARD, which, n_orientations)
            forward = weights.reordering[column] * ln_reordering[pair, column]
        options.backward[option, which] = backward
        options.forward[option, which] = forward
        h = combine(h, np.int64(forward * 65536.0))
    options.state[option] = _same_state(options, option, h, n_orientations > 0)


@kernel
def _same_state(options, option, h, has_reordering):
    """The first option with the same span (without a reordering model: the same end) and the same forward scores."""
    if not has_reordering:
        h = combine(START, np.int64(options.end[option]))
    mask = np.int64(options.state_slots.size - 1)
    slot = np.int64(mix(h) & np.uint64(mask))
    while options.state_slots[slot] != EMPTY:
        other = options.state_slots[slot]
        same = options.end[other] == options.end[option]
        if has_reordering:
            same = same and options.begin[other] == options.begin[option]
        for which in range(N_ORIENTATIONS):
            same = same and options.forward[other, which] == options.forward[option, which]
        if same:
            return other
        slot = (slot + 1) & mask
    options.state_slots[slot] = option
    return option
