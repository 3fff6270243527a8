"""Future cost against recursion over all ways to cut the gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.input.coverage import cover
from phrasebeam.decoder.options.future_cost import fill_future_cost, future_cost, new_future_cost
from phrasebeam.decoder.options.option_arrays import new_options
from tests.naive.search import future_cost as naive_future_cost

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

ESTIMATE = st.integers(-30, 3).map(float)


@st.composite
def sentences(draw, most_words=8):
    """Number of words, longest phrase, and for each span the estimates of its options, best first."""
    n, longest = draw(st.integers(1, most_words)), draw(st.integers(1, 4))
    places = [(begin, begin + k) for begin in range(n) for k in range(1, longest + 1) if begin + k <= n]
    return n, longest, {place: draw(st.lists(ESTIMATE, max_size=2)) for place in places}


def fill(n, longest, lists, is_counted=True):
    """The tables for a sentence whose spans have options with the estimates in `lists`."""
    options, count = new_options(n, longest, 1024, 1, 1), 0
    for begin in range(n):
        for length in range(1, longest + 1):
            options.first[begin * longest + length - 1] = count
            for estimate in lists.get((begin, begin + length), ()):
                options.estimate[count] = estimate
                count += 1
    options.first[n * longest] = count
    future = new_future_cost(n + 3)
    fill_future_cost(options, n, is_counted, future)
    return future


def estimate(future, covered):
    """The future cost of a list of booleans."""
    first_gap, window = 0, np.uint64(0)
    for position, is_covered in enumerate(covered):
        if is_covered:
            first_gap, window = cover(int(first_gap), np.uint64(window), position, position + 1)
    return future_cost(future, int(first_gap), np.uint64(window))


@given(sentences(), st.booleans(), st.data())
@settings(max_examples=60)
def test_agrees_with_recursion(sentence, is_counted, data):
    n, longest, lists = sentence
    future = fill(n, longest, lists, is_counted)
    best = {place: estimates[0] if is_counted else 0.0 for place, estimates in lists.items() if estimates}
    for _ in range(5):
        covered = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
        assert estimate(future, covered) == naive_future_cost(best, covered)


@pytest.mark.parametrize("last_covered", [0, 1, 63, 64, 70, 199])
def test_gaps_far_into_a_long_sentence(last_covered):
    lists = {(i, i + 1): [-1.0 - i] for i in range(200)}
    future = fill(200, 2, lists)
    first = max(0, last_covered - 63)
    for inner in (set(), {last_covered - 1}, set(range(first + 2, last_covered, 2))):
        gaps = set(range(first, 200)) - inner - {last_covered}
        covered = [position not in gaps for position in range(200)]
        assert estimate(future, covered) == sum(-1.0 - i for i in gaps)
