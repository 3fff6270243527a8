"""The nearest known forms, against the costs of all forms, each by recursion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.near_words import WITHIN, lexicon_of, near_forms
from tests.decoder.normalization.words import ALPHABET, WORDS, letters, random_costs
from tests.naive.normalization import nearest

pytestmark = pytest.mark.kernels
FORMS = st.lists(WORDS, max_size=12, unique=True)


@given(st.lists(WORDS, max_size=4), FORMS, st.integers(0, 5), st.integers(0, 1000))
def test_the_nearest_forms(words, forms, most, seed):
    costs = random_costs(seed)
    found = near_forms(words, lexicon_of(forms, ALPHABET), ALPHABET, costs, most)
    spelled = {form: letters(form) for form in forms}
    assert found == [nearest(letters(word), spelled, costs, WITHIN, most) for word in words]


def test_what_is_far_is_left_out():
    costs = random_costs(1) + 20.0
    costs[1:, 1:][range(len(costs) - 1), range(len(costs) - 1)] = 1.0  # of letters that stay as they are
    found = near_forms(["abc"], lexicon_of({"abc", "abca", "b"}, ALPHABET), ALPHABET, costs, 3)
    assert found == [["abc"]]
