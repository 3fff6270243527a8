"""Sparse features with history: the rule before with this rule, and the two target words before with this rule.

A hypothesis remembers the rule that it ended with and its last two target words (Yu et al. 2013, section 4.3). What
hypotheses share of that, and of all that the next phrase can see of the last one, is a number of a table, so that
recombination compares one number more and the search knows nothing of what it stands for.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.rule_features import (
    ONE,
    SparseFeatureBuffer,
    fire,
    new_sparse_features,
    target_class,
    weigh_fired,
)
from phrasebeam.decoder.sparse.templates import RULE_BIGRAM, RULE_HISTORY
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

START_HISTORY = np.int64(0)
START_RULE = np.uint64(0)
NO_WORD = np.int64(-1)
NO_HISTORY = np.int64(-1)
MEMO_BITS = 14
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Histories(NamedTuple):
    """At most B of them, in a hash table; and a direct-mapped memo of scores."""

    size: Annotated[np.ndarray, array(np.int64, 1)]
    state: Annotated[np.ndarray, array(np.int32, "B")]  # see Options.state
    rule: Annotated[np.ndarray, array(np.uint64, "B")]  # hash of the last rule, START_RULE at the start
    # The last target words, the last one first; NO_WORD before the start
    words: Annotated[np.ndarray, array(np.int32, "B", 2, fill=NO_WORD)]
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # T a power of two >= 2 B
    memo_keys: Annotated[np.ndarray, array(np.int64, "M")]  # of history and option; 0 where empty
    memo_scores: Annotated[np.ndarray, array(np.float64, "M")]
    fired: SparseFeatureBuffer


def new_histories(capacity: int, n_levels: int) -> Histories:
    """Room for so many histories, a power of two."""
    sizes = {"B": capacity, "T": 2 * capacity, "M": 1 << MEMO_BITS}
    return allocate(Histories, sizes, fired=new_sparse_features(2 + n_levels, n_levels))


@inner_kernel
def forget_histories(histories):
    """Leave the one at the start alone."""
    histories.size[0] = 1
    histories.slots[:] = EMPTY
    histories.memo_keys[:] = 0
    histories.state[0], histories.rule[0] = EMPTY, START_RULE
    histories.words[0, 0], histories.words[0, 1] = NO_WORD, NO_WORD


@inner_kernel
def next_history(histories, history, state, rule, words, begin, end):
    """The history after a phrase that the next one sees as `state`, of that rule and words[begin:end]; or FULL."""
    last, before = np.int64(histories.words[history, 0]), np.int64(histories.words[history, 1])
    if end - begin > 0:
        before = last if end - begin == 1 else np.int64(words[end - 2])
        last = np.int64(words[end - 1])
    h = combine(combine(combine(combine(START, state), np.int64(rule)), last), before)
    slot = first_slot(mix(h), histories.slots.size)
    while histories.slots[slot] != EMPTY:
        i = np.int64(histories.slots[slot])
        same_rule = histories.rule[i] == rule and histories.state[i] == state
        if same_rule and histories.words[i, 0] == last and histories.words[i, 1] == before:
            return i
        slot = next_slot(slot, histories.slots.size)
    new = histories.size[0]
    if new == histories.rule.size:
        return NO_HISTORY
    histories.state[new], histories.rule[new] = state, rule
    histories.words[new, 0], histories.words[new, 1] = last, before
    histories.slots[slot] = new
    histories.size[0] = new + 1
    return new


@inner_kernel
def fire_history(sparse, synthetic, previous_rule, last, before, rule, fired):
    """Add the features of `rule` after the rule `previous_rule` and the target words `last` and the one `before`."""
    if sparse.active[RULE_BIGRAM]:
        fire(fired, RULE_BIGRAM, combine(combine(START, np.int64(previous_rule)), np.int64(rule)), ONE)
    if sparse.active[RULE_HISTORY]:
        for column in range(sparse.nothing.size - 1):
            h = combine(combine(START, np.int64(rule)), np.int64(_class_of(sparse, synthetic, last, 1 + column)))
            fire(fired, RULE_HISTORY, combine(h, np.int64(_class_of(sparse, synthetic, before, 1 + column))), ONE)


@inlined_kernel
def _class_of(sparse, synthetic, word, column):
    return sparse.nothing[column] if word == NO_WORD else target_class(sparse, synthetic, word, column)


@inner_kernel
def score_history(sparse, scales, synthetic, histories, history, option, rule):
    """Weighted score of the features of `option`, whose rule is `rule`, after `history`."""
    key = (history << np.int64(32)) | (option + 1)
    slot = np.int64((np.uint64(key) * GOLDEN) >> np.uint64(64 - MEMO_BITS))
    if histories.memo_keys[slot] != key:
        last, before = np.int64(histories.words[history, 0]), np.int64(histories.words[history, 1])
        fired = histories.fired
        fired.n[0] = 0
        fire_history(sparse, synthetic, histories.rule[history], last, before, rule, fired)
        histories.memo_keys[slot] = key
        histories.memo_scores[slot] = weigh_fired(sparse.weights, scales, fired)
    return histories.memo_scores[slot]
