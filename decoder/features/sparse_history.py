"""Sparse features with history, as a feature of the search: of a rule after the last one and the last two target words.

Their groups, templates.fire_history, are those of Yu et al. (2013, 4.3). Scores after histories are kept in a memo.
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
)
from phrasebeam.decoder.sparse.template_kernels import NO_WORD, START_RULE, RuleHashes, fire_history
from phrasebeam.decoder.sparse.templates import CLASS_REORDERING, RULE_BIGRAM, RULE_HISTORY
from phrasebeam.kernels.hashing import memo_slot
from phrasebeam.kernels.jit import inner_kernel

MEMO_SIZE = 1 << 14
RULE, SOURCE_CLASSES, LAST, BEFORE = (np.int64(i) for i in range(4))  # columns: RuleHashes, target words
N_COLUMNS = 4


class SparseMemo(NamedTuple):
    """A direct-mapped memo of M scores of options after histories."""

    keys: Annotated[np.ndarray, array(np.int64, "M")]  # of history and option; 0 where empty
    scores: Annotated[np.ndarray, array(np.float64, "M")]  # weighted
    fired: SparseFeatureBuffer  # scratch space for the features of an option


def _new_memory(tables: Any, room: Room) -> SparseMemo:
    n_levels = tables.sparse.begin_classes.size - 1
    most = most_history_features(n_levels) if tables.sparse.has_history and room.n_options else 1
    return allocate(SparseMemo, {"M": MEMO_SIZE if most > 1 else 1}, fired=new_sparse_features(most, n_levels))


@inner_kernel
def _begin(space, column):
    start = space.histories.columns[START_HISTORY]
    start[column + RULE], start[column + SOURCE_CLASSES] = np.int64(START_RULE), np.int64(START_RULE)
    start[column + LAST], start[column + BEFORE] = NO_WORD, NO_WORD
    space.memory.sparse_history.keys[:] = 0


@inner_kernel
def _score(space, step, column, is_monotone):
    memo, options = space.memory.sparse_history, space.options
    key = (step.history << np.int64(32)) | (step.option + 1)
    slot = memo_slot(np.uint64(key), memo.keys.size)
    if memo.keys[slot] != key:
        history, sparse = space.histories.columns[step.history], space.tables.sparse
        previous = RuleHashes(np.uint64(history[column + RULE]), np.uint64(history[column + SOURCE_CLASSES]))
        rule = RuleHashes(options.rule[step.option, 0], options.rule[step.option, 1])
        last, before = history[column + LAST], history[column + BEFORE]
        memo.fired.n[0] = 0
        fire_history(sparse, space.sentence.synthetic, previous, last, before, rule, is_monotone, memo.fired)
        memo.keys[slot] = key
        memo.scores[slot] = weigh_fired(sparse.weights, space.weights.sparse, memo.fired)
    return memo.scores[slot]


@inner_kernel
def _follow(space, step, column):
    """Keep the rule and the target words; START_RULE and NO_WORD in place of what no active group asks for."""
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
    None,  # their weights are sparse, and their values are listed by fire_derivation
    None,
    n_columns=N_COLUMNS,
    is_active=lambda weights, tables: tables.sparse.has_history,
    begin=_begin,
    score=_score,
    follow=_follow,
    new_memory=_new_memory,
)
