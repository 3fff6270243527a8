"""chrF and chrF++ against counting by hand and against sacrebleu, and minimum Bayes risk by them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from phrasebeam.decoder.ngrams.chrf import grams_of
from phrasebeam.decoder.output.mbr import (
    COMPARED,
    MbrSettings,
    choose_by_chrf,
    expected_chrf,
    probabilities,
    rough_chrf,
)
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.metrics.chrf import ChrfReferences
from phrasebeam.training.metrics.metric import make_metric
from tests.decoder.models import random_toy
from tests.naive import chrf as naive

pytestmark = pytest.mark.kernels

PARTS = ["a", "ab", "bab", "(a)", "'", "¿b?", "a,", "..", "e\u0301", "x\u00a0y", "😀b", "\ud800"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map(" ".join)
CORPORA = st.integers(1, 3).flatmap(
    lambda sets: st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=sets, max_size=sets)), min_size=1, max_size=5)
)


@given(TEXTS, TEXTS, st.sampled_from([("chrf", 0), ("chrf++", 2)]))
@settings(max_examples=100)
def test_statistics(text, reference, kind):
    name, word_orders = kind
    metric = make_metric(name, [[reference]])
    found = metric.statistics(np.zeros(1, np.int64), [text])
    expected = naive.statistics(text, reference, word_orders)
    assert found[0].tolist() == expected
    assert metric.sentence_scores(found)[0] == pytest.approx(naive.chrf(expected))


@given(CORPORA, st.booleans(), st.data())
@settings(max_examples=60)
def test_statistics_are_those_of_sacrebleu(corpus, lowercase, data):
    sacrebleu = CHRF(word_order=2, lowercase=lowercase)
    references = [sacrebleu._extract_reference_info([*map(sacrebleu._preprocess_segment, some)]) for _, some in corpus]
    sentences = data.draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=8))
    texts = [data.draw(TEXTS) for _ in sentences]
    counter = ChrfReferences([*zip(*(some for _, some in corpus))], 24, lowercase)
    expected = [
        sacrebleu._compute_segment_statistics(sacrebleu._preprocess_segment(text), references[i])
        for i, text in zip(sentences, texts)
    ]
    assert counter.statistics(np.array(sentences), texts).tolist() == expected


@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), st.data(), st.sampled_from([0.0, 0.3, 2.0]))
@settings(max_examples=60)
def test_expected_chrf(texts, data, scale):
    scores = data.draw(st.lists(st.floats(-20, 0), min_size=len(texts), max_size=len(texts)))
    found = expected_chrf(grams_of(texts), probabilities(np.array(scores), scale), np.arange(len(texts)))
    assert found == pytest.approx(naive.expected_chrf(texts, scores, scale), abs=1e-5)  # LEAST_PROBABILITY


@given(st.lists(TEXTS, min_size=1, max_size=40, unique=True), st.data(), st.sampled_from([0.0, 0.3, 2.0]))
@settings(max_examples=40)
def test_the_best_by_rough_gains_are_compared(texts, data, scale):
    scores = data.draw(st.lists(st.floats(-20, 0), min_size=len(texts), max_size=len(texts)))
    probability = probabilities(np.array(scores), scale)
    rough = rough_chrf(grams_of(texts), probability)
    assert rough == pytest.approx(naive.rough_chrf(texts, scores, scale), abs=1e-9)
    compared = sorted(range(len(texts)), key=lambda i: (-rough[i], i))[:COMPARED]
    gains = naive.expected_chrf(texts, scores, scale)
    chosen = choose_by_chrf(texts, probability, len(texts))
    assert chosen in compared
    assert gains[chosen] == pytest.approx(max(gains[i] for i in compared), abs=1e-5)  # LEAST_PROBABILITY


@pytest.mark.parametrize("size", [1, 5, 50])
def test_the_decoder_chooses_by_it(tmp_path, size):
    decoder = Decoder.load(random_toy(tmp_path / "toy", 3, most=3).directory, SearchSettings(stack=5))
    for line in ("a b", "c a d b", "x a"):
        listed = decoder.nbest(line, size, distinct=True)
        gains = naive.expected_chrf([one.text for one in listed], [one.score for one in listed], 0.5)
        chosen = decoder.mbr(line, MbrSettings(size=size, scale=0.5, gain="chrf++"))
        assert gains[listed.index(chosen)] == pytest.approx(max(gains), abs=1e-5)
