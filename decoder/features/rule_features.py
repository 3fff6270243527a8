"""Sparse features of a phrase pair in its source sentence: listed as keys and values, one by one.

Rule id: the words of both sides. Word edges: Yu et al. (2013, section 4.1). Pair features: what the phrase table of
another toolkit says of the pair.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import find_weight
from phrasebeam.decoder.sparse.templates import (
    ABSENT,
    BEGIN_ROW,
    GROUP,
    LENGTH,
    PAIR_SPARSE,
    RULE_BIGRAM,
    RULE_HISTORY,
    RULE_ID,
    WORD,
    Sparse,
)
from phrasebeam.decoder.tables.phrase_table import longest
from phrasebeam.kernels.hashing import START, combine, mix
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

BETWEEN_SIDES = np.int64(-2)  # in the hash of a rule
WITHOUT_TARGET = np.uint64(1)  # edge of an empty target phrase
ONE = np.float32(1)


class SparseFeatureBuffer(NamedTuple):
    """Room for the sparse features of one phrase pair or more."""

    keys: np.ndarray  # uint64[K]
    values: np.ndarray  # float32[K]
    groups: np.ndarray  # int64[K], see GROUPS
    edges: np.ndarray  # uint64[6, 1 + L], work space: what stands at each position at each level
    n: np.ndarray  # int64[1], how many there are


def new_sparse_features(room: int, n_levels: int) -> SparseFeatureBuffer:
    """Room for so many features, of models with so many levels."""
    edges = np.zeros((LENGTH, 1 + n_levels), np.uint64)
    return SparseFeatureBuffer(
        np.zeros(room, np.uint64), np.zeros(room, np.float32), np.zeros(room, np.int64), edges, np.zeros(1, np.int64)
    )


def most_sparse_features(sparse: Sparse) -> int:
    """How many features one phrase pair can have, without and with its history."""
    of_pair = longest(sparse.pair_offsets)
    return of_pair + 1 + len(sparse.combinations) + 1 + sparse.nothing.size


@inlined_kernel
def fire(fired, group, h, value):
    """Add the feature of a group that the hash `h` (uint64) names."""
    i = fired.n[0]
    fired.keys[i] = mix(combine(h, group)) | np.uint64(1)
    fired.values[i], fired.groups[i] = value, group
    fired.n[0] = i + 1


@inlined_kernel
def target_class(sparse, synthetic, word, column):
    """What stands for the target word `word` (an id, or beyond the vocabulary, see SyntheticPairs) at a level."""
    n_known = sparse.target_classes.shape[0]
    return sparse.target_classes[word, column] if word < n_known else synthetic.classes[word - n_known, column]


@inlined_kernel
def has_rule_features(sparse):
    """Whether a pair in its sentence has sparse features, beside those that it has alone."""
    return sparse.active[RULE_ID] or sparse.combinations.shape[0] > 0


@inlined_kernel
def has_history(sparse):
    """Whether there are sparse features of what comes before a pair."""
    return sparse.active[RULE_BIGRAM] or sparse.active[RULE_HISTORY]


@inner_kernel
def rule_hash(sparse, synthetic, classes, words, size, begin, end):
    """uint64 hash of the rule source[begin:end] -> words[:size]; classes: Sentence.classes."""
    h = START
    for i in range(begin, end):
        h = combine(h, np.int64(classes[1 + i, WORD]))
    h = combine(h, BETWEEN_SIDES)
    for i in range(size):
        h = combine(h, np.int64(target_class(sparse, synthetic, np.int64(words[i]), WORD)))
    return mix(h)


@inner_kernel
def fire_pair(sparse, pair, fired):
    """Add to `fired` what the phrase table says of `pair`."""
    if sparse.active[PAIR_SPARSE] and pair >= 0:
        for i in range(sparse.pair_offsets[pair], sparse.pair_offsets[pair + 1]):
            k = fired.n[0]
            fired.keys[k], fired.values[k] = sparse.pair_keys[i], sparse.pair_values[i]
            fired.groups[k] = PAIR_SPARSE
            fired.n[0] = k + 1


@inner_kernel
def score_pair_alone(sparse, scales, pair):
    """Weighted sum of the features that fire_pair adds."""
    total = 0.0
    for i in range(sparse.pair_offsets[pair], sparse.pair_offsets[pair + 1]):
        total += find_weight(sparse.weights, sparse.pair_keys[i]) * np.float64(sparse.pair_values[i])
    return scales[PAIR_SPARSE] * total


@inner_kernel
def fire_rule(sparse, sentence, words, size, begin, end, fired):
    """Add to `fired` the features of source words begin:end as words[:size]."""
    synthetic, classes = sentence.synthetic, sentence.classes
    if sparse.active[RULE_ID]:
        fire(fired, RULE_ID, rule_hash(sparse, synthetic, classes, words, size, begin, end), ONE)
    if sparse.combinations.shape[0] > 0:
        _fill_edges(sparse, synthetic, classes, words, size, begin, end, fired.edges)
        for c in range(sparse.combinations.shape[0]):
            h = START
            for position in range(LENGTH):
                column = np.int64(sparse.combinations[c, position])
                if column != ABSENT:
                    h = combine(combine(h, np.int64(position)), np.int64(fired.edges[position, column]))
            if sparse.combinations[c, LENGTH]:
                h = combine(combine(h, LENGTH), np.int64(end - begin))
            fire(fired, np.int64(sparse.combinations[c, GROUP]), h, ONE)


@inlined_kernel
def _fill_edges(sparse, synthetic, classes, words, size, begin, end, edges):
    """What stands at each of POSITIONS at each level."""
    for column in range(edges.shape[1]):
        edges[0, column], edges[1, column] = classes[1 + begin, column], classes[end, column]
        edges[2, column], edges[3, column] = WITHOUT_TARGET, WITHOUT_TARGET
        if size > 0:
            edges[2, column] = target_class(sparse, synthetic, np.int64(words[0]), column)
            edges[3, column] = target_class(sparse, synthetic, np.int64(words[size - 1]), column)
        edges[4, column], edges[5, column] = classes[BEGIN_ROW + begin, column], classes[1 + end, column]


@inner_kernel
def weigh_fired(weights, scales, fired):
    """Weighted sum of all features in `fired`; scales: float64[len(GROUPS)]."""
    total = 0.0
    for i in range(fired.n[0]):
        total += scales[fired.groups[i]] * find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
    return total


@inner_kernel
def add_group_values(weights, fired, places, features):
    """Add the groups' values, sums of weights times values, to features[places[group]] (int64[len(GROUPS)])."""
    for i in range(fired.n[0]):
        place = places[fired.groups[i]]
        if place >= 0:
            features[place] += find_weight(weights, fired.keys[i]) * np.float64(fired.values[i])
