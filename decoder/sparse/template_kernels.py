"""Kernels that list the sparse features of a phrase: `fire_rule`, `fire_orientation`, `fire_history`, `fire_pair`.

To add a template, compute its features in `fire_rule`; in `fire_orientation` if they depend on whether a phrase is
monotone to a neighbouring phrase; or in `fire_history` if they depend on the preceding phrases.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.feature_names import MOST_POINTS
from phrasebeam.decoder.sparse.levels import KIND, LENGTH, WORD
from phrasebeam.decoder.sparse.phrase_hashes import (
    ABSENT_CLIQUE,
    NO_PART,
    SOURCE,
    TARGET,
    UNALIGNED,
    bigram_hash,
    class_jump_hash,
    clique_hash,
    combination_hash,
    feature_key,
    fill_cliques,
    fill_edges,
    is_deleted,
    jump_hash,
    listed,
    part_hash,
    parts_hash,
    point_range,
    shape_hash,
)
from phrasebeam.decoder.sparse.sparse_features import Sparse, SparseFeatureBuffer, target_class
from phrasebeam.decoder.sparse.sparse_weights import find_weight
from phrasebeam.decoder.sparse.templates import FIRST_EDGES, GROUP_HASHES, INDEX, PAIR_SPARSE
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.kernels.hashing import START, combine, mix
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

BETWEEN_SIDES = np.int64(-2)  # separates the sides in the hash of a rule
START_RULE = np.uint64(0)  # hash of the rule that precedes the first phrase
NO_WORD = np.int64(-1)  # replaces a target word before the first
ONE = np.float32(1)


class RuleHashes(NamedTuple):
    """The hashes of a rule that features with history see."""

    rule: np.uint64  # rule_hash; START_RULE before the first phrase
    source_classes: np.uint64  # class_sequence_hash; START_RULE before the first phrase


@inlined_kernel
def fire(fired: SparseFeatureBuffer, group, h, value):
    """Append the feature with the hash `h` (uint64) within `group` (index of GROUPS) and the `value` (float32)."""
    i = fired.n[0]
    fired.keys[i] = feature_key(h, GROUP_HASHES[group])
    fired.values[i], fired.groups[i] = value, group
    fired.n[0] = i + 1


@inner_kernel
def rule_hash(sparse: Sparse, synthetic, classes, words, size, begin, end):
    """uint64 hash of the rule from source words begin:end to words[:size] (int32[W], target ids).

    `synthetic` (SyntheticPairs) and `classes` (uint64[n + 2, 1 + L]) are those of the Sentence.
    """
    h = START
    for i in range(begin, end):
        h = combine(h, np.int64(classes[1 + i, WORD]))
    h = combine(h, BETWEEN_SIDES)
    for i in range(size):
        h = combine(h, np.int64(target_class(sparse, synthetic, np.int64(words[i]), WORD)))
    return mix(h)


@inner_kernel
def fire_rule(sparse: Sparse, sentence, pair, words, size, begin, end, fired: SparseFeatureBuffer):
    """Append the features of the rule from words begin:end of `sentence` (Sentence) to words[:size] (int32[W]).

    `pair` (int64) is the phrase pair, negative if synthetic.
    """
    fire_without_edges(sparse, sentence, pair, words, size, begin, end, fired)
    if sparse.combinations.shape[0] > 0:
        fill_edges(sparse, sentence, words, size, begin, end, fired.edges)
        length = part_hash(LENGTH, end - begin)
        for c in range(sparse.combinations.shape[0]):
            row = sparse.combinations[c]
            fire(fired, FIRST_EDGES + np.int64(row[KIND]), combination_hash(row, fired.edges, length), ONE)


@inlined_kernel
def fire_without_edges(sparse: Sparse, sentence, pair, words, size, begin, end, fired: SparseFeatureBuffer):
    """Append the features of fire_rule that precede word edges.

    The rule: words begin:end of `sentence` (Sentence), and words[:size] (int32[W]); `pair`: int64.
    """
    if sparse.active[INDEX.rule_id]:
        h = rule_hash(sparse, sentence.synthetic, sentence.classes, words, size, begin, end)
        fire(fired, INDEX.rule_id, h, ONE)
    if sparse.has_phrase_features:
        _fire_phrase(sparse, sentence, pair, words, size, begin, end, fired)


@inlined_kernel
def _fire_phrase(sparse, sentence, pair, words, size, begin, end, fired):
    """Append the features of PHRASE_GROUPS; arguments as of fire_rule."""
    n_source, n_target = min(end - begin, LONGEST_PHRASE), min(size, LONGEST_PHRASE)
    first, last = point_range(sparse.points, sentence.synthetic, pair)
    points = (sentence.synthetic.alignment_points if pair < 0 else sparse.points.points)[first:last]
    cliques, classes = fired.cliques, sentence.classes
    if sparse.active[INDEX.source_bigrams]:
        for i in range(begin + 1, begin + n_source):
            fire(fired, INDEX.source_bigrams, bigram_hash(classes[i, WORD], classes[1 + i, WORD]), ONE)
    if sparse.active[INDEX.target_bigrams]:
        for j in range(1, n_target):
            before = target_class(sparse, sentence.synthetic, np.int64(words[j - 1]), WORD)
            word = target_class(sparse, sentence.synthetic, np.int64(words[j]), WORD)
            fire(fired, INDEX.target_bigrams, bigram_hash(before, word), ONE)
    fill_cliques(points, n_source, n_target, cliques)
    if sparse.active[INDEX.rule_shape]:
        fire(fired, INDEX.rule_shape, shape_hash(points, n_source, n_target, cliques), ONE)
    for i in range(n_source):
        if sparse.active[INDEX.phrase_alignment]:
            h = clique_hash(sparse, sentence, words, n_target, begin, begin + n_source, i, cliques)
            if h != ABSENT_CLIQUE:
                fire(fired, INDEX.phrase_alignment, h, ONE)
        is_content = sentence.is_content[begin + i]
        if sparse.active[INDEX.source_deletion] and is_content and is_deleted(sparse, points, words, i):
            fire(fired, INDEX.source_deletion, START, ONE)
            if sparse.class_column > 0:
                h = combine(START, np.int64(classes[1 + begin + i, sparse.class_column]))
                fire(fired, INDEX.source_deletion, h, ONE)
    if sparse.has_word_features:
        _fire_words(sparse, sentence, points, words, n_source, n_target, begin, fired)


@inlined_kernel
def _fire_words(sparse, sentence, points, words, n_source, n_target, begin, fired):
    """Append the features of WORD_GROUPS, after fill_cliques.

    `points` is uint8[K, 2], of a phrase pair of `n_source` and `n_target` words, which `begin` in the sentence.
    """
    lists, classes, synthetic = sparse.word_lists, sentence.classes, sentence.synthetic
    if n_source != 1 or n_target != 1 or points.shape[0] > 0:
        for j in range(n_target):
            if sparse.active[INDEX.inserted_words] and fired.cliques[TARGET, j] == UNALIGNED:
                word = listed(lists.inserted, lists, target_class(sparse, synthetic, np.int64(words[j]), WORD))
                fire(fired, INDEX.inserted_words, parts_hash(word, NO_PART), ONE)
        for i in range(n_source):
            if sparse.active[INDEX.deleted_words] and fired.cliques[SOURCE, i] == UNALIGNED:
                word = listed(lists.deleted, lists, classes[1 + begin + i, WORD])
                fire(fired, INDEX.deleted_words, parts_hash(word, NO_PART), ONE)
    if sparse.active[INDEX.word_pairs]:
        for k in range(min(points.shape[0], MOST_POINTS)):
            source = classes[1 + begin + np.int64(points[k, 0]), WORD]
            target = target_class(sparse, synthetic, np.int64(words[np.int64(points[k, 1])]), WORD)
            parts = listed(lists.pair_source, lists, source), listed(lists.pair_target, lists, target)
            fire(fired, INDEX.word_pairs, parts_hash(parts[0], parts[1]), ONE)
    if sparse.active[INDEX.phrase_lengths]:
        fire(fired, INDEX.phrase_lengths, parts_hash(n_source, NO_PART), ONE)
        fire(fired, INDEX.phrase_lengths, parts_hash(NO_PART, n_target), ONE)
        fire(fired, INDEX.phrase_lengths, parts_hash(n_source, n_target), ONE)


@inner_kernel
def fire_orientation(sparse: Sparse, rule, neighbour, is_monotone: bool, fired: SparseFeatureBuffer):
    """Append the features of a `rule` (its rule_hash, uint64) and whether it is monotone to a neighbour.

    `neighbour` is WITH_PREVIOUS or WITH_NEXT: the previous or the next phrase.
    """
    if sparse.active[INDEX.rule_reordering]:
        fire(fired, INDEX.rule_reordering, jump_hash(rule, neighbour, is_monotone), ONE)


@inlined_kernel
def fire_history(
    sparse: Sparse, synthetic, previous: RuleHashes, last, before, rule: RuleHashes, is_monotone: bool, fired
):
    """Append to `fired` (SparseFeatureBuffer) the features of `rule` after the rule `previous` and target words.

    `last` and `before` (int64) are the last and the second last target word, `synthetic` the SyntheticPairs.
    `is_monotone`: whether the rule is monotone to the previous one.
    """
    if sparse.active[INDEX.rule_bigram]:
        fire(fired, INDEX.rule_bigram, combine(combine(START, np.int64(previous.rule)), np.int64(rule.rule)), ONE)
    if sparse.active[INDEX.class_reordering]:
        h = class_jump_hash(previous.source_classes, rule.source_classes, is_monotone)
        fire(fired, INDEX.class_reordering, h, ONE)
    if sparse.active[INDEX.rule_history]:
        for i in range(sparse.target_columns.size):
            column = sparse.target_columns[i]
            h = combine(combine(START, np.int64(rule.rule)), np.int64(_class_of(sparse, synthetic, last, column)))
            fire(fired, INDEX.rule_history, combine(h, np.int64(_class_of(sparse, synthetic, before, column))), ONE)


@inlined_kernel
def _class_of(sparse, synthetic, word, column):
    return sparse.begin_classes[column] if word == NO_WORD else target_class(sparse, synthetic, word, column)


@inner_kernel
def fire_pair(sparse: Sparse, pair, fired: SparseFeatureBuffer):
    """Append the features of `pair` (int64, negative if synthetic) in the phrase table, with keys of name_keys."""
    if sparse.active[PAIR_SPARSE] and pair >= 0:
        for i in range(sparse.pair_offsets[pair], sparse.pair_offsets[pair + 1]):
            k = fired.n[0]
            fired.keys[k], fired.values[k] = sparse.pair_keys[i], sparse.pair_values[i]
            fired.groups[k] = PAIR_SPARSE
            fired.n[0] = k + 1


@inner_kernel
def score_pair_alone(sparse: Sparse, scales, pair):
    """Weighted sum of the features of `pair` (int64) in the phrase table; `scales` is float64[len(GROUPS)]."""
    total = 0.0
    for i in range(sparse.pair_offsets[pair], sparse.pair_offsets[pair + 1]):
        total += find_weight(sparse.weights, sparse.pair_keys[i]) * np.float64(sparse.pair_values[i])
    return scales[PAIR_SPARSE] * total
