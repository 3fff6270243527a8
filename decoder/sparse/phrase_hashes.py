"""Hashes from which the keys of sparse features are made: words at the edges of a phrase pair, its alignment, lengths.

The cliques of a phrase pair are the parts of its alignment that are not linked with each other; a clique is identified
by its first source position.
"""

import numpy as np

from phrasebeam.decoder.sparse.feature_names import LONGEST_SHAPE
from phrasebeam.decoder.sparse.levels import ABSENT, LENGTH, POSITIONS, WORD
from phrasebeam.decoder.sparse.sparse_features import ListedWords, PairPoints, Sparse, target_class
from phrasebeam.kernels.hashing import START, combine, mix, name_hashes
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

FIRST_SOURCE, LAST_SOURCE, FIRST_TARGET, LAST_TARGET, BEFORE, BEHIND = (np.int64(i) for i in range(len(POSITIONS)))
PART_HASHES = name_hashes([*POSITIONS, "length"])  # part of the keys of word edges
BEGIN_ROW = 0  # row of <s> in Sentence.classes; row 1 + i is word i
WITHOUT_TARGET = np.int64(1)  # edge of an empty target phrase
SOURCE, TARGET = np.int64(0), np.int64(1)  # rows of cliques
UNALIGNED = np.int64(-1)  # replaces the clique of a word
SIDE_HASHES = name_hashes(["source", "target"])  # part of the keys of phrase_alignment
ABSENT_CLIQUE = np.uint64(0)  # replaces a hash
END_OF_SIDE = np.int64(2)  # ends a side in the hash of a shape; 0 and 1 are runs
JUMPS = ("monotone_with_previous", "non_monotone_with_previous", "monotone_with_next", "non_monotone_with_next")
JUMP_HASHES = name_hashes(JUMPS)  # part of the keys of rule_reordering
WITH_PREVIOUS, WITH_NEXT = np.int64(0), np.int64(2)  # index of the monotone variant in JUMPS
NO_PART = np.int64(-1)  # replaces the second word, or a length


@inlined_kernel
def feature_key(h, group_hash):
    """uint64 key of the feature with the hash `h` (uint64) within a group, whose hash is `group_hash` (uint64)."""
    return mix(combine(h, np.int64(group_hash))) | np.uint64(1)


@inlined_kernel
def part_hash(position, value):
    """uint64 hash of a part of a combination: `value` (int64) is a class at a position, or the length at LENGTH."""
    return mix(combine(combine(START, np.int64(PART_HASHES[position])), value))


@inlined_kernel
def fill_edges(sparse: Sparse, sentence, words, size, begin, end, edges):
    """Write part_hash of each of POSITIONS at each level to `edges` (uint64[6, 1 + L]).

    The phrase pair is words begin:end of `sentence` (Sentence) with the target ids words[:size] (int32[W]).
    """
    fill_source_edges(sentence.classes, begin, end, edges)
    fill_target_edges(sparse, sentence.synthetic, words, size, edges)


@inlined_kernel
def fill_source_edges(classes, begin, end, edges):
    """Write the rows of `edges` (uint64[6, 1 + L], see fill_edges) that depend only on the source words begin:end.

    `classes` (uint64[n + 2, 1 + L]) are those of the Sentence.
    """
    for column in range(edges.shape[1]):
        edges[FIRST_SOURCE, column] = part_hash(FIRST_SOURCE, np.int64(classes[1 + begin, column]))
        edges[LAST_SOURCE, column] = part_hash(LAST_SOURCE, np.int64(classes[end, column]))
        edges[BEFORE, column] = part_hash(BEFORE, np.int64(classes[BEGIN_ROW + begin, column]))
        edges[BEHIND, column] = part_hash(BEHIND, np.int64(classes[1 + end, column]))


@inlined_kernel
def fill_target_edges(sparse: Sparse, synthetic, words, size, edges):
    """Write the rows of `edges` (uint64[6, 1 + L], see fill_edges) for the target ids words[:size] (int32[W]).

    `synthetic` (SyntheticPairs) is that of the Sentence.
    """
    for column in range(edges.shape[1]):
        first, last = WITHOUT_TARGET, WITHOUT_TARGET
        if size > 0:
            first = np.int64(target_class(sparse, synthetic, np.int64(words[0]), column))
            last = np.int64(target_class(sparse, synthetic, np.int64(words[size - 1]), column))
        edges[FIRST_TARGET, column] = part_hash(FIRST_TARGET, first)
        edges[LAST_TARGET, column] = part_hash(LAST_TARGET, last)


