"""The walk over the source words that generates a phrase pair: the operations of steps.py, and the jumps between them.

Operations are those of Durrani, Schmid & Fraser (2011, algorithm 1): a gap is opened where the walk skips words, a jump
back goes to the begin of the n-th open gap from the right, a jump forward to the position after the last generated
word. A training sentence pair is walked as one phrase. In a derivation, each phrase knows the source words that earlier
phrases have generated. Its own words without alignment are generated with it; if it begins with such words, the walk
enters it there.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, is_covered
from phrasebeam.decoder.operations.steps import ALIGNED, MOST_GAPS, NO_POSITION
from phrasebeam.kernels.jit import inlined_kernel

NAMES, POSITION, FURTHEST, GAPS, BACKS = range(5)  # indices in Walk.at
N_COUNTS = 5
GAP_NAME, FORWARD_NAME, FIRST_BACK = range(3)  # indices in `jumps`
N_JUMPS = FIRST_BACK + MOST_GAPS
MOST_NAMES = 6  # operations of one step, including the jumps before it


class Walk(NamedTuple):
    """The walk over the source words begin:end of a phrase."""

    begin: int
    end: int
    first_gap: int  # first_gap and `window`: the coverage of the preceding phrases
    window: np.uint64
    generated: np.ndarray  # bool[W], whether source word begin + i has been generated
    # int64[N_COUNTS]: number of operations; source word at which the walk stands; position after the last generated
    # word; number of opened gaps; number of jumps back
    at: np.ndarray
    names: np.ndarray  # int32 or int64[...], the operations
    jumps: np.ndarray  # like names[N_JUMPS], the names of jumps


@inlined_kernel
def furthest_of(first_gap, window):
    """The source position (int64) after the last word of a coverage, `first_gap` (int64) and `window` (uint64)."""
    position = np.int64(first_gap)
    while window != np.uint64(0):
        window >>= np.uint64(1)
        position += 1
    return position


@inlined_kernel
def is_generated_before(first_gap, window, position):
    """Whether the phrases of a coverage have generated the word at `position` (int64, at most furthest_of).

    The coverage is `first_gap` (int64) and `window` (uint64).
    """
    if position < first_gap:
        return True
    return position - first_gap < COVERAGE_WINDOW and is_covered(first_gap, window, position)


@inlined_kernel
def walk_phrase(walk: Walk, position, name, alone):
    """Write the operations of a phrase to walk.names; walk.at counts them, the gaps opened and the jumps back.

    For `position` (int[n]) and `name` of steps and `alone` of source words see OperationSteps; the walk starts at
    walk.at[POSITION].
    """
    walk.generated[: walk.end - walk.begin] = False
    walk.at[NAMES], walk.at[GAPS], walk.at[BACKS] = 0, 0, 0
    walk.at[FURTHEST] = furthest_of(walk.first_gap, walk.window)
    if alone[0] != ALIGNED:
        _jump_to(walk, np.int64(walk.begin))
        _generate_alone(walk, alone)
    for i in range(position.size):
        if position[i] != NO_POSITION:
            _jump_to(walk, walk.begin + np.int64(position[i]))
        _add_name(walk, name[i])
        if position[i] != NO_POSITION:
            _generate(walk)
            _generate_alone(walk, alone)


@inlined_kernel
def _add_name(walk, name):
    walk.names[walk.at[NAMES]] = name
    walk.at[NAMES] += 1


@inlined_kernel
def _generate(walk):
    """Mark the present word as generated, and go on to the next word."""
    walk.generated[walk.at[POSITION] - walk.begin] = True
    walk.at[POSITION] += 1
    walk.at[FURTHEST] = max(walk.at[FURTHEST], walk.at[POSITION])


@inlined_kernel
def _generate_alone(walk, alone):
    """Generate the unaligned words from the present position on."""
    while walk.begin <= walk.at[POSITION] < walk.end:
        i = walk.at[POSITION] - walk.begin
        if alone[i] == ALIGNED or walk.generated[i]:
            break
        _add_name(walk, alone[i])
        _generate(walk)


@inlined_kernel
def _is_generated(walk, position):
    if walk.begin <= position < walk.end:
        return walk.generated[position - walk.begin]
    return is_generated_before(walk.first_gap, walk.window, position)


@inlined_kernel
def _leave_gap(walk):
    """Open a gap if the word at which the walk stands will be generated later."""
    if walk.at[POSITION] < walk.at[FURTHEST] and not _is_generated(walk, walk.at[POSITION]):
        _open_gap(walk)


@inlined_kernel
def _open_gap(walk):
    _add_name(walk, walk.jumps[GAP_NAME])
    walk.at[GAPS] += 1


@inlined_kernel
def _jump_to(walk, target):
    """Go to the source word `target` (int64), which has not been generated."""
    at = walk.at
    if at[POSITION] < target:
        _leave_gap(walk)
        if at[POSITION] != at[FURTHEST]:
            _add_name(walk, walk.jumps[FORWARD_NAME])
            at[POSITION] = at[FURTHEST]
    if target < at[POSITION]:
        _leave_gap(walk)
        begin, number = _gap_of(walk, target)
        _add_name(walk, walk.jumps[FIRST_BACK + min(number, MOST_GAPS) - 1])
        at[BACKS] += 1
        at[POSITION] = begin
    if at[POSITION] < target:
        _open_gap(walk)
        at[POSITION] = target


@inlined_kernel
def _gap_of(walk, target):
    """Begin of the gap in which the word `target` lies, and its number counted from the right, from 1."""
    position, number = walk.at[FURTHEST] - 1, 0
    while True:
        while _is_generated(walk, position):
            position -= 1
        begin = position
        while begin > walk.first_gap and not _is_generated(walk, begin - 1):
            begin -= 1
        number += 1
        if begin <= target:
            return begin, number
        position = begin - 1
