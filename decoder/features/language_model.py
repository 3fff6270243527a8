"""The language model's part of a score: states interned to small ids, and scores of (state, target phrase) remembered.

Hypotheses of all coverages share few language model states, and the score of a target phrase depends on nothing
else; so most expansions find their score in a direct-mapped memo that stays in the processor's cache.
"""

from typing import NamedTuple

import numpy as np

from lm.hashing import START, combine, mix
from lm.jit import kernel
from lm.query import score_word

BEGIN_STATE = np.int64(0)  # the state after <s>
NO_STATE = -1
MEMO_BITS = 15
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class States(NamedTuple):
    """Language model states met in one sentence, and the memo; C is the longest context, order - 1 words."""

    context: np.ndarray  # int32[S, C], most recent word first
    backoffs: np.ndarray  # float32[S, C], log10
    length: np.ndarray  # int32[S], words of the context that count
    log10_end: np.ndarray  # float64[S], log10 p(</s>), NaN where not asked yet
    n_states: np.ndarray  # int64[1], in use
    slots: np.ndarray  # int32[T], hash table of state ids or NO_STATE; T a power of two >= 2 S
    memo_keys: np.ndarray  # int64[M], see memo_slot; 0 where empty
    memo_log10: np.ndarray  # float64[M], log10 p(target phrase | state)
    memo_state: np.ndarray  # int32[M], the state after it, NO_STATE where not asked yet
    work_context: np.ndarray  # int32[2, C]
    work_backoffs: np.ndarray  # float32[2, C]


def new_states(order: int, capacity: int) -> States:
    """Room for `capacity` states (a power of two) of a language model of that order."""
    context, memo = order - 1, 1 << MEMO_BITS
    return States(
        np.zeros((capacity, context), np.int32),
        np.zeros((capacity, context), np.float32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity),
        np.zeros(1, np.int64),
        np.zeros(2 * capacity, np.int32),
        np.zeros(memo, np.int64),
        np.zeros(memo),
        np.zeros(memo, np.int32),
        np.zeros((2, context), np.int32),
        np.zeros((2, context), np.float32),
    )


@kernel
def forget_states(states):
    """Empty `states` and the memo."""
    states.n_states[0] = 0
    states.slots[:] = NO_STATE
    states.memo_keys[:] = 0


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


@kernel
def memo_slot(state, target):
    """(key, slot) of the pair (state, target phrase) in the memo."""
    key = (np.int64(state) << np.int64(32)) | np.int64(target + 1)
    return key, np.int64((np.uint64(key) * GOLDEN) >> np.uint64(64 - MEMO_BITS))


@kernel
def log10_end(tables, states, state, end_word):
    """log10 p(</s>) after `state`; `end_word` int32[1] holds the LM id of </s>."""
    found = states.log10_end[state]
    if np.isnan(found):
        found = score_after(tables, end_word, np.int64(0), np.int64(1), states, state)[0]
        states.log10_end[state] = found
    return found
