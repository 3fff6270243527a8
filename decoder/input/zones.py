"""Walls and zones, which limit the reordering of a sentence as Moses' reordering constraints do.

The whole sentence counts as the first zone; each wall belongs to the innermost zone around it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, is_covered
from phrasebeam.kernels.jit import inner_kernel, kernel


class Zones(NamedTuple):
    """Z zones, of which the first is the sentence; Z = 0 if there are no walls and zones."""

    begin: np.ndarray  # int64[Z], first word
    end: np.ndarray  # int64[Z], last word + 1
    next_wall: np.ndarray  # int64[Z, n], position of the zone's first wall after each word, or n


NO_ZONES = Zones(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 0), np.int64))


def pack_zones(n_words: int, walls: Sequence[int], zones: Sequence[tuple[int, int]]) -> Zones:
    """The Zones of a sentence of `n_words` words from the walls and zones of an Input, which do not cross."""
    if not walls and not zones:
        return NO_ZONES
    spans = [(0, n_words), *zones]
    next_wall = np.full((len(spans), n_words), n_words, np.int64)
    for wall in sorted(walls, reverse=True):
        around = [i for i, (begin, end) in enumerate(spans) if i == 0 or begin < wall < end]
        innermost = min(around, key=lambda i: spans[i][1] - spans[i][0] if i else n_words + 1)
        next_wall[innermost, :wall] = wall
    begin, end = np.array(spans, np.int64).T
    return Zones(np.ascontiguousarray(begin), np.ascontiguousarray(end), next_wall)


@kernel
def obeys(zones: Zones, distortion_limit, first_gap, window, begin, end):
    """Whether walls and zones allow the free words begin:end to be translated next; `zones` is not empty.

    `first_gap` and `window` (uint64) are the coverage; `distortion_limit` is in words, negative for none. As in Moses,
    a zone that does not begin at the first gap must end within the distortion limit of it, so that the search can
    return; without a limit, within COVERAGE_WINDOW.
    """
    if begin != first_gap and zones.next_wall[0, first_gap] < end:
        return False
    reach = distortion_limit if distortion_limit >= 0 else COVERAGE_WINDOW
    for zone in range(1, zones.begin.size):
        zone_begin, zone_end = zones.begin[zone], zones.end[zone]
        first_free, n_free = _free_words(first_gap, window, zone_begin, zone_end)
        if n_free == 0:
            continue
        if end <= zone_begin or begin >= zone_end:
            if n_free < zone_end - zone_begin:
                return False
            continue
        if begin != first_gap and zone_end - first_gap > reach:
            return False
        if begin > zone_begin:
            if end > zone_end and n_free > zone_end - begin:
                return False
            if first_free < begin and zones.next_wall[zone, first_free] < end:
                return False
    return True


@inner_kernel
def _free_words(first_gap, window, begin, end):
    """(first, number) of the words begin:end that are not covered; (end, 0) if all are."""
    first, count = end, 0
    for position in range(max(begin, first_gap), end):
        if position - first_gap >= COVERAGE_WINDOW or not is_covered(first_gap, window, position):
            first = min(first, position)
            count += 1
    return first, count
