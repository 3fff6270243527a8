"""Walls and zones against what they mean, for any coverage."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.input.zones import NO_ZONES, obeys, pack_zones
from tests.decoder.input.test_input import random_input
from tests.naive import instructions

pytestmark = pytest.mark.kernels


@given(st.integers(0, 2**30), st.integers(-1, 8))
def test_agrees_with_the_definition(seed, distortion_limit):
    sentence = random_input(seed, {}, "exclusive", longest_sentence=10)
    zones = pack_zones(len(sentence.words), sentence.walls, sentence.zones)
    if zones is NO_ZONES:
        return
    rng = random.Random(seed)
    for _ in range(5):
        covered = [rng.random() < 0.5 for _ in sentence.words]
        if all(covered):
            continue
        gap = covered.index(False)
        window = np.uint64(sum(2 ** (i - gap) for i in range(gap, len(covered)) if covered[i]))
        for begin in range(gap, len(covered)):
            for end in range(begin + 1, len(covered) + 1):
                if any(covered[begin:end]):
                    break
                found = obeys(zones, distortion_limit, gap, window, begin, end)
                assert found == instructions.obeys(sentence, distortion_limit, covered, begin, end)


def test_zones_that_reach_beyond_the_window():
    zones = pack_zones(200, [], [(10, 150)])
    one = np.uint64(1)
    assert obeys(zones, -1, 10, np.uint64(0), 10, 11)
    assert not obeys(zones, -1, 9, np.uint64(0), 10, 11)  # the search could not return
    assert obeys(zones, -1, 100, one << np.uint64(3), 101, 103)
    assert not obeys(zones, -1, 100, one << np.uint64(60), 150, 151)


def test_nothing_to_check_where_nothing_is_asked():
    assert pack_zones(3, [], []) is NO_ZONES
