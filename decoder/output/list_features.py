"""The n-best list of a sentence for learning: its dense and sparse features, the latter by column, and its texts."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.stateful import ABSENT
from phrasebeam.decoder.model.tables import Sentence, Tables
from phrasebeam.decoder.output.derivation import Derivation, FeatureSpace, fill_features
from phrasebeam.decoder.output.nbest import Derivations
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, fill_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.kernels.hashing import EMPTY, first_slot, mix, next_slot
from phrasebeam.kernels.jit import direct, inlined_kernel, inner_kernel, kernel

NO_GROUPS = np.full(len(GROUPS), ABSENT, np.int64)  # places for vectors that omit the sums of groups
SLOTS = np.int64(1 << 6)  # initial size of the hash table of columns


class ListFeatures(NamedTuple):
    """Features of the K hypotheses of a list. Their Z sparse features have C columns, one for each key."""

    dense: np.ndarray  # float64[K, F], laid out as FeatureLayout; 0 for the scales of groups of sparse features
    first: np.ndarray  # int64[K + 1], sparse features of hypothesis i are first[i]:first[i + 1]
    column: np.ndarray  # int32[Z], no column twice in a hypothesis
    value: np.ndarray  # float64[Z], times the scale of the feature's group
    keys: np.ndarray  # uint64[C], by column, in the order in which they first occur
    groups: np.ndarray  # uint8[C], index of GROUPS, by column


class HypothesisList(NamedTuple):
    """The best hypotheses of a sentence, best first, for learning."""

    texts: list[str]  # K
    score: np.ndarray  # float64[K], model score
    features: ListFeatures
    derivations: Derivations  # pairs are numbered as in the model's table; synthetic pairs are negative


class _ColumnTable(NamedTuple):
    """Work space for finding the column of a key."""

    slots: np.ndarray  # int32[T], a hash table of columns, of which the first n_slots are used
    n_slots: np.ndarray  # int64[1], number of used slots, a power of two above twice the number of columns
    latest: np.ndarray  # int64[C], index of the latest feature of each column


@kernel
def fill_list_features(
    derivations: Derivation,
    offsets,
    tables: Tables,
    sentence: Sentence,
    space: FeatureSpace,
    scales,
    table: _ColumnTable,
    features: ListFeatures,
):
    """Fill `features` for the derivations offsets[i]:offsets[i + 1] (int64[K + 1]); return the number of columns.

    features.dense must be 0; the other arrays may be longer than needed. `scales` (float64[len(GROUPS)]) are the scales
    of the groups of sparse features; `space` has room for the longest derivation.
    """
    n_columns, count = np.int64(0), np.int64(0)
    _use_slots(table, SLOTS)
    features.first[0] = 0
    for i in range(offsets.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        derivation = Derivation(derivations.pair[begin:end], derivations.begin[begin:end], derivations.end[begin:end])
        fill_features(derivation, tables, sentence, space, features.dense[i])
        start, fired = count, space.fired
        for k in range(fired.n[0]):
            column = _column_of(table, features.keys, n_columns, fired.keys[k])
            value = scales[fired.groups[k]] * np.float64(fired.values[k])
            if column == n_columns:
                features.groups[column] = fired.groups[k]
                n_columns += 1
            elif table.latest[column] >= start:
                features.value[table.latest[column]] += value
                continue
            table.latest[column] = count
            features.column[count], features.value[count] = column, value
            count += 1
        features.first[i + 1] = count
    return n_columns


@inlined_kernel
def _column_of(table, keys, n_columns, key):
    """The column of `key` in keys[:n_columns]; a new key is appended."""
    slot = first_slot(mix(key), table.n_slots[0])
    while table.slots[slot] != EMPTY and keys[table.slots[slot]] != key:
        slot = next_slot(slot, table.n_slots[0])
    if table.slots[slot] != EMPTY:
        return np.int64(table.slots[slot])
    keys[n_columns] = key
    table.slots[slot] = n_columns
    if 2 * (n_columns + 1) >= table.n_slots[0]:
        _double(table, keys, n_columns + 1)
    return n_columns


@inner_kernel
def _double(table, keys, n_columns):
    """Double the number of slots for keys[:n_columns]."""
    size = 2 * table.n_slots[0]
    _use_slots(table, size)
    for column in range(n_columns):
        slot = first_slot(mix(keys[column]), size)
        while table.slots[slot] != EMPTY:
            slot = next_slot(slot, size)
        table.slots[slot] = column


@inner_kernel
def _use_slots(table, size):
    """Use this number of slots (int64), and empty them."""
    table.n_slots[0] = size
    for slot in range(size):
        table.slots[slot] = EMPTY


_fill_list_features = direct(fill_list_features)


@kernel
def fill_list_scores(features: ListFeatures, dense, sparse, scores):
    """Write weights times features to `scores` (float64[K]); weights: `dense` (float64[F]), `sparse` (float64[C])."""
    for i in range(scores.size):
        score = 0.0
        for f in range(dense.size):
            score += dense[f] * features.dense[i, f]
        for k in range(features.first[i], features.first[i + 1]):
            score += sparse[features.column[k]] * features.value[k]
        scores[i] = score


def hypothesis_list(result: SearchResult, n: int, distinct: bool = True) -> HypothesisList:
    """The `n` best derivations of a search, or with `distinct` the best one of each of the `n` best texts.

    For an empty sentence, the only hypothesis is the typed prefix.
    """
    best = result.derivations(n, distinct)
    features = list_features(result, best)
    best = best._replace(phrases=result.with_model_pairs(best.phrases))
    return HypothesisList(result.texts(best), best.score, features, best)


def list_features(result: SearchResult, best: Derivations) -> ListFeatures:
    """The features of derivations of a search; their pairs are numbered as in the tables of the search."""
    size, most = best.score.size, best.phrases.pair.size * result.workspace.most_sparse_features
    space = result.feature_space(int(np.diff(best.offsets).max()), True)
    space = space._replace(places=space.places._replace(sparse=NO_GROUPS))
    n_slots = max(int(SLOTS), 4 << most.bit_length())
    table = _ColumnTable(np.empty(n_slots, np.int32), np.zeros(1, np.int64), np.empty(most, np.int64))
    features = ListFeatures(
        np.zeros((size, result.features.size)),
        np.empty(size + 1, np.int64),
        np.empty(most, np.int32),
        np.empty(most),
        np.empty(most, np.uint64),
        np.empty(most, np.uint8),
    )
    inputs = best.phrases, best.offsets, result.tables, result.source.sentence, space, result.weights.sparse
    n_columns, count = _fill_list_features(*inputs, table, features), features.first[-1]
    return features._replace(
        column=features.column[:count],
        value=features.value[:count],
        keys=features.keys[:n_columns],
        groups=features.groups[:n_columns],
    )


def scores_of(features: ListFeatures, dense: np.ndarray, sparse: SparseWeights) -> np.ndarray:
    """float64[K] scores of the hypotheses with the weights `dense` (float64[F]) and `sparse`."""
    by_column, scores = np.empty(features.keys.size), np.empty(features.first.size - 1)
    fill_weights(sparse, features.keys, by_column)
    fill_list_scores(features, np.ascontiguousarray(dense, np.float64), by_column, scores)
    return scores
