"""Lexicalized reordering as a feature of the search: which orientation a phrase has, and its score.

A phrase is scored twice: by its orientation to what precedes it and, once the next phrase is known, by its orientation
to what follows. In hierarchical models the neighbours are whole blocks of phrases (Galley & Manning 2008, section 3).
The preceding block is found with a stack: each phrase is shifted and joined with the blocks that it touches. The stacks
of a search share their lower parts: each is an entry of a table that points to the entry below, so that equal stacks
have one id. The orientation to the following block is derived from the coverage, as in Moses.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.reordering import (
    ABSENT,
    BACKWARD,
    FORWARD,
    LEFT,
    MONOTONE,
    MONOTONE_TO_BLOCK,
    RIGHT,
    START_BEGIN,
    START_END,
    SWAP,
    UNSEEN,
    learned_orientation,
    ln_orientation,
    orientation,
)
from phrasebeam.decoder.features.stateful_feature import Room, StatefulFeature
from phrasebeam.decoder.input.coverage import cover, is_covered
from phrasebeam.decoder.input.synthetic_pairs import table_pair
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

NO_BLOCKS = np.int64(0)  # the empty stack, whose top is the sentence start
FULL = np.int64(-1)


class Blocks(NamedTuple):
    """Room for B stacks of blocks; the id of a stack is the index of its top."""

    size: Annotated[np.ndarray, array(np.int64, 1, fill=1)]  # number of stacks in use
    begin: Annotated[np.ndarray, array(np.int32, "B")]  # first source word of the block on top
    end: Annotated[np.ndarray, array(np.int32, "B")]  # half open
    below: Annotated[np.ndarray, array(np.int32, "B")]  # id of the stack without its top
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # hash table of ids, T a power of two >= 2 B


def new_blocks(capacity: int) -> Blocks:
    """An empty table for `capacity` stacks, a power of two."""
    blocks = allocate(Blocks, {"B": capacity, "T": 2 * capacity})
    blocks.begin[NO_BLOCKS], blocks.end[NO_BLOCKS] = START_BEGIN, START_END
    return blocks


@kernel
def forget_blocks(blocks: Blocks):
    """Remove all stacks but the empty one."""
    if blocks.size[0] > 1:
        blocks.size[0] = 1
        blocks.slots[:] = EMPTY


@inlined_kernel
def join(blocks: Blocks, top, begin, end):
    """(stack, begin, end) after joining the phrase over words begin:end with the blocks on `top` that it touches."""
    while top != NO_BLOCKS and (blocks.end[top] == begin or blocks.begin[top] == end):
        begin, end = min(begin, np.int64(blocks.begin[top])), max(end, np.int64(blocks.end[top]))
        top = np.int64(blocks.below[top])
    return top, begin, end


@kernel
def shift(blocks: Blocks, top, begin, end):
    """Id of the stack `top` (int64) after the phrase over words begin:end (int64), or FULL."""
    below, begin, end = join(blocks, top, begin, end)
    slot = first_slot(mix(combine(combine(combine(START, below), begin), end)), blocks.slots.size)
    while blocks.slots[slot] != EMPTY:
        stack = np.int64(blocks.slots[slot])
        if blocks.below[stack] == below and blocks.begin[stack] == begin and blocks.end[stack] == end:
            return stack
        slot = next_slot(slot, blocks.slots.size)
    new = blocks.size[0]
    if new == blocks.begin.size:
        return FULL
    blocks.begin[new], blocks.end[new], blocks.below[new] = begin, end, below
    blocks.slots[slot] = new
    blocks.size[0] = new + 1
    return new


@inlined_kernel
def shift_alone(blocks: Blocks, top, begin, end):
    """Id of the stack `top` (int64) after the phrase over begin:end (int64), in a table for a single derivation.

    The stacks overwrite each other and need no hash table, so that a B above the number of phrases is enough.
    """
    below, begin, end = join(blocks, top, begin, end)
    new = below + 1
    blocks.begin[new], blocks.end[new], blocks.below[new] = begin, end, below
    return new


@inlined_kernel
def orientation_of_next(orientation, first_gap, window, previous_begin, previous_end):
    """Hierarchical orientation of the block that follows the phrase over previous_begin:previous_end (int64).

    `orientation` (int64) is the orientation of the next phrase to this one, `first_gap` (int64) and `window` (uint64)
    are the coverage before the next phrase. A phrase that jumps over a gap beside the previous one is monotone or
    swapped: together with the words that will fill the gap, it is a block beside the previous phrase.
    """
    if orientation == RIGHT and previous_end >= first_gap and not is_covered(first_gap, window, previous_end):
        return MONOTONE
    if orientation == LEFT and previous_begin > first_gap and not is_covered(first_gap, window, previous_begin - 1):
        return SWAP
    return orientation


def _new_memory(tables: Any, room: Room) -> Blocks:
    return new_blocks(room.n_histories if tables.orientations.is_hierarchical else 1)


@inlined_kernel
def _to_previous(jump):
    return orientation(jump.previous_begin, jump.previous_end, jump.begin, jump.end)


@inlined_kernel
def orientation_before(space, jump):
    """The orientation of the words of `jump` (Jump) to what comes before, an index in Options.backward.

    It is MONOTONE_TO_BLOCK for a phrase that is monotone to the preceding block, but not to the last phrase. `space` is
    a SearchSpace.
    """
    backward = _to_previous(jump)
    if jump.last >= 0 and space.tables.orientations.is_hierarchical and backward != MONOTONE:
        blocks, top = space.memory.reordering, space.graph.blocks[jump.node]
        return _block_case(orientation(np.int64(blocks.begin[top]), np.int64(blocks.end[top]), jump.begin, jump.end))
    return backward


@inlined_kernel
def _score_jump(space, jump):
    """Weighted score of the last phrase for the orientation of the next phrase to it."""
    if jump.last < 0:
        return 0.0
    forward = _to_previous(jump)
    if space.tables.orientations.is_hierarchical and forward != MONOTONE:  # else monotone to the block, too
        span = jump.previous_begin, jump.previous_end
        forward = _block_case(orientation_of_next(forward, jump.first_gap, jump.window, *span))
    return space.options.forward[jump.last, forward]


@inlined_kernel
def _block_case(orientation_id):
    """The index in Options.backward or forward of an orientation to a block, if not monotone to the last phrase."""
    return MONOTONE_TO_BLOCK if orientation_id == MONOTONE else orientation_id


@inner_kernel
def fill_orientations(derivation, is_hierarchical: bool, blocks: Blocks, orientations):
    """Write the orientations of each phrase to what precedes and follows it to `orientations` (int8[K, 2]).

    The columns are those of DIRECTIONS. What follows the last phrase of the `derivation` (Derivation) has no
    orientation: UNSEEN.
    """
    previous_begin, previous_end, top = START_BEGIN, START_END, NO_BLOCKS
    first_gap, window = np.int64(0), np.uint64(0)
    for i in range(derivation.pair.size):
        begin, end = np.int64(derivation.begin[i]), np.int64(derivation.end[i])
        backward = orientation(previous_begin, previous_end, begin, end)
        forward = backward
        if is_hierarchical:
            forward = orientation_of_next(backward, first_gap, window, previous_begin, previous_end)
            backward = orientation(np.int64(blocks.begin[top]), np.int64(blocks.end[top]), begin, end)
            top = shift_alone(blocks, top, begin, end)
        orientations[i, BACKWARD], orientations[i, FORWARD] = backward, UNSEEN
        if i > 0:
            orientations[i - 1, FORWARD] = forward
        first_gap, window = cover(first_gap, window, begin, end)
        previous_begin, previous_end = begin, end


@inner_kernel
def _add_value(tables, sentence, space, phrase, features):
    """Add the scores of a phrase in the orientations that fill_orientations found."""
    pair = table_pair(sentence.synthetic, phrase.pair)
    for direction in (BACKWARD, FORWARD):
        orientation_id = np.int64(space.orientations[phrase.number, direction])
        if orientation_id != UNSEEN:
            _add_orientation(tables, pair, direction, orientation_id, space.places.reordering, features)


@inner_kernel
def _add_orientation(tables, pair, direction, orientation_id, begin, features):
    """Add the scores of a pair in an orientation to the reordering features, which start at features[begin]."""
    model, column = tables.orientations, tables.orientations.features[direction, orientation_id]
    if column != ABSENT:
        features[begin + column] += ln_orientation(tables.ln_reordering, model, pair, direction, orientation_id)
    for layer in range(model.n_learned):
        column, score = learned_orientation(tables.ln_reordering, model, pair, direction, orientation_id, layer)
        if column != ABSENT:
            features[begin + column] += score


REORDERING = StatefulFeature(
    "reordering",
    DenseFeature(
        "reordering", "log probabilities of lexicalized reordering, one for each orientation", "list", (0.3,) * 6
    ),
    _add_value,
    _score_jump,
    new_memory=_new_memory,
)
