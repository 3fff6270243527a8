"""Sparse features of how a phrase lies to the phrases before and after it (Green et al. 2013, section 3.2).

A phrase is monotone to the one before if its source words follow those of that phrase, and non-monotone otherwise; also
in models whose lexicalized reordering is hierarchical. The first phrase is monotone if it begins the sentence. The last
one has no next phrase, and no feature with it, as in lexicalized reordering.

Rule reordering is the paper's "discriminative re-ordering". Class reordering is its "POS-based re-ordering", with the
tags of the source tokens, or their classes: see Levels.class_column. There "with-next" of a phrase and "with-previous"
of the phrase after it are conjunctions of the same two sequences, so that we count them once. And we add the
orientation, which the sequences alone do not tell: the paper's feature is the sum of two of ours.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup
from phrasebeam.kernels.hashing import START, combine, mix, name_hashes
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.lm.text.vocabulary import BEGIN

if TYPE_CHECKING:
    from phrasebeam.decoder.sparse.sparse_features import Sparse

JUMPS = ("monotone_with_previous", "non_monotone_with_previous", "monotone_with_next", "non_monotone_with_next")
JUMP_HASHES = name_hashes(JUMPS)  # part of the keys
WITH_PREVIOUS, WITH_NEXT = np.int64(0), np.int64(2)  # index of the monotone one in JUMPS


@inlined_kernel
def jump_hash(rule, neighbour, is_monotone: bool):
    """uint64 hash of a `rule` (uint64, rule_hash) and its orientation; `neighbour`: WITH_PREVIOUS or WITH_NEXT."""
    jump = JUMP_HASHES[neighbour] if is_monotone else JUMP_HASHES[neighbour + 1]
    return combine(combine(START, np.int64(rule)), np.int64(jump))


@inner_kernel
def class_sequence_hash(sparse: "Sparse", classes, begin, end):
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


def _orientation(context: RuleInContext) -> str:
    return "monotone" if context.is_monotone else "non_monotone"


def _rule_names(context: RuleInContext) -> Iterator[str]:
    if context.before != BEGIN:
        yield f"{context.before},{_orientation(context)}_with_next"
    yield f"{context.rule},{_orientation(context)}_with_previous"


def _class_names(context: RuleInContext) -> Iterator[str]:
    column = context.levels.class_column
    previous, current = (
        "_".join(context.source_names(position)[column] for position in range(begin, end))
        for begin, end in ((context.previous_begin, context.previous_end), (context.begin, context.end))
    )
    yield f"{previous or BEGIN}+{current},{_orientation(context)}"


JUMP_GROUPS = (
    SparseGroup(
        "rule_reordering",
        "the phrase pair, and whether it is monotone to the phrase before; the same for the phrase after",
        "orientation",
        _rule_names,
        rate=0.1,
    ),
    SparseGroup(
        "class_reordering",
        "tags or classes of the source words of a phrase and of the phrase before, and whether it is monotone to that",
        "history",
        _class_names,
        rate=0.02,
        is_of_levels=True,
    ),
)
