"""Histories: what the next phrase's features depend on, of hypotheses.

These are the last rule and the last two target words, for sparse features (Yu et al. 2013, 4.3), and the state of the
operation sequence model. Equal histories have one id, which recombination compares. A history contains the last
option's state, too.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.operations.operation_states import BEGIN_OPERATIONS
from phrasebeam.decoder.sparse.sparse_features import (
    Sparse,
    SparseFeatureBuffer,
    most_history_features,
    new_sparse_features,
    weigh_fired,
)
from phrasebeam.decoder.sparse.template_kernels import NO_WORD, START_RULE, RuleHashes, fire_history
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inner_kernel

START_HISTORY = np.int64(0)
NO_HISTORY = np.int64(-1)
MEMO_BITS = 14  # log2 of the entries of the memo
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Histories(NamedTuple):
    """At most B histories, in a hash table; and a direct-mapped memo of M scores of options after histories."""

    size: Annotated[np.ndarray, array(np.int64, 1)]  # number of histories
    state: Annotated[np.ndarray, array(np.int32, "B")]  # Options.state of the last option
    operations: Annotated[np.ndarray, array(np.int32, "B")]  # OperationStates after the last option
    # RuleHashes of the last rule; START_RULE at the start, and where no feature depends on it
    rule: Annotated[np.ndarray, array(np.uint64, "B", 2)]
    # The last target words, the last one first; NO_WORD before the start, and where no feature depends on them
    words: Annotated[np.ndarray, array(np.int32, "B", 2, fill=NO_WORD)]
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # hash table of ids, T a power of two >= 2 B
    memo_keys: Annotated[np.ndarray, array(np.int64, "M")]  # of history and option; 0 where empty
    memo_scores: Annotated[np.ndarray, array(np.float64, "M")]  # weighted
    fired: SparseFeatureBuffer  # scratch space for the features of an option


def new_histories(capacity: int, n_levels: int) -> Histories:
    """A table for `capacity` histories, a power of two, with features at `n_levels` levels."""
    sizes = {"B": capacity, "T": 2 * capacity, "M": 1 << MEMO_BITS}
    return allocate(Histories, sizes, fired=new_sparse_features(most_history_features(n_levels), n_levels))


@inner_kernel
def forget_histories(histories: Histories):
    """Empty the table and the memo, but for START_HISTORY."""
    histories.size[0] = 1
    histories.slots[:] = EMPTY
    histories.memo_keys[:] = 0
    histories.operations[0] = BEGIN_OPERATIONS
    histories.state[0], histories.rule[0, 0], histories.rule[0, 1] = EMPTY, START_RULE, START_RULE
    histories.words[0, 0], histories.words[0, 1] = NO_WORD, NO_WORD


@inner_kernel
def next_history(histories: Histories, history, state, operations, rule: RuleHashes, words, begin, end):
    """Id (int64) of the history after `history` (int64) and an option, or NO_HISTORY if the table is full.

    The option has the `state` (int64), the `rule` and the target words[begin:end] (int32[W]), and leaves the operation
    sequence model in the state `operations` (int64).
    """
    last, before = np.int64(histories.words[history, 0]), np.int64(histories.words[history, 1])
    if end - begin > 0:
        before = last if end - begin == 1 else np.int64(words[end - 2])
        last = np.int64(words[end - 1])
    h = combine(combine(combine(START, state), operations), np.int64(rule.rule))
    h = combine(combine(combine(h, np.int64(rule.source_classes)), last), before)
    slot = first_slot(mix(h), histories.slots.size)
    while histories.slots[slot] != EMPTY:
        i = np.int64(histories.slots[slot])
        same_rule = histories.rule[i, 0] == rule.rule and histories.rule[i, 1] == rule.source_classes
        same_state = histories.state[i] == state and histories.operations[i] == operations
        if same_state and same_rule and histories.words[i, 0] == last and histories.words[i, 1] == before:
            return i
        slot = next_slot(slot, histories.slots.size)
    new = histories.size[0]
    if new == histories.state.size:
        return NO_HISTORY
    histories.state[new], histories.rule[new, 0], histories.rule[new, 1] = state, rule.rule, rule.source_classes
    histories.words[new, 0], histories.words[new, 1], histories.operations[new] = last, before, operations
    histories.slots[slot] = new
    histories.size[0] = new + 1
    return new


@inner_kernel
def score_history(
    sparse: Sparse, scales, synthetic, histories: Histories, history, option, rule: RuleHashes, is_monotone: bool
):
    """Weighted score of the features with history of `option` (int64), which has the `rule`, after `history` (int64).

    `is_monotone`: whether it is so to the phrase before, the end of which all hypotheses of a history share.
    `scales` is float64[len(GROUPS)], `synthetic` the SyntheticPairs of the sentence.
    """
    key = (history << np.int64(32)) | (option + 1)
    slot = np.int64((np.uint64(key) * GOLDEN) >> np.uint64(64 - MEMO_BITS))
    if histories.memo_keys[slot] != key:
        last, before = np.int64(histories.words[history, 0]), np.int64(histories.words[history, 1])
        fired = histories.fired
        fired.n[0] = 0
        previous = RuleHashes(histories.rule[history, 0], histories.rule[history, 1])
        fire_history(sparse, synthetic, previous, last, before, rule, is_monotone, fired)
        histories.memo_keys[slot] = key
        histories.memo_scores[slot] = weigh_fired(sparse.weights, scales, fired)
    return histories.memo_scores[slot]
