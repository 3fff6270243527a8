"""Sufficient statistics against counting by hand, and scores against sacrebleu."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.metrics.definitions import METRICS, MetricName
from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_texts
from phrasebeam.training.metrics.metric import make_metric, sentence_gains
from phrasebeam.training.metrics.segment_errors import Accuracy, CharacterErrorRate, WordErrorRate
from phrasebeam.training.metrics.sentence_bleu import SENTENCE_BLEU, SentenceBleu
from tests.naive import bleu as naive

pytestmark = pytest.mark.kernels

# White space of sacrebleu, which is that of Python: a no-break space ends a word as well.
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "A", "dé", "x\u00a0y"]), max_size=9).map(" ".join)
CORPORA = st.integers(1, 3).flatmap(
    lambda sets: st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=sets, max_size=sets)), min_size=1, max_size=6)
)
ORACLES = {
    "bleu": lambda lowercase: BLEU(tokenize="none", force=True, lowercase=lowercase),
    "chrf": lambda lowercase: CHRF(lowercase=lowercase),
    "chrf++": lambda lowercase: CHRF(word_order=2, lowercase=lowercase),
    "ter": lambda lowercase: TER(),
    "wer": WordErrorRate,  # see test_segment_errors.py
    "cer": CharacterErrorRate,
    "accuracy": Accuracy,
}
CLOSE = dict.fromkeys(ORACLES, 1e-6) | dict.fromkeys(("ter", "wer", "cer"), 1e-5)  # mean sizes are float32


def split(corpus):
    """Texts, and references as sets of them."""
    return [text for text, _ in corpus], [list(lines) for lines in zip(*(references for _, references in corpus))]


@given(CORPORA, st.sampled_from(["closest", "shortest", "average"]))
@settings(max_examples=60)
def test_statistics_of_bleu(corpus, length):
    texts, references = split(corpus)
    found = make_metric("bleu", references, length=length).statistics(np.arange(len(texts)), texts)
    expected = [naive.statistics(text, refs, length) for text, refs in corpus]
    assert found == pytest.approx(np.array(expected, np.float32))


@given(CORPORA, st.data())
@settings(max_examples=50)
def test_texts_of_the_same_sentence_do_not_disturb_each_other(corpus, data):
    texts, references = split(corpus)
    sentences = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)), np.int64)
    others = data.draw(st.lists(TEXTS, min_size=sentences.size, max_size=sentences.size))
    found = make_metric("bleu", references).statistics(sentences, others)
    expected = [naive.statistics(text, corpus[i][1]) for i, text in zip(sentences, others)]
    assert found.tolist() == expected


def corpus_score(name, texts, references, lowercase):
    """The score that trainers compute and report."""
    metric = make_metric(name, references, lowercase)
    return metric.reported(metric.corpus_score(metric.statistics(np.arange(len(texts)), texts)))


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("name", METRICS)
@given(CORPORA)
@settings(max_examples=20)
def test_trainers_and_evaluate_score_as_sacrebleu(name, lowercase, corpus):
    texts, references = split(corpus)
    found = corpus_score(name, texts, references, lowercase)
    options = EvaluationOptions((name,), "none", lowercase)
    (evaluated,) = evaluate_texts({"system": texts}, references, options).results.values()
    assert found == pytest.approx(evaluated[0].score, rel=1e-7, abs=CLOSE[name])  # TER: above 100, too
    assert evaluated[0].score == ORACLES[name](lowercase).corpus_score(texts, references).score


@pytest.mark.parametrize(("name", "lowercase", "ignores_case"), [
    ("bleu", False, False), ("bleu", True, True), ("chrf", False, False), ("chrf", True, True),
    ("chrf++", False, False), ("chrf++", True, True), ("ter", False, True), ("ter", True, True),
    ("wer", False, False), ("wer", True, True), ("cer", False, False), ("cer", True, True),
    ("accuracy", False, False), ("accuracy", True, True),
])  # fmt: skip
def test_which_metrics_ignore_case(name, lowercase, ignores_case):
    reference = "the Cat sat on the mat ."
    perfect = corpus_score(name, [reference], [[reference]], lowercase)
    found = corpus_score(name, [reference.upper()], [[reference]], lowercase)
    assert (found == pytest.approx(perfect)) == ignores_case


def test_every_metric_has_a_name_for_settings():
    assert get_args(MetricName) == tuple(METRICS)


@given(CORPORA)
@settings(max_examples=50)
def test_sentence_bleu_is_smoothed(corpus):
    texts, references = split(corpus)
    metric = make_metric("bleu", references)
    statistics = metric.statistics(np.arange(len(texts)), texts)
    expected = [naive.smoothed(row) for row in statistics.tolist()]
    assert metric.sentence_scores(statistics) == pytest.approx(expected, abs=1e-12)
    # sacrebleu's smoothing add-k is the same, but for texts without any match and those of no words
    for text, refs, value in zip(texts, (refs for _, refs in corpus), expected):
        if value > 0:
            oracle = BLEU(tokenize="none", force=True, smooth_method="add-k", smooth_value=1)
            assert 100 * value == pytest.approx(oracle.sentence_score(text, refs).score)


@pytest.mark.parametrize(
    ("name", "twin"), [("lin-och", naive.smoothed), ("nakov", naive.nakov), ("liang", naive.liang)]
)
@given(CORPORA)
@settings(max_examples=50)
def test_smoothings_of_sentence_bleu(name, twin, corpus):
    texts, references = split(corpus)
    metric = make_metric("bleu", references)
    statistics = metric.statistics(np.arange(len(texts)), texts)
    found = sentence_gains(metric, statistics, name)
    assert found == pytest.approx([twin(row) for row in statistics.tolist()], abs=1e-12)
    assert np.all((found >= 0) & (found <= 1))
    if name == "lin-och":
        assert found.tolist() == metric.sentence_scores(statistics).tolist()


@pytest.mark.parametrize(("name", "expected"), [("nakov", np.exp(1 - 6 / 5)), ("liang", 15 / 16)])
def test_sentence_bleu_of_the_reference_itself(name, expected):
    metric = make_metric("bleu", [["a b c d e"]])
    statistics = metric.statistics(np.zeros(1, np.int64), ["a b c d e"])
    assert sentence_gains(metric, statistics, name) == pytest.approx([expected])


def test_every_sentence_bleu_has_a_name_for_settings():
    assert get_args(SentenceBleu) == tuple(SENTENCE_BLEU)


@given(st.lists(st.lists(st.integers(0, 5), min_size=10, max_size=10), min_size=1, max_size=5))
@settings(max_examples=50)
def test_bleu_of_any_sums(rows):
    for row in rows:
        row[0] += 1
    metric = make_metric("bleu", [["a"]])
    assert metric.score(np.array(rows, float)) == pytest.approx([naive.corpus(row) for row in rows], abs=1e-12)


@pytest.mark.parametrize("name", ["chrf", "chrf++", "ter"])
def test_sentence_scores_of_others_are_those_of_corpora_of_one(name):
    texts, references = ["a b c d", "b x", ""], [["a b d d", "x b y", "z"]]
    metric = make_metric(name, references)
    statistics = metric.statistics(np.arange(3), texts)
    expected = [metric.corpus_score(row[None]) for row in statistics]
    assert metric.sentence_scores(statistics).tolist() == expected
    assert all(sentence_gains(metric, statistics, smoothing).tolist() == expected for smoothing in SENTENCE_BLEU)
    assert metric.score(statistics.astype(float)).tolist() == expected


@pytest.mark.parametrize("references", [[[]], [["a"], ["a", "b"]]])
def test_references_that_do_not_match(references):
    with pytest.raises(ConfigError, match="expected the same number"):
        make_metric("bleu", references)
