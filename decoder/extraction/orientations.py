"""Orientations of extracted phrase pairs to the preceding and following phrases: monotone, swap or discontinuous.

There are three models: they decide by the links of the adjacent target word (WORD, Koehn et al. 2005), by the phrase
pairs extracted there (PHRASE, Tillmann 2004), or by all consistent pairs of spans, however long (HIER, Galley and
Manning 2008). The rules are those of Moses' `extract` when it is run for one model.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.extraction.occurrences import PACKED, source_length, target_length, with_orientations
from phrasebeam.decoder.extraction.pairs import LONGEST_PAIR, AlignedBitext
from phrasebeam.decoder.features.reordering import LEFT, MONOTONE, RIGHT, SWAP
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

WORD, PHRASE, HIER = 0, 1, 2
PREVIOUS, FOLLOWING = np.int64(0), np.int64(1)  # the phrase to which an orientation refers
KINDS = {"word": WORD, "phrase": PHRASE, "hier": HIER}


class Corners(NamedTuple):
    """Source spans of the blocks of one sentence pair with F source words, by their last target word."""

    linked: Annotated[np.ndarray, array(np.uint8, "T", "S")]  # 1 if target and source word are linked
    # 1 if a block with this last target word has this last source word
    ends: Annotated[np.ndarray, array(np.uint8, "T", "S")]
    # 1 if a block with this last target word has this first source word
    begins: Annotated[np.ndarray, array(np.uint8, "T", "S")]
    # Least source position of `ends` (WORD: of `linked`), or F
    first_end: Annotated[np.ndarray, array(np.int64, "T")]
    # Greatest source position of `begins` (WORD: of `linked`), or -1
    last_begin: Annotated[np.ndarray, array(np.int64, "T")]


def new_corners(bitext) -> Corners:
    """Allocate Corners for the longest sentences of an AlignedBitext that have phrase pairs."""
    n_source, n_target = (
        min(int(np.diff(offsets).max(initial=0)), int(LONGEST_PAIR))
        for offsets in (bitext.source_offsets, bitext.target_offsets)
    )
    return allocate(Corners, {"T": n_target, "S": n_source})


@inner_kernel
def orient(bitext: AlignedBitext, i, kind, corners: Corners, occurrences):
    """Add orientations to the `occurrences` (int32[K, 4], see extract_pair) of sentence pair i; overwrites `corners`.

    `kind` is WORD, PHRASE or HIER. The last column gets orientation to the previous phrase << 16 | to the next << 18.
    """
    if occurrences.shape[0] == 0:  # pairs that are too long for `corners` have none
        return
    size = (
        bitext.source_offsets[i + 1] - bitext.source_offsets[i],
        bitext.target_offsets[i + 1] - bitext.target_offsets[i],
    )
    _find_links(bitext, i, kind, corners, size)
    if kind == PHRASE:
        for k in range(occurrences.shape[0]):
            first, last, row = _span(occurrences[k])
            _mark(corners, size, row, (first, first, last, last))
    elif kind == HIER:
        _find_blocks(bitext, i, corners, size)
    for k in range(occurrences.shape[0]):
        first, last, row = _span(occurrences[k])
        previous = _orientation(kind, corners, size, (first, last, np.int64(occurrences[k, 2]) - 1), PREVIOUS)
        following = _orientation(kind, corners, size, (first, last, row + 1), FOLLOWING)
        occurrences[k, PACKED] = with_orientations(occurrences[k], previous, following)


@inlined_kernel
def _span(occurrence):
    """(first source word, last source word, last target word) of an occurrence."""
    first, begin = np.int64(occurrence[1]), np.int64(occurrence[2])
    return first, first + source_length(occurrence) - 1, begin + target_length(occurrence) - 1


@inner_kernel
def _find_links(bitext, i, kind, corners, size):
    """Clear `corners` and fill in the links; `size` has the numbers of (source, target) words."""
    n_source, n_target = size
    for t in range(n_target):
        for s in range(n_source):
            corners.linked[t, s] = 0
            corners.ends[t, s] = 0
            corners.begins[t, s] = 0
        corners.first_end[t] = n_source
        corners.last_begin[t] = -1
        token = bitext.target_offsets[i] + t
        for k in range(bitext.target_links[token], bitext.target_links[token + 1]):
            linked = np.int64(bitext.links[k, 0])
            corners.linked[t, linked] = 1
            if kind == WORD:
                corners.first_end[t] = min(corners.first_end[t], linked)
                corners.last_begin[t] = max(corners.last_begin[t], linked)


@inner_kernel
def _mark(corners, size, row, spans):
    """Mark blocks with last target word `row`, which begin at spans[0]..spans[1] and end at spans[2]..spans[3]."""
    for s in range(spans[0], spans[1] + 1):
        corners.begins[row, s] = 1
        if s < size[0] - 1:  # Moses searches distant blocks only up to the last source word but one
            corners.last_begin[row] = max(corners.last_begin[row], s)
    for s in range(spans[2], spans[3] + 1):
        corners.ends[row, s] = 1
    corners.first_end[row] = min(corners.first_end[row], spans[2])


@inner_kernel
def _find_blocks(bitext, i, corners, size):
    """Mark the corners of all consistent pairs of spans, however long, in O(T^2) for T target words."""
    n_source, n_target = size
    target_begin, source_begin = bitext.target_offsets[i], bitext.source_offsets[i]
    source_links, target_links = bitext.source_links, bitext.target_links
    for end in range(n_target):
        low, high = n_source, np.int64(-1)
        for begin in range(end, -1, -1):
            for k in range(target_links[target_begin + begin], target_links[target_begin + begin + 1]):
                low = min(low, np.int64(bitext.links[k, 0]))
                high = max(high, np.int64(bitext.links[k, 0]))
            inside = target_links[target_begin + end + 1] - target_links[target_begin + begin]
            if inside == 0:
                continue
            if source_links[source_begin + high + 1] - source_links[source_begin + low] != inside:
                continue
            first, last = low, high
            while first > 0 and source_links[source_begin + first - 1] == source_links[source_begin + low]:
                first -= 1
            while (
                last < n_source - 1 and source_links[source_begin + last + 2] == source_links[source_begin + high + 1]
            ):
                last += 1
            _mark(corners, size, end, (first, low, high, last))


@inner_kernel
def _orientation(kind, corners, size, position, neighbour):
    """Orientation of source words first..last to the blocks at target word `row`; `position` is (first, last, row).

    The PREVIOUS phrase is monotone on the left, the FOLLOWING one on the right. As in Moses, blocks *end* at the target
    word in both cases.
    """
    first, last, row = position
    left_link, right_link = _linked(corners, size, first - 1, row), _linked(corners, size, last + 1, row)
    left_block, right_block, far_left, far_right = False, False, False, False
    if 0 <= row < size[1]:
        left_block = first > 0 and corners.ends[row, first - 1] == 1
        right_block = last + 1 < size[0] and corners.begins[row, last + 1] == 1
        # In the word model, a word linked on both sides is discontinuous on neither.
        may_be_far = kind != WORD or not (left_link and right_link)
        far_left = may_be_far and corners.first_end[row] <= first - 2
        far_right = may_be_far and corners.last_begin[row] >= last + 2
    if neighbour == FOLLOWING:
        left_link, right_link = right_link, left_link
        left_block, right_block = right_block, left_block
        far_left, far_right = far_right, far_left
    if (left_link and not right_link) or left_block:
        return MONOTONE
    if (right_link and not left_link) or right_block:
        return SWAP
    if far_right and not far_left:
        return LEFT
    return RIGHT


@inner_kernel
def _linked(corners, size, s, t):
    """Whether source word s and target word t are linked; begins and ends of the sentences count as linked, too."""
    if (s == -1 and t == -1) or (s == size[0] and t == size[1]):
        return True
    if s < 0 or t < 0 or s >= size[0] or t >= size[1]:
        return False
    return corners.linked[t, s] == 1
