"""Translation options: for each span of the source sentence, the target phrases worth trying, best first.

As in Moses, the table limit cuts the list, and a single word without any option is copied.
"""

from typing import NamedTuple

import numpy as np

from decoder.candidates import choose, score_copy
from decoder.features.reordering import BACKWARD, FORWARD, N_ORIENTATIONS, ln_orientation
from decoder.phrase_table import ABSENT, find_source
from decoder.tables import target_lm_words
from lm.hashing import START, combine, mix
from lm.jit import kernel

COPY = np.int64(-1)  # in `pair`: the source word itself
EMPTY = -1
ZERO, ONE = np.int64(0), np.int64(1)
FULL = np.int64(-1)  # returned where the arrays are too small


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
                kept = choose(source, tables, weights, limit, candidates, states)
            elif length == 1:
                kept = score_copy(sentence.copy_lm_ids[begin], tables.lm, weights, candidates, states)
            for k in range(kept):
                if count == options.pair.size:
                    return FULL
                item = candidates.heap[k]
                options.pair[count] = first_pair + item
                options.begin[count], options.end[count] = begin, begin + length
                options.score[count] = candidates.score[item]
                options.estimate[count] = candidates.estimate[item]
                options.bound[count] = candidates.bound[item]
                _add_reordering(options, count, tables.ln_reordering, tables.orientations, weights)
                if first_pair != COPY:
                    size = target_lm_words(tables, options.pair[count], candidates.lm_words)
                else:
                    size = ONE
                targets = _add_target(options, count, candidates.lm_words, size, targets)
                if targets == FULL:
                    return FULL
                count += 1
    options.first[n * longest] = count
    return count


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
def _add_reordering(options, option, ln_reordering, model, weights):
    """Weighted reordering scores, and the id of what the next phrase can see: the span and the forward scores."""
    pair = options.pair[option]
    h = combine(combine(START, np.int64(options.begin[option])), np.int64(options.end[option]))
    for which in range(N_ORIENTATIONS):
        backward, forward = 0.0, 0.0
        if model.features[BACKWARD, which] != ABSENT:
            weight = weights.reordering[model.features[BACKWARD, which]]
            backward = weight * ln_orientation(ln_reordering, model, pair, BACKWARD, which)
        if model.features[FORWARD, which] != ABSENT:
            weight = weights.reordering[model.features[FORWARD, which]]
            forward = weight * ln_orientation(ln_reordering, model, pair, FORWARD, which)
        options.backward[option, which] = backward
        options.forward[option, which] = forward
        h = combine(h, np.int64(forward * 65536.0))
    options.state[option] = _same_state(options, option, h, model.keeps_span)


@kernel
def _same_state(options, option, h, keeps_span):
    """The first option with the same end, where the model `keeps_span` the same span, and the same forward scores."""
    if not keeps_span:
        h = combine(START, np.int64(options.end[option]))
    mask = np.int64(options.state_slots.size - 1)
    slot = np.int64(mix(h) & np.uint64(mask))
    while options.state_slots[slot] != EMPTY:
        other = options.state_slots[slot]
        same = options.end[other] == options.end[option]
        if keeps_span:
            same = same and options.begin[other] == options.begin[option]
        for which in range(N_ORIENTATIONS):
            same = same and options.forward[other, which] == options.forward[option, which]
        if same:
            return other
        slot = (slot + 1) & mask
    options.state_slots[slot] = option
    return option
