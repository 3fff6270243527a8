"""The groups of sparse features: each declared with its name, scale and rate, and the kernels that list its features.

A new template is a SparseGroup here, and what it fires in `fire_rule`, or in `fire_history` where it depends on what
comes before. Keys are hashes of names and words alone: the order of the groups is free to change.

Rule id: the words of both sides. Rule bigram, rule history: Yu et al. (2013, section 4.3). Pair features: what the
phrase table of another toolkit says of the pair.
"""

from collections.abc import Iterator

import numpy as np

from phrasebeam.decoder.sparse.levels import WORD, target_class
from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup
from phrasebeam.decoder.sparse.sparse_weights import find_weight
from phrasebeam.decoder.sparse.word_edges import EDGE_GROUPS, KIND, LENGTH, combination_hash, fill_edges, part_hash
from phrasebeam.kernels.hashing import START, combine, mix, name_hashes
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

BETWEEN_SIDES = np.int64(-2)  # in the hash of a rule
START_RULE = np.uint64(0)  # in place of the rule before the first
NO_WORD = np.int64(-1)  # in place of target words before the first
ONE = np.float32(1)


def _history_names(one: RuleInContext) -> Iterator[str]:
    last, second_last = (one.levels.names("target", word) for word in (one.last, one.second_last))
    for column, label in enumerate(one.levels.labels[1:], 1):
        yield f"{one.rule},{label}={second_last[column]}_{last[column]}"


SPARSE_GROUPS = (
    SparseGroup(
        "pair_sparse",
        "features that Moses' phrase tables give single phrase pairs",
        "pair",
        lambda one: one.pair_names,
        rate=0.0,
        is_switch=False,
    ),
    SparseGroup("rule_id", "the phrase pair", "rule", lambda one: [one.rule], rate=0.1),
    SparseGroup(
        "rule_bigram",
        "the phrase pair and the one before",
        "history",
        lambda one: [f"{one.before}+{one.rule}"],
        rate=0.1,
    ),
    SparseGroup(
        "rule_history",
        "the phrase pair and the last two target words, at every level",
        "history",
        _history_names,
        rate=0.02,
    ),
    *EDGE_GROUPS,
)
GROUPS = tuple(group.name for group in SPARSE_GROUPS)
GROUP_HASHES = name_hashes(GROUPS)  # what keys know groups by
PAIR_SPARSE = np.int64(GROUPS.index("pair_sparse"))
RULE_ID = np.int64(GROUPS.index("rule_id"))
RULE_BIGRAM = np.int64(GROUPS.index("rule_bigram"))
RULE_HISTORY = np.int64(GROUPS.index("rule_history"))
FIRST_EDGES = np.int64(GROUPS.index(EDGE_GROUPS[0].name))  # the other kinds follow


@inlined_kernel
def fire(fired, group, h, value):
    """Add the feature of a group that the hash `h` (uint64) names."""
    i = fired.n[0]
    fired.keys[i] = mix(combine(h, np.int64(GROUP_HASHES[group]))) | np.uint64(1)
    fired.values[i], fired.groups[i] = value, group
    fired.n[0] = i + 1


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
def fire_rule(sparse, sentence, words, size, begin, end, fired):
    """Add to `fired` the features of source words begin:end as words[:size]."""
    if sparse.active[RULE_ID]:
        h = rule_hash(sparse, sentence.synthetic, sentence.classes, words, size, begin, end)
        fire(fired, RULE_ID, h, ONE)
    if sparse.combinations.shape[0] > 0:
        fill_edges(sparse, sentence, words, size, begin, end, fired.edges)
        length = part_hash(LENGTH, end - begin)
        for c in range(sparse.combinations.shape[0]):
            row = sparse.combinations[c]
            fire(fired, FIRST_EDGES + np.int64(row[KIND]), combination_hash(row, fired.edges, length), ONE)


@inner_kernel
def fire_history(sparse, synthetic, previous_rule, last, before, rule, fired):
    """Add the features of `rule` after the rule `previous_rule` and the target words `last` and the one `before`."""
    if sparse.active[RULE_BIGRAM]:
        fire(fired, RULE_BIGRAM, combine(combine(START, np.int64(previous_rule)), np.int64(rule)), ONE)
    if sparse.active[RULE_HISTORY]:
        for column in range(1, sparse.nothing.size):
            h = combine(combine(START, np.int64(rule)), np.int64(_class_of(sparse, synthetic, last, column)))
            fire(fired, RULE_HISTORY, combine(h, np.int64(_class_of(sparse, synthetic, before, column))), ONE)


@inlined_kernel
def _class_of(sparse, synthetic, word, column):
    return sparse.nothing[column] if word == NO_WORD else target_class(sparse, synthetic, word, column)


@inner_kernel
def fire_pair(sparse, pair, fired):
    """Add to `fired` what the phrase table says of `pair`; keys are those of name_keys."""
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
