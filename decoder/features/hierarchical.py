"""Hierarchical orientations: to the whole block of phrases before, or after (Galley & Manning 2008, section 3).

The block before is found by a stack: each phrase is shifted and joined with the blocks that it touches. The stacks of
a search share their lower parts: each is an entry of a table that points to the entry below, so that equal stacks have
one id. The orientation to the block after is told from the coverage, as Moses does.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.reordering import LEFT, MONOTONE, RIGHT, START_BEGIN, START_END, SWAP
from phrasebeam.decoder.input.coverage import is_covered
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, kernel

NO_BLOCKS = np.int64(0)  # the empty stack, whose top is the sentence start
FULL = np.int64(-1)


class Blocks(NamedTuple):
    """At most B stacks of blocks; the id of a stack is the index of its top."""

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
    """(stack, begin, end) after the phrase over words begin:end is joined with the blocks on `top` that it touches."""
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
    """Id of the stack `top` (int64) after the phrase over begin:end (int64), in a table with one derivation's stacks.

    They overwrite each other, without hash table, so that a B above the number of phrases is enough.
    """
    below, begin, end = join(blocks, top, begin, end)
    new = below + 1
    blocks.begin[new], blocks.end[new], blocks.below[new] = begin, end, below
    return new


@inlined_kernel
def orientation_of_next(orientation, first_gap, window, previous_begin, previous_end):
    """Hierarchical orientation of the block that follows the phrase over previous_begin:previous_end (int64).

    `orientation` (int64) is that of the next phrase to this one, `first_gap` (int64) and `window` (uint64) the coverage
    before the next phrase. A phrase that jumps over a gap beside the previous one is monotone or swapped: together with
    the words that will fill the gap, it is a block beside the previous phrase.
    """
    if orientation == RIGHT and previous_end >= first_gap and not is_covered(first_gap, window, previous_end):
        return MONOTONE
    if orientation == LEFT and previous_begin > first_gap and not is_covered(first_gap, window, previous_begin - 1):
        return SWAP
    return orientation