@inlined_kernel
def combination_hash(row, edges, length):
    """uint64 hash of the combination `row` (int8[8]): the sum of its parts in `edges` (uint64[6, 1 + L]).

    `length` (uint64) is the part_hash of LENGTH.
    """
    return add_target_parts(row, edges, source_parts(row, edges, length))


@inlined_kernel
def source_parts(row, edges, length):
    """The part of combination_hash (uint64) of `row` (int8[8]) that does not depend on the target phrase.

    `edges` (uint64[6, 1 + L]) and `length` (uint64) are as in combination_hash.
    """
    h = START + length if row[LENGTH] else START
    for position in (FIRST_SOURCE, LAST_SOURCE, BEFORE, BEHIND):
        column = np.int64(row[position])
        if column != ABSENT:
            h += edges[position, column]
    return h


@inlined_kernel
def add_target_parts(row, edges, h):
    """The combination_hash (uint64) of `row` (int8[8]), whose source_parts are `h` (uint64).

    `edges`: uint64[6, 1 + L].
    """
    for position in (FIRST_TARGET, LAST_TARGET):
        column = np.int64(row[position])
        if column != ABSENT:
            h += edges[position, column]
    return h


@inlined_kernel
def original_pair(origin, pair):
    """Number of `pair` (int64) in the model's phrase table; `origin` (int64[P]) is that of PairPoints."""
    return origin[pair] if origin.size > 0 else pair


@inlined_kernel
def point_range(points: PairPoints, synthetic, pair):
    """(first, last) of the alignment points of `pair` (int64) in `points`; for a negative pair in `synthetic`."""
    if pair < 0:
        number = -1 - pair
        return synthetic.alignment_offsets[number], synthetic.alignment_offsets[number + 1]
    original = original_pair(points.origin, pair)
    return points.offsets[original], points.offsets[original + 1]


@inlined_kernel
def fill_cliques(points, n_source, n_target, cliques):
    """Write the clique of each word to `cliques` (int64[2, W]): its first source position, or UNALIGNED.

    `points` is uint8[K, 2], of a pair with at least `n_source` source and `n_target` target words (int64).
    """
    cliques[SOURCE, :n_source], cliques[TARGET, :n_target] = UNALIGNED, UNALIGNED
    for k in range(points.shape[0]):
        i, j = np.int64(points[k, 0]), np.int64(points[k, 1])
        cliques[SOURCE, i], cliques[TARGET, j] = i, i
    has_changed = True
    while has_changed:
        has_changed = False
        for k in range(points.shape[0]):
            i, j = np.int64(points[k, 0]), np.int64(points[k, 1])
            first = min(cliques[SOURCE, i], cliques[TARGET, j])
            if cliques[SOURCE, i] != first or cliques[TARGET, j] != first:
                cliques[SOURCE, i], cliques[TARGET, j] = first, first
                has_changed = True


@inlined_kernel
def is_crossing(points):
    """Whether two of the `points` (uint8[K, 2]) cross: their target words are not in the order of the source words."""
    for k in range(points.shape[0]):
        for other in range(points.shape[0]):
            if points[k, 0] < points[other, 0] and points[k, 1] > points[other, 1]:
                return True
    return False


@inlined_kernel
def bigram_hash(first, second):
    """uint64 hash of two neighbouring words with the hashes `first` and `second` (uint64)."""
    return combine(combine(START, np.int64(first)), np.int64(second))


@inlined_kernel
def shape_hash(points, n_source, n_target, cliques):
    """uint64 hash of the shape of a phrase pair of `n_source` and `n_target` words (int64).

    `points` is uint8[K, 2]; fill_cliques has filled `cliques` (int64[2, W]).
    """
    h = combine(combine(START, min(n_source, LONGEST_SHAPE)), min(n_target, LONGEST_SHAPE))
    h = _add_runs(h, cliques[SOURCE, :n_source])
    h = _add_runs(h, cliques[TARGET, :n_target])
    return combine(h, np.int64(is_crossing(points)))


