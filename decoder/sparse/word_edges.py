"""Word edges: combinations of what stands at the edges of a phrase pair and around it (Yu et al. 2013, section 4.1).

They are as many groups as there are kinds of them, by the sides that they combine: words of the source phrase, of the
target phrase, and of the source around. These differ in what they are worth beside dense features, so that each kind
has a scale.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.decoder.sparse.levels import Level, target_class
from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup
from phrasebeam.kernels.hashing import START, combine, mix, name_hashes
from phrasebeam.kernels.jit import inlined_kernel
from phrasebeam.lm.text.vocabulary import BEGIN, END

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
# Positions of a combination: edges of the source and of the target phrase, source words around; then two columns
# more, whether the length of the source phrase belongs to it, and its kind.
POSITIONS = ("first_source", "last_source", "first_target", "last_target", "before", "behind")
SIDES = ("source", "source", "target", "target", "context", "context")  # of each position
FIRST_SOURCE, LAST_SOURCE, FIRST_TARGET, LAST_TARGET, BEFORE, BEHIND = (np.int64(i) for i in range(len(POSITIONS)))
LENGTH, KIND = np.int64(len(POSITIONS)), np.int64(len(POSITIONS) + 1)
PART_HASHES = name_hashes([*POSITIONS, "length"])  # what keys know positions by
ABSENT = -1
BEGIN_ROW = 0  # of Sentence.classes, whose row 1 + i is word i
WITHOUT_TARGET = np.int64(1)  # edge of an empty target phrase
EMPTY_PHRASE = "-"


class WordEdges(Section):
    """Which combinations there are."""

    budget: int = Field(default=10, ge=1, description="a combination costs at most so much in all")
    most_words: int = Field(default=2, ge=1, le=6, description="words in a combination at most")
    with_length: bool = Field(default=True, description="each also together with the length of the source phrase")


def word_edges(settings: WordEdges, levels: Sequence[Level]) -> np.ndarray:
    """int8[C, 8] combinations within the budget (Yu et al. 2013, section 4.2), the smaller ones first."""
    rows = []
    for size in range(1, settings.most_words + 1):
        for positions in combinations(range(len(POSITIONS)), size):
            kind = list(KINDS.values()).index(tuple(dict.fromkeys(SIDES[position] for position in positions)))
            for chosen in product(range(len(levels)), repeat=size):
                if sum(levels[i].budget for i in chosen) > settings.budget:
                    continue
                row = [ABSENT] * len(POSITIONS)
                for position, level in zip(positions, chosen):
                    row[position] = 1 + level
                rows += [[*row, with_length, kind] for with_length in range(1 + settings.with_length)]
    return np.array(rows, np.int8).reshape(-1, len(POSITIONS) + 2)


@inlined_kernel
def part_hash(position, value):
    """uint64 hash of one part of a combination: what stands at a position, or the length at LENGTH (int64)."""
    return mix(combine(combine(START, np.int64(PART_HASHES[position])), value))


@inlined_kernel
def fill_edges(sparse, sentence, words, size, begin, end, edges):
    """part_hash at each of POSITIONS at each level into `edges` (uint64[6, 1 + L]), of begin:end as words[:size]."""
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
    """uint64 sum of the parts of a combination, in whatever order; `row` is int8[8], `length` the part of LENGTH."""
    h = START
    for position in range(LENGTH):
        column = np.int64(row[position])
        if column != ABSENT:
            h += edges[position, column]
    return h + length if row[LENGTH] else h


def _names(kind: int, one: RuleInContext) -> Iterator[str]:
    """Of the combinations of one kind."""
    if not one.combinations[kind]:
        return
    around, names, labels = [BEGIN, *one.source, END], one.levels.names, one.levels.labels
    empty = [EMPTY_PHRASE] * len(labels)
    at = [
        names("source", one.source[one.begin]),
        names("source", one.source[one.end - 1]),
        names("target", one.target[0]) if one.target else empty,
        names("target", one.target[-1]) if one.target else empty,
        names("source", around[one.begin]),
        names("source", around[one.end + 1]),
    ]
    for row in one.combinations[kind]:
        parts = [
            f"{position}.{labels[column]}={found[column]}"
            for position, found, column in zip(POSITIONS, at, row)
            if column != ABSENT
        ]
        yield ",".join(parts + [f"length={one.end - one.begin}"] * row[int(LENGTH)])


EDGE_GROUPS = tuple(
    SparseGroup(
        name,
        f"combination of words: {', '.join(SIDE_TEXTS[side] for side in sides)}",
        "rule",
        partial(_names, kind),
        rate=0.002,
        rate_name="word_edges",
        is_switch=False,
    )
    for kind, (name, sides) in enumerate(KINDS.items())
)
