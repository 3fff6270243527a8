"""Sparse features of a phrase pair alone: bigrams, shape, aligned words, deleted content words.

Bigrams and shape are for phrase pairs what rule n-grams and rule shapes are for the rules of Simianer, Riezler & Dyer
(2012); aligned words and deleted content words are those of Green et al. (2013, section 3.2). A copied word is aligned
with its copy, a term as its markup says, usually not at all.

Content words and frequent words are those of Levels. Only the first LONGEST_PHRASE words of a side are looked at; no
phrase of a table has more.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phrasebeam.decoder.sparse.levels import WORD, target_class
from phrasebeam.decoder.sparse.phrase_alignment import (
    SOURCE,
    TARGET,
    UNALIGNED,
    cliques_of,
    is_crossing,
    shape_of,
)
from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.decoder.tables.word_counts import MOST_FREQUENT
from phrasebeam.kernels.hashing import START, combine, mix, name_hashes
from phrasebeam.kernels.jit import inlined_kernel

if TYPE_CHECKING:
    from phrasebeam.decoder.sparse.sparse_features import Sparse

LONGEST_SHAPE = 7  # longer sides have the length of this one in rule_shape
SIDE_HASHES = name_hashes(["source", "target"])  # part of the keys of phrase_alignment
ABSENT_CLIQUE = np.uint64(0)  # in place of a hash
END_OF_SIDE = np.int64(2)  # in the hash of a shape, beside 0 and 1 for runs
ALL_CLASSES = "all"  # the aggregate feature of source_deletion


def _bigram_names(side: str, context: RuleInContext) -> Iterator[str]:
    words = context.source[context.begin : context.end] if side == "source" else context.target
    for first, second in pairwise(words[:LONGEST_PHRASE]):
        yield f"{first}_{second}"


def _shape_names(context: RuleInContext) -> Iterator[str]:
    sizes = [min(size, LONGEST_PHRASE) for size in (context.end - context.begin, len(context.target))]
    lengths = "x".join(str(min(size, LONGEST_SHAPE)) for size in sizes)
    yield f"{lengths}_{shape_of(context.points, *sizes)}"


def _alignment_names(context: RuleInContext) -> Iterator[str]:
    for source, target in cliques_of(context.points):
        words = [context.source[context.begin + i] for i in source], [context.target[j] for j in target]
        yield "~".join("_".join(sorted(side)) for side in words)


def _deletion_names(context: RuleInContext) -> Iterator[str]:
    levels, begin = context.levels, context.begin
    for position in range(begin, min(context.end, begin + LONGEST_PHRASE)):
        partners = [context.target[j] for i, j in context.points if begin + i == position]
        is_content = levels.is_content(context.source[position], context.tags[position])
        if is_content and levels.frequent.target.issuperset(partners):
            yield ALL_CLASSES
            if column := levels.class_column:
                yield f"{levels.labels[column]}={context.source_names(position)[column]}"


PHRASE_GROUPS = (
    SparseGroup(
        "source_bigrams",
        "two words that follow each other in the source phrase (Simianer et al. 2012)",
        "rule",
        lambda context: _bigram_names("source", context),
        rate=0.02,
    ),
    SparseGroup(
        "target_bigrams",
        "two words that follow each other in the target phrase",
        "rule",
        lambda context: _bigram_names("target", context),
        rate=0.02,
    ),
    SparseGroup(
        "rule_shape",
        f"lengths of both sides, up to {LONGEST_SHAPE}, and runs of aligned and unaligned words; monotone or crossing",
        "rule",
        _shape_names,
        rate=0.02,
    ),
    SparseGroup(
        "phrase_alignment",
        "words of both sides that are aligned with each other, sorted (Green et al. 2013)",
        "rule",
        _alignment_names,
        rate=0.02,
    ),
    SparseGroup(
        "source_deletion",
        f"tag or class of a content word that is unaligned or aligned with none but the {MOST_FREQUENT} most frequent "
        "words; and one for all of them (Green et al. 2013)",
        "rule",
        _deletion_names,
        rate=0.02,
        is_of_levels=True,
    ),
)
MOST_OF_A_GROUP = 2 * LONGEST_PHRASE  # features of a phrase in a group: source_deletion has two for each word


@inlined_kernel
def bigram_hash(first, second):
    """uint64 hash of two neighbouring words with the hashes `first` and `second` (uint64)."""
    return combine(combine(START, np.int64(first)), np.int64(second))


@inlined_kernel
def shape_hash(points, n_source, n_target, cliques):
    """uint64 hash of the shape of a phrase pair of `n_source` and `n_target` words (int64).

    `points` is uint8[K, 2]; `cliques` (int64[2, W]) as fill_cliques has filled them.
    """
    h = combine(combine(START, min(n_source, LONGEST_SHAPE)), min(n_target, LONGEST_SHAPE))
    h = _add_runs(h, cliques[SOURCE, :n_source])
    h = _add_runs(h, cliques[TARGET, :n_target])
    return combine(h, np.int64(is_crossing(points)))


@inlined_kernel
def _add_runs(h, cliques):
    """uint64 hash of what has the hash `h` followed by the runs of aligned and unaligned words in `cliques` (int64[n]).

    Mixed after each, since `combine` alone does not tell all orders of small values apart.
    """
    for i in range(cliques.size):
        is_aligned = cliques[i] != UNALIGNED
        if i == 0 or is_aligned != (cliques[i - 1] != UNALIGNED):
            h = mix(combine(h, np.int64(is_aligned)))
    return mix(combine(h, END_OF_SIDE))


@inlined_kernel
def clique_hash(sparse: "Sparse", sentence, words, size, begin, end, clique, cliques):
    """uint64 hash of the words of a `clique` (int64, its first source position): the sum of theirs; or ABSENT_CLIQUE.

    The phrase pair is words begin:end of `sentence` (Sentence) with the target ids words[:size] (int32[W]); `cliques`
    (int64[2, W]) as fill_cliques has filled them.
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
def is_deleted(sparse: "Sparse", points, words, position):
    """Whether the source word at `position` (int64) in the phrase is aligned only with frequent words, if with any.

    `points` (uint8[K, 2]) are those of the pair, `words` (int32[W]) its target ids.
    """
    for k in range(points.shape[0]):
        if np.int64(points[k, 0]) == position:
            word = np.int64(words[np.int64(points[k, 1])])
            if word >= sparse.is_frequent.size or not sparse.is_frequent[word]:
                return False
    return True