@inlined_kernel
def _add_runs(h, cliques):
    """uint64 hash of `h` (uint64) followed by the runs of aligned and unaligned words in `cliques` (int64[n]).

    The hash is mixed after each, since `combine` alone does not distinguish all orders of small values.
    """
    for i in range(cliques.size):
        is_aligned = cliques[i] != UNALIGNED
        if i == 0 or is_aligned != (cliques[i - 1] != UNALIGNED):
            h = mix(combine(h, np.int64(is_aligned)))
    return mix(combine(h, END_OF_SIDE))


@inlined_kernel
def clique_hash(sparse: Sparse, sentence, words, size, begin, end, clique, cliques):
    """uint64 hash of the words of a `clique` (int64, its first source position): sum of their hashes; or ABSENT_CLIQUE.

    The phrase pair is words begin:end of `sentence` (Sentence) with the target ids words[:size] (int32[W]);
    fill_cliques has filled `cliques` (int64[2, W]).
    """
    if cliques[SOURCE, clique] != clique:
        return ABSENT_CLIQUE
    h = START
    for i in range(end - begin):
        if cliques[SOURCE, i] == clique:
            h += _side_hash(SOURCE, sentence.classes[1 + begin + i, WORD])
    for j in range(size):
        if cliques[TARGET, j] == clique:
            h += _side_hash(TARGET, target_class(sparse, sentence.synthetic, np.int64(words[j]), WORD))
    return h


@inlined_kernel
def _side_hash(side, word):
    """uint64 hash of a word with the hash `word` (uint64) as part of a clique."""
    return mix(combine(combine(START, np.int64(SIDE_HASHES[side])), np.int64(word)))


@inlined_kernel
def is_deleted(sparse: Sparse, points, words, position):
    """Whether the source word at `position` (int64) in the phrase is aligned with no words or only frequent words.

    `points` (uint8[K, 2]) are those of the pair, `words` (int32[W]) its target ids.
    """
    for k in range(points.shape[0]):
        if np.int64(points[k, 0]) == position:
            word = np.int64(words[np.int64(points[k, 1])])
            if word >= sparse.is_frequent.size or not sparse.is_frequent[word]:
                return False
    return True


@inlined_kernel
def jump_hash(rule, neighbour, is_monotone: bool):
    """uint64 hash of a `rule` (uint64, rule_hash) and its orientation; `neighbour`: WITH_PREVIOUS or WITH_NEXT."""
    jump = JUMP_HASHES[neighbour] if is_monotone else JUMP_HASHES[neighbour + 1]
    return combine(combine(START, np.int64(rule)), np.int64(jump))


@inner_kernel
def class_sequence_hash(sparse: Sparse, classes, begin, end):
    """uint64 hash of the classes of the source words begin:end; `classes` (uint64[n + 2, 1 + L]): of the Sentence."""
    h = START
    for i in range(begin, end):
        h = combine(h, np.int64(classes[1 + i, sparse.class_column]))
    return mix(h)


@inlined_kernel
def class_jump_hash(previous, current, is_monotone: bool):
    """uint64 hash of the hashes `previous` and `current` (uint64) of two class sequences and of the orientation."""
    h = combine(combine(START, np.int64(previous)), np.int64(current))
    return combine(h, np.int64(1) if is_monotone else np.int64(0))


@inlined_kernel
def parts_hash(first, second):
    """uint64 hash of a feature of two parts, `first` and `second` (int64): hashes of words, or lengths; or NO_PART."""
    return combine(combine(START, first), second)


@inlined_kernel
def listed(hashes, lists: ListedWords, word):
    """int64: the hash `word` (uint64), or that of OTHER if `hashes` (uint64[N], one of `lists`) lacks it."""
    first, last = 0, hashes.size
    while first < last:
        middle = (first + last) // 2
        if hashes[middle] < word:
            first = middle + 1
        else:
            last = middle
    is_listed = hashes.size == 0 or (first < hashes.size and hashes[first] == word)
    return np.int64(word) if is_listed else np.int64(lists.other[0])


@kernel
def fill_part_keys(group_hash, first: np.ndarray, second: np.ndarray, keys: np.ndarray):
    """Write the keys (uint64[N]) of the features with the parts `first` and `second` (int64[N]), see parts_hash.

    `group_hash` (uint64) is the group's in GROUP_HASHES.
    """
    for i in range(keys.size):
        keys[i] = feature_key(parts_hash(first[i], second[i]), group_hash)
