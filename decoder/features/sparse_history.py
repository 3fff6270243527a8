"""Sparse features with history as a feature of the search: they see the last rule and the last two target words.

The groups, listed in templates.fire_history, are those of Yu et al. (2013, 4.3). Scores after histories are memoized.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.histories import START_HISTORY
from phrasebeam.decoder.features.stateful_feature import Room, StatefulFeature, target_span
from phrasebeam.decoder.sparse.sparse_features import (
    SparseFeatureBuffer,
    most_history_features,
    new_sparse_features,
    weigh_fired,
    weigh_found,
)
from phrasebeam.decoder.sparse.sparse_weights import find_slots
from phrasebeam.decoder.sparse.template_kernels import NO_WORD, START_RULE, RuleHashes, fire_history
from phrasebeam.decoder.sparse.templates import CLASS_REORDERING, RULE_BIGRAM, RULE_HISTORY
from phrasebeam.kernels.hashing import memo_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

MEMO_SIZE = 1 << 14
BATCH = 32  # options that are scored together
RULE, SOURCE_CLASSES, LAST, BEFORE = (np.int64(i) for i in range(4))  # columns: RuleHashes, target words
N_COLUMNS = 4


class SparseMemo(NamedTuple):
    """A direct-mapped memo of M scores of options after histories."""

    keys: Annotated[np.ndarray, array(np.int64, "M")]  # hash of history and option; 0 where empty
    scores: Annotated[np.ndarray, array(np.float64, "M")]  # weighted
    fired: SparseFeatureBuffer  # scratch space for the features of BATCH options
    option: Annotated[np.ndarray, array(np.int64, BATCH)]  # scratch space: options that are not in the memo
    ends: Annotated[np.ndarray, array(np.int64, BATCH + 1)]  # scratch space: where each option's features end


def _new_memory(tables: Any, room: Room) -> SparseMemo:
    n_levels = tables.sparse.begin_classes.size - 1
    most = most_history_features(n_levels) if tables.sparse.has_history and room.n_options else 1
    fired = new_sparse_features(BATCH * most, n_levels)
    return allocate(SparseMemo, {"M": MEMO_SIZE if most > 1 else 1}, fired=fired)


@inner_kernel
def _begin(space, column):
    start = space.histories.columns[START_HISTORY]
    start[column + RULE], start[column + SOURCE_CLASSES] = np.int64(START_RULE), np.int64(START_RULE)
    start[column + LAST], start[column + BEFORE] = NO_WORD, NO_WORD
    space.memory.sparse_history.keys[:] = 0


@inner_kernel
def _fetch(space, history, first, end, column, is_monotone):
    """Put the scores of options first:end into the memo, fetching their weights from memory in parallel."""
    memo, weights, scales = space.memory.sparse_history, space.tables.sparse.weights, space.weights.sparse
    fired = memo.fired
    for begin in range(first, end, BATCH):
        fired.n[0], count, behind = 0, 0, min(begin + BATCH, end)
        for option in range(begin, behind):
            key = _key_of(history, option)
            if memo.keys[memo_slot(np.uint64(key), memo.keys.size)] != key:
                memo.option[count] = option
                _fire(space, history, option, column, is_monotone)
                count += 1
                memo.ends[count] = fired.n[0]
        find_slots(weights, fired.keys, fired.n[0], fired.slots)
        for k in range(count):
            key = _key_of(history, memo.option[k])
            slot = memo_slot(np.uint64(key), memo.keys.size)
            memo.keys[slot] = key
            memo.scores[slot] = weigh_found(weights, scales, fired, memo.ends[k], memo.ends[k + 1])


@inner_kernel
def _score(space, step, column, is_monotone):
    memo = space.memory.sparse_history
    key = _key_of(step.history, step.option)
    slot = memo_slot(np.uint64(key), memo.keys.size)
    if memo.keys[slot] != key:
        memo.fired.n[0] = 0
        _fire(space, step.history, step.option, column, is_monotone)
        memo.keys[slot] = key
        memo.scores[slot] = weigh_fired(space.tables.sparse.weights, space.weights.sparse, memo.fired)
    return memo.scores[slot]


@inlined_kernel
def _key_of(history, option):
    return (history << np.int64(32)) | (option + 1)


@inner_kernel
def _fire(space, history, option, column, is_monotone):
    """Append the features of an option after a history to the memo's list."""
    row, options = space.histories.columns[history], space.options
    previous = RuleHashes(np.uint64(row[column + RULE]), np.uint64(row[column + SOURCE_CLASSES]))
    rule = RuleHashes(options.rule[option, 0], options.rule[option, 1])
    words = row[column + LAST], row[column + BEFORE]
    fired = space.memory.sparse_history.fired
    fire_history(space.tables.sparse, space.sentence.synthetic, previous, *words, rule, is_monotone, fired)


@inner_kernel
def _follow(space, step, column):
    """Keep the rule and the target words for later phrases; START_RULE and NO_WORD where no active group needs them."""
    options, active = space.options, space.tables.sparse.active
    history, row = space.histories.columns[step.history], space.histories.row
    rule = options.rule[step.option, 0] if active[RULE_BIGRAM] else START_RULE
    classes = options.rule[step.option, 1] if active[CLASS_REORDERING] else START_RULE
    row[column + RULE], row[column + SOURCE_CLASSES] = np.int64(rule), np.int64(classes)
    last, before = history[column + LAST], history[column + BEFORE]
    first, end = target_span(options, step.option)
    if active[RULE_HISTORY] and end > first:
        before = last if end - first == 1 else np.int64(options.words[end - 2])
        last = np.int64(options.words[end - 1])
    row[column + LAST], row[column + BEFORE] = last, before
    return True


SPARSE_HISTORY = StatefulFeature(
    "sparse_history",
    None,  # their weights are sparse, and fire_derivation lists their values
    None,
    n_columns=N_COLUMNS,
    is_active=lambda weights, tables: tables.sparse.has_history,
    begin=_begin,
    fetch=_fetch,
    score=_score,
    follow=_follow,
    new_memory=_new_memory,
)
