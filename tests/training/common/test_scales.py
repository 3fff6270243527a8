"""The word penalty that gives translations the length that is wanted."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common import scales
from tests.training.maxforce.maxforce_toy import make_data

WORDS = 10_000


class Lengths:
    """Development translations whose number of words is a function of the weight of the word penalty."""

    def __init__(self, decoder, n_words):
        self.decoder, self.n_words, self.seen = decoder, n_words, []

    def score(self, weights, sparse):
        n_words = round(self.n_words(weights.word_penalty))
        self.seen.append((abs(n_words - WORDS), weights.word_penalty))
        return SimpleNamespace(score=0.0, n_words=n_words)


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("scales")
    make_data(directory)
    return Decoder.load(directory / "model")


@given(st.floats(0.02, 0.4), st.floats(-0.5, 0.5), st.floats(-3.0, 1.0))
def test_finds_the_word_penalty(decoder, slope, distance, start):
    """Where ln length is linear in it, by up to forty percent a unit of weight, and at most half a unit away."""
    wanted = start + distance
    development = Lengths(decoder, lambda penalty: WORDS * math.exp(-slope * (penalty - wanted)))
    found = scales.with_length(development, Weights(word_penalty=start), None, WORDS)
    assert abs(found.n_words - WORDS) <= scales.CLOSE * WORDS
    assert len(development.seen) <= scales.TRANSLATIONS


@given(st.lists(st.integers(9_000, 11_000), min_size=scales.TRANSLATIONS, max_size=scales.TRANSLATIONS))
def test_takes_the_nearest_of_those_that_were_tried(decoder, lengths):
    left = iter(lengths)
    development = Lengths(decoder, lambda _: next(left))
    found = scales.with_length(development, Weights(), None, WORDS)
    assert (abs(found.n_words - WORDS), found.weights.word_penalty) == min(development.seen, key=lambda one: one[0])
    assert math.isfinite(found.weights.word_penalty)


def test_a_length_that_is_right_is_kept(decoder):
    development = Lengths(decoder, lambda _: WORDS)
    weights = Weights(word_penalty=-0.3)
    assert scales.with_length(development, weights, None, WORDS).weights == weights
    assert len(development.seen) == 1
