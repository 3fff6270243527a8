"""Edits of TER against sacrebleu's, which are Tercom's."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_texts
from phrasebeam.training.metrics.ter import edits_of

pytestmark = pytest.mark.kernels


@st.composite
def with_moved_phrases(draw):
    """A reference, and what is left of it after phrases were moved and words replaced."""
    words = st.integers(0, draw(st.integers(1, 12)))
    reference = draw(st.lists(words, max_size=30))
    hypothesis = list(reference)
    for _ in range(draw(st.integers(0, 3))):
        begin, end = sorted(draw(st.tuples(*[st.integers(0, len(hypothesis))] * 2)))
        phrase = hypothesis[begin:end]
        del hypothesis[begin:end]
        place = draw(st.integers(0, len(hypothesis)))
        hypothesis[place:place] = phrase
    for i in draw(st.lists(st.integers(0, 40), max_size=4)):
        hypothesis[i : i + 1] = draw(st.lists(words, max_size=2))
    return hypothesis, reference


LONG = [i % 7 for i in range(50)]  # tries more shifts than there may be


@given(with_moved_phrases())
@example(([], [])).via("no words")
@example(([1] * 3, [])).via("no reference")
@example(([], [1] * 3)).via("no hypothesis")
@example((LONG[::-1], LONG)).via("the limit of shifts")
@example(([1, *range(10, 80)], [*range(10, 80), 1])).via("a word moved too far")
@example(([1, 2], list(range(120)))).via("a wider beam")
@example((list(range(60)), [59, 60])).via("a narrow one")
@settings(max_examples=200, deadline=None)
def test_edits_are_those_of_sacrebleu(texts):
    hypothesis, reference = texts
    expected, _ = translation_edit_rate([*map(str, hypothesis)], [*map(str, reference)])
    assert edits_of(np.array(hypothesis, np.int32), np.array(reference, np.int32)) == expected


def test_the_score_has_the_number_and_the_signature_of_sacrebleu():
    texts, references = ["C d A b", "x", ""], [["a b c d", "y z", "w"], ["b a d c e", "x", ""]]
    found = evaluate_texts({"one": texts}, references, EvaluationOptions(("ter",)))
    metric = TER()
    assert found.results["TER"][0].score == metric.corpus_score(texts, references).score
    assert found.signatures["TER"] == metric.get_signature().format()
