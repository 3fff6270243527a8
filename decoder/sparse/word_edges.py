"""Word edges: combinations of the words at the edges of a phrase pair and around it (Yu et al. 2013, section 4.1).

They are one group for each combination of sides: source phrase, target phrase, and neighbours of the source phrase.
These differ in their worth beside dense features, so that each kind has a scale.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.decoder.sparse.levels import LARGEST_BUDGET, Level, target_class
from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup
from phrasebeam.kernels.hashing import START, combine, mix, name_hashes
from phrasebeam.kernels.jit import inlined_kernel

if TYPE_CHECKING:
    from phrasebeam.decoder.sparse.sparse_features import Sparse

KINDS = {
    "source_edges": ("source",),
    "target_edges": ("target",),
    "context_edges": ("context",),
    "source_target_edges": ("source", "target"),
    "source_context_edges": ("source", "context"),
    "target_context_edges": ("target", "context"),
    "all_edges": ("source", "target", "context"),
}
SIDE_TEXTS = {
    "source": "edges of the source phrase",
    "target": "edges of the target phrase",
    "context": "neighbours of the source phrase",
}
# Columns of a combination: edges of the source and of the target phrase, source words around; then LENGTH, whether the
# length of the source phrase belongs to it, and KIND, its index in KINDS
POSITIONS = ("first_source", "last_source", "first_target", "last_target", "before", "behind")
SIDES = ("source", "source", "target", "target", "context", "context")  # of each position
FIRST_SOURCE, LAST_SOURCE, FIRST_TARGET, LAST_TARGET, BEFORE, BEHIND = (np.int64(i) for i in range(len(POSITIONS)))
LENGTH, KIND = np.int64(len(POSITIONS)), np.int64(len(POSITIONS) + 1)
PART_HASHES = name_hashes([*POSITIONS, "length"])  # part of the keys
ABSENT = -1
BEGIN_ROW = 0  # of Sentence.classes, whose row 1 + i is word i
WITHOUT_TARGET = np.int64(1)  # edge of an empty target phrase
EMPTY_PHRASE = "-"


class WordEdges(Section):
    """The settings that say which combinations are features."""

    budget: int = Field(default=10, ge=1, le=LARGEST_BUDGET, description="a combination costs at most so much in all")
    most_words: int = Field(default=2, ge=1, le=6, description="words in a combination at most")
    with_length: bool = Field(default=True, description="each also together with the length of the source phrase")


def n_word_edges(settings: WordEdges, levels: Sequence[Level]) -> int:
    """The number of combinations within the budget, without making them."""
    total, n_target = 0, SIDES.count("target")
    of_target, most_words = [level for level in levels if level.has_target], settings.most_words
    for size in range(most_words + 1):
        for n_others in range(min(size, len(SIDES) - n_target) + 1):
            ways = Counter({0: 1})  # words by what they cost together
            for some in [levels] * n_others + [of_target] * (size - n_others):
                longer = Counter[int]()
                for (cost, n), level in product(ways.items(), some):
                    if cost + level.budget <= settings.budget:
                        longer[cost + level.budget] += n
                ways = longer
            total += comb(len(SIDES) - n_target, n_others) * comb(n_target, size - n_others) * ways.total()
    return (total - 1) * (1 + settings.with_length)


def word_edges(settings: WordEdges, levels: Sequence[Level]) -> np.ndarray:
    """int8[C, 8] combinations within the budget (Yu et al. 2013, section 4.2), the smaller ones first.

    Columns: the level at each of POSITIONS (from 1, or ABSENT), then LENGTH and KIND.
    """
    rows = []
    for size in range(1, settings.most_words + 1):
        for positions in combinations(range(len(POSITIONS)), size):
            kind = list(KINDS.values()).index(tuple(dict.fromkeys(SIDES[position] for position in positions)))
            for chosen in product(range(len(levels)), repeat=size):
                sides = [SIDES[position] for position in positions]
                is_classed = all(side != "target" or levels[i].has_target for side, i in zip(sides, chosen))
                if not is_classed or sum(levels[i].budget for i in chosen) > settings.budget:
                    continue
                row = [ABSENT] * len(POSITIONS)
                for position, level in zip(positions, chosen):
                    row[position] = 1 + level
                rows += [[*row, with_length, kind] for with_length in range(1 + settings.with_length)]
    return np.array(rows, np.int8).reshape(-1, len(POSITIONS) + 2)


@inlined_kernel
def part_hash(position, value):
    """uint64 hash of a part of a combination: `value` (int64) is a class at a position, or the length at LENGTH."""
    return mix(combine(combine(START, np.int64(PART_HASHES[position])), value))


@inlined_kernel
def fill_edges(sparse: "Sparse", sentence, words, size, begin, end, edges):
    """Write part_hash of each of POSITIONS at each level to `edges` (uint64[6, 1 + L]).

    The phrase pair is words begin:end of `sentence` (Sentence) with the target ids words[:size] (int32[W]).
    """
    classes, synthetic = sentence.classes, sentence.synthetic
    for column in range(edges.shape[1]):
        first, last = WITHOUT_TARGET, WITHOUT_TARGET
        if size > 0:
            first = np.int64(target_class(sparse, synthetic, np.int64(words[0]), column))
            last = np.int64(target_class(sparse, synthetic, np.int64(words[size - 1]), column))
        edges[FIRST_SOURCE, column] = part_hash(FIRST_SOURCE, np.int64(classes[1 + begin, column]))
        edges[LAST_SOURCE, column] = part_hash(LAST_SOURCE, np.int64(classes[end, column]))
        edges[FIRST_TARGET, column] = part_hash(FIRST_TARGET, first)
        edges[LAST_TARGET, column] = part_hash(LAST_TARGET, last)
        edges[BEFORE, column] = part_hash(BEFORE, np.int64(classes[BEGIN_ROW + begin, column]))
        edges[BEHIND, column] = part_hash(BEHIND, np.int64(classes[1 + end, column]))


@inlined_kernel
def combination_hash(row, edges, length):
    """uint64 hash of the combination `row` (int8[8]): the sum of its parts in `edges` (uint64[6, 1 + L]).

    `length` (uint64) is the part_hash of LENGTH.
    """
    h = START
    for position in range(LENGTH):
        column = np.int64(row[position])
        if column != ABSENT:
            h += edges[position, column]
    return h + length if row[LENGTH] else h


def _names(kind: int, context: RuleInContext) -> Iterator[str]:
    """The names of the combinations of one kind."""
    if not context.combinations[kind]:
        return
    labels, begin, end = context.levels.labels, context.begin, context.end
    target = [context.levels.names("target", word) for word in (*context.target[:1], *context.target[-1:])]
    at = [
        *(context.source_names(position) for position in (begin, end - 1)),
        *(target or [[EMPTY_PHRASE] * len(labels)] * 2),
        *(context.source_names(position) for position in (begin - 1, end)),
    ]
    for row in context.combinations[kind]:
        parts = [
            f"{position}.{labels[column]}={classes[column]}"
            for position, classes, column in zip(POSITIONS, at, row)
            if column != ABSENT
        ]
        yield ",".join(parts + [f"length={end - begin}"] * row[int(LENGTH)])


EDGE_GROUPS = tuple(
    SparseGroup(
        name,
        f"combination of words: {', '.join(SIDE_TEXTS[side] for side in sides)}",
        "rule",
        partial(_names, kind),
        rate=1.0,
        rate_name="word_edges",
        is_switch=False,
        is_of_levels=True,
    )
    for kind, (name, sides) in enumerate(KINDS.items())
)
