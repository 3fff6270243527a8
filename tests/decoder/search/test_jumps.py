"""What depends on where phrases lie, hierarchical orientations and early distortion, against lists and sets."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.features.distortion import early_distortion
from phrasebeam.decoder.features.lexical_reordering import FULL, NO_BLOCKS, forget_blocks, new_blocks, shift
from phrasebeam.decoder.features.reordering import orientation
from phrasebeam.decoder.input.coverage import cover
from tests.inner_kernels import orientation_of_next, shift_alone
from tests.naive import search as naive

pytestmark = pytest.mark.kernels


@st.composite
def phrases_in_any_order(draw):
    """Spans that cover a sentence."""
    ends = np.cumsum(draw(st.lists(st.integers(1, 9), min_size=1, max_size=7))).tolist()
    return draw(st.permutations(list(pairwise([0, *ends]))))


def top(blocks, stack):
    return int(blocks.begin[stack]), int(blocks.end[stack])


def put(blocks, stack, span):
    return shift(blocks, stack, *map(np.int64, span))


def test_the_blocks_before_every_phrase_in_every_order():
    blocks, seen = new_blocks(4096), {}
    for n in range(1, 7):
        for order in permutations(range(n)):
            stack, spans, listed = NO_BLOCKS, [], []
            for word in order:
                stack = put(blocks, stack, (word, word + 1))
                spans.append((word, word + 1))
                assert top(blocks, stack) == naive.block_before(spans)
                listed.append((word, word + 1))
                while len(listed) > 1 and naive.joined(tuple(listed[-2:])):
                    listed[-2:] = [naive.joined(tuple(listed[-2:]))]
                assert seen.setdefault(int(stack), list(listed)) == listed
    assert len(set(map(tuple, seen.values()))) == len(seen) == blocks.size[0] - 1


@given(phrases_in_any_order())
def test_one_sequence_alone(spans):
    many, one = new_blocks(16), new_blocks(8)
    stacks = NO_BLOCKS, NO_BLOCKS
    for i, span in enumerate(spans):
        stacks = put(many, stacks[0], span), shift_alone(one, stacks[1], *map(np.int64, span))
        assert top(many, stacks[0]) == top(one, stacks[1]) == naive.block_before(spans[: i + 1])


def test_a_table_of_blocks_that_is_full_and_forgets():
    blocks = new_blocks(4)
    spans = [(0, 1), (2, 3), (4, 5), (6, 7)]
    for _ in range(2):
        stack = NO_BLOCKS
        for span in spans[:3]:
            stack = put(blocks, stack, span)
        assert put(blocks, stack, spans[3]) == FULL
        assert put(blocks, NO_BLOCKS, spans[0]) == 1
        forget_blocks(blocks)


@given(phrases_in_any_order())
def test_jumps(spans):
    first_gap, window, previous = np.int64(0), np.uint64(0), (np.int64(-1), np.int64(0))
    for i, span in enumerate(spans):
        begin, end = map(np.int64, span)
        assert early_distortion(first_gap, previous[1], begin, end) == naive.early_distortion(spans[:i], span)
        if i > 0:
            which = np.int64(orientation(*previous, begin, end))
            found = orientation_of_next(which, first_gap, window, *previous)
            assert found == naive.orientation_of_next(spans[:i], span)
        first_gap, window = cover(first_gap, window, begin, end)
        previous = begin, end
