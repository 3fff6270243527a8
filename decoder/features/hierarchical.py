"""Hierarchical orientations: to the whole block of phrases before, or after (Galley & Manning 2008, section 3).

To what comes before: a stack of blocks, made by shifting each phrase and joining it with the blocks that it touches.
A search has a great many of these stacks, whose lower parts are the same; each is an entry of a table and points to
the entry below, so that equal stacks are one number. To what comes after: by the coverage, as Moses does.
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
    """Stacks of blocks, at most B; each is known by its top."""

    size: Annotated[np.ndarray, array(np.int64, 1, fill=1)]  # how many there are
    begin: Annotated[np.ndarray, array(np.int32, "B")]  # first source word of the block on top
    end: Annotated[np.ndarray, array(np.int32, "B")]  # half open
    below: Annotated[np.ndarray, array(np.int32, "B")]  # the stack without its top
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # hash table, T a power of two >= 2 B


def new_blocks(capacity: int) -> Blocks:
    """Room for so many stacks, a power of two."""
    blocks = allocate(Blocks, {"B": capacity, "T": 2 * capacity})
    blocks.begin[NO_BLOCKS], blocks.end[NO_BLOCKS] = START_BEGIN, START_END
    return blocks


@kernel
def forget_blocks(blocks):
    """Leave the empty stack alone."""
    if blocks.size[0] > 1:
        blocks.size[0] = 1
        blocks.slots[:] = EMPTY


@inlined_kernel
def join(blocks, top, begin, end):
    """(stack, begin, end) once the phrase over words begin:end has taken in the blocks that it touches."""
    while top != NO_BLOCKS and (blocks.end[top] == begin or blocks.begin[top] == end):
        begin, end = min(begin, np.int64(blocks.begin[top])), max(end, np.int64(blocks.end[top]))
        top = np.int64(blocks.below[top])
    return top, begin, end


@kernel
def shift(blocks, top, begin, end):
    """The stack `top` after the phrase over words begin:end, or FULL."""
    below, begin, end = join(blocks, top, begin, end)
    slot = first_slot(mix(combine(combine(combine(START, below), begin), end)), blocks.slots.size)
    while blocks.slots[slot] != EMPTY:
        known = np.int64(blocks.slots[slot])
        if blocks.below[known] == below and blocks.begin[known] == begin and blocks.end[known] == end:
            return known
        slot = next_slot(slot, blocks.slots.size)
    new = blocks.size[0]
    if new == blocks.begin.size:
        return FULL
    blocks.begin[new], blocks.end[new], blocks.below[new] = begin, end, below
    blocks.slots[slot] = new
    blocks.size[0] = new + 1
    return new


@inlined_kernel
def shift_alone(blocks, top, begin, end):
    """The same for one sequence of phrases alone, whose stacks write over each other: B > their number is enough."""
    below, begin, end = join(blocks, top, begin, end)
    new = below + 1
    blocks.begin[new], blocks.end[new], blocks.below[new] = begin, end, below
    return new


@inlined_kernel
def orientation_of_next(which, first_gap, window, previous_begin, previous_end):
    """Hierarchical orientation of what follows a phrase, from its phrase orientation `which` and the coverage so far.

    What comes next jumps over a gap beside the phrase, which will be filled before: together they touch it.
    """
    if which == RIGHT and previous_end >= first_gap and not is_covered(first_gap, window, previous_end):
        return MONOTONE
    if which == LEFT and previous_begin > first_gap and not is_covered(first_gap, window, previous_begin - 1):
        return SWAP
    return which
