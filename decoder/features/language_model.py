"""The language model's part of a score: states interned to small ids, and scores of (state, target phrase) remembered.

Hypotheses of all coverages share few language model states, and options few first words; so most expansions find the
score of a phrase in two direct-mapped memos that stay in the processor's cache: one for its first word after a state,
one for the rest of it after the state that the first word leads to.
"""

from typing import NamedTuple

import numpy as np

from lm.hashing import START, combine, mix
from lm.jit import inlined_kernel, kernel
from lm.query import score_word

BEGIN_STATE = np.int64(0)  # the state after <s>
NO_STATE = -1
NO_SLOT = np.int64(-1)
MEMO_BITS = 14
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Memo(NamedTuple):
    """What followed a state, direct-mapped: a newer entry takes the place of an older one."""

    keys: np.ndarray  # int64[M], of state and words; 0 where empty
    log10_prob: np.ndarray  # float64[M], of the words
    state: np.ndarray  # int32[M], the state after them


class States(NamedTuple):
    """Language model states met in one sentence, and the memos; C is the longest context, order - 1 words."""

    context: np.ndarray  # int32[S, C], most recent word first
    backoffs: np.ndarray  # float32[S, C], log10
    length: np.ndarray  # int32[S], words of the context that count
    log10_end: np.ndarray  # float64[S], log10 p(</s>), NaN where not asked yet
    n_states: np.ndarray  # int64[1], in use
    slots: np.ndarray  # int32[T], hash table of state ids or NO_STATE; T a power of two >= 2 S
    first_words: Memo  # by LM id
    rests: Memo  # by target phrase
    work_context: np.ndarray  # int32[2, C]
    work_backoffs: np.ndarray  # float32[2, C]


def new_states(order: int, capacity: int) -> States:
    """Room for `capacity` states (a power of two) of a language model of that order."""
    context, size = order - 1, 1 << MEMO_BITS
    memos = [Memo(np.zeros(size, np.int64), np.zeros(size), np.zeros(size, np.int32)) for _ in range(2)]
    return States(
        np.zeros((capacity, context), np.int32),
        np.zeros((capacity, context), np.float32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity),
        np.zeros(1, np.int64),
        np.zeros(2 * capacity, np.int32),
        memos[0],
        memos[1],
        np.zeros((2, context), np.int32),
        np.zeros((2, context), np.float32),
    )


@kernel
def forget_states(states):
    """Empty `states` and the memos."""
    states.n_states[0] = 0
    states.slots[:] = NO_STATE
    states.first_words.keys[:] = 0
    states.rests.keys[:] = 0


@kernel
def score_phrase(tables, words, begin, end, length, states):
    """Continue the context in row 0 of the work space, `length` words long, by words[begin:end] (LM ids).

    Returns (log10 p of the words, the part of it from words whose full context lies in words[begin:end], row of the
    work space that holds the context afterwards, its length).
    """
    full = states.work_context.shape[1]
    total, inner, row = 0.0, 0.0, 0
    for i in range(begin, end):
        log10_prob, length, _ = score_word(
            tables,
            states.work_context[row],
            states.work_backoffs[row],
            length,
            words[i],
            states.work_context[1 - row],
            states.work_backoffs[1 - row],
        )
        total += np.float64(log10_prob)
        if i - begin >= full:
            inner += np.float64(log10_prob)
        row = 1 - row
    return total, inner, row, length


@kernel
def score_after(tables, words, begin, end, states, state):
    """score_phrase in the context of `state`."""
    length = states.length[state]
    for i in range(length):
        states.work_context[0, i] = states.context[state, i]
        states.work_backoffs[0, i] = states.backoffs[state, i]
    return score_phrase(tables, words, begin, end, np.int64(length), states)


@kernel
def intern_state(states, row, length):
    """Id of the state in `row` of the work space, or NO_STATE if there is no room for a new one."""
    h = combine(START, np.int64(length))
    for i in range(length):
        h = combine(h, np.int64(states.work_context[row, i]))
    mask = np.int64(states.slots.size - 1)
    slot = np.int64(mix(h) & np.uint64(mask))
    while states.slots[slot] != NO_STATE:
        if _is_state(states, states.slots[slot], row, length):
            return np.int64(states.slots[slot])
        slot = (slot + 1) & mask
    new = states.n_states[0]
    if new == states.length.size:
        return np.int64(NO_STATE)
    states.n_states[0] += 1
    states.slots[slot] = new
    states.length[new] = length
    states.log10_end[new] = np.nan
    for i in range(length):
        states.context[new, i] = states.work_context[row, i]
        states.backoffs[new, i] = states.work_backoffs[row, i]
    return np.int64(new)


@kernel
def _is_state(states, state, row, length):
    if states.length[state] != length:
        return False
    for i in range(length):
        if states.context[state, i] != states.work_context[row, i]:
            return False
    return True


@inlined_kernel
def remember(tables, words, begin, end, states, state, memo, name):
    """Slot of `memo` with log10 p(words[begin:end] | state) and the state after them; NO_SLOT if states are full.

    `name` (int64 >= 0) tells these words from others in the memo.
    """
    key = (state << np.int64(32)) | (name + 1)
    slot = np.int64((np.uint64(key) * GOLDEN) >> np.uint64(64 - MEMO_BITS))
    if memo.keys[slot] != key:
        log10_prob, _, row, length = score_after(tables, words, begin, end, states, state)
        after = intern_state(states, row, length)
        if after == NO_STATE:
            return NO_SLOT
        memo.keys[slot], memo.log10_prob[slot], memo.state[slot] = key, log10_prob, after
    return slot


@kernel
def log10_end(tables, states, state, end_word):
    """log10 p(</s>) after `state`; `end_word` int32[1] holds the LM id of </s>."""
    found = states.log10_end[state]
    if np.isnan(found):
        found = score_after(tables, end_word, np.int64(0), np.int64(1), states, state)[0]
        states.log10_end[state] = found
    return found
