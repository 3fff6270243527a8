"""Minimum Bayes risk against BLEU counted by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.output.mbr import MbrSettings, TargetTexts, choose, expected_bleu
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.naive.mbr import expected_bleu as naive_expected_bleu
from tests.naive.mbr import sentence_bleu

pytestmark = pytest.mark.kernels

WORDS = st.lists(st.integers(0, 3), max_size=9).map(tuple)
LISTS = st.lists(WORDS, min_size=1, max_size=8, unique=True)


def flat(texts):
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return TargetTexts(np.array([word for text in texts for word in text], np.int32), offsets)


@given(LISTS, st.data(), st.sampled_from([0.0, 0.3, 1.0, 5.0]))
@settings(max_examples=100)
def test_expected_bleu(texts, data, scale):
    scores = data.draw(st.lists(st.floats(-200, 0), min_size=len(texts), max_size=len(texts)))
    expected = naive_expected_bleu(texts, scores, scale)
    assert expected_bleu(flat(texts), np.array(scores), scale) == pytest.approx(expected, abs=1e-12)
    assert expected[choose(flat(texts), np.array(scores), MbrSettings(scale=scale))] >= max(expected) - 1e-12


def test_sentence_bleu_is_that_of_moses():
    # calculate_score of moses/mbr.cpp: matches 3 of 5, (2 + 1) / (4 + 1), (1 + 1) / (3 + 1), (0 + 1) / (2 + 1);
    # brevity exp(1 - 6 / 5)
    ids = [(1, 2, 3, 4, 5), (1, 2, 3, 6, 7, 8)]
    value = (3 / 5 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert sentence_bleu(*ids) == pytest.approx(value * np.exp(1 - 6 / 5))
    assert sentence_bleu(*ids[::-1]) == pytest.approx((3 / 6 * 3 / 6 * 2 / 5 * 1 / 4) ** 0.25)
    expected = (1 + sentence_bleu(*ids)) / 2
    assert expected_bleu(flat(ids), np.zeros(2), 1.0)[0] == pytest.approx(expected)


def test_the_first_of_equals_is_chosen():
    assert choose(flat([(1, 2), (3, 4)]), np.zeros(2), MbrSettings()) == 0


@given(st.integers(0, 7), st.lists(st.sampled_from("abcdxs"), max_size=6), st.sampled_from([1, 5, 200]))
@settings(max_examples=40)
def test_the_decoder_compares_its_distinct_list(models, model, words, size):
    line, decoder = " ".join(words), Decoder.load(models[model], SearchSettings(stack=5))
    listed = decoder.nbest(line, size, distinct=True)
    for scale in (0.1, 1.0):
        texts, scores = [item.text.split() for item in listed], [item.score for item in listed]
        gains = naive_expected_bleu(texts, scores, scale)
        chosen = decoder.mbr(line, MbrSettings(size=size, scale=scale))
        assert gains[listed.index(chosen)] == pytest.approx(max(gains), abs=1e-9)
        if size == 1:
            assert chosen == decoder.translate(line)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    directory = tmp_path_factory.mktemp("toys")
    return [random_toy(directory / f"{seed}", seed, most=3).directory for seed in range(8)]
