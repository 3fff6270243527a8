"""The cheapest edits against recursion, and costs that are learned of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.normalization.letter_edits import PathSums, edits_of, expect_edits, learn_costs
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.tokenizers.simple_tokenizers import composed
from phrasebeam.decoder.tokenizers.spelling import OF_WORDS, Spelling
from tests.decoder.normalization.words import ALPHABET, random_costs
from tests.naive.normalization import expected_edits, least_cost

ANY_WORDS, SHORT_WORDS = st.text("abcx", max_size=6), st.text("abcx", max_size=4)


@pytest.mark.kernels
@given(st.lists(st.tuples(ANY_WORDS, ANY_WORDS), min_size=1, max_size=5), st.integers(0, 1000))
def test_edits_are_the_cheapest(pairs, seed):
    costs = random_costs(seed)
    words, forms = (ALPHABET.texts([pair[side] for pair in pairs]) for side in (0, 1))
    edits = edits_of(words, np.arange(len(pairs)), forms, costs)
    for i, pair in enumerate(pairs):
        word, form = (ALPHABET.texts([text]).letters.tolist() for text in pair)
        here = slice(edits.first[i], edits.first[i + 1])
        taken = list(zip(edits.word_letter[here].tolist(), edits.form_letter[here].tolist()))
        assert [a for a, _ in taken if a >= 0] == list(range(len(word)))
        assert [b for _, b in taken if b >= 0] == list(range(len(form)))
        assert sum(costs[word[a] if a >= 0 else 0, form[b] if b >= 0 else 0] for a, b in taken) == edits.cost[i]
        assert edits.cost[i] == least_cost(word, form, costs.tolist())


@pytest.mark.kernels
@given(st.lists(st.tuples(SHORT_WORDS, SHORT_WORDS), min_size=1, max_size=4), st.integers(0, 1000))
def test_expected_edits(pairs, seed):
    costs = random_costs(seed)
    words, forms = (ALPHABET.texts([pair[side] for pair in pairs]) for side in (0, 1))
    weights = np.random.default_rng(seed).random(len(pairs))
    counts, space = np.zeros(costs.shape), PathSums(np.empty((7, 7)), np.empty((7, 7)))
    expect_edits(words, forms, weights, costs, space, counts)
    expected = np.zeros(costs.shape)
    for pair, weight in zip(pairs, weights):
        word, form = (ALPHABET.texts([text]).letters.tolist() for text in pair)
        for edit, share in expected_edits(word, form, costs.tolist()).items():
            expected[edit] += weight * share
    assert counts == pytest.approx(expected)


def test_letters_of_another_script_find_each_other():
    pairs = [("ab", "xy"), ("ba", "yx"), ("aab", "xxy"), ("abc", "xyz"), ("cb", "zy"), ("bbc", "yyz")]
    words, forms = map(list, zip(*pairs))
    alphabet = Alphabet.of(words, forms)
    costs = learn_costs(words, forms, np.ones(len(pairs)), alphabet)
    for letter, other in zip("abc", "xyz"):
        own = costs[2 + alphabet.letters.index(letter)]
        assert own.argmin() == 2 + alphabet.letters.index(other)


def test_frequent_edits_become_cheap():
    pairs = [("vnd", "und"), ("vnder", "under"), ("vmb", "um"), ("von", "von"), ("hvt", "hut"), ("dvrch", "durch")]
    words, forms = map(list, zip(*pairs))
    alphabet = Alphabet.of(words + forms)
    costs = learn_costs(words, forms, np.ones(len(pairs)), alphabet)
    u, v, n, d = (2 + alphabet.letters.index(letter) for letter in "uvnd")
    assert costs[v, u] < costs[v, v] < costs[v, n]
    assert costs[d, d] < costs[d, 0]


@given(st.text(min_size=1, max_size=8))
def test_words_come_back_from_letters(text):
    tokens = OF_WORDS.tokens(composed(text))
    assert OF_WORDS.word(" ".join(tokens)) == composed(text)
    assert all(token and not any(one.isspace() for one in token) for token in tokens)


def test_letters_that_spaces_set_apart():
    sounds = Spelling(is_spaced=True)
    assert sounds.tokens("t͡ʃ ɛr |")[1:-1] == ["t͡ʃ", "ɛr", "&#124;"]
    assert sounds.word(" ".join(sounds.tokens("t͡ʃ ɛr |"))) == "t͡ʃ ɛr |"


def test_marks_are_letters():
    assert OF_WORDS.tokens("gaͤ|é")[1:-1] == ["g", "a", "\u0364", "&#124;", "e", "\u0301"]
