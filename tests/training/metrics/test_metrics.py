"""Sufficient statistics against counting by hand, and scores against sacrebleu."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.metrics.metrics import make_metric
from tests.naive import bleu as naive

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]

# White space of sacrebleu, which is that of Python: a no-break space ends a word as well.
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "A", "dé", "x\u00a0y"]), max_size=9).map(" ".join)
CORPORA = st.integers(1, 3).flatmap(
    lambda sets: st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=sets, max_size=sets)), min_size=1, max_size=6)
)
ORACLES = {
    "bleu": lambda lowercase: BLEU(tokenize="none", force=True, lowercase=lowercase),
    "chrf": lambda lowercase: CHRF(lowercase=lowercase),
    "ter": lambda lowercase: TER(case_sensitive=not lowercase),
}


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


@given(CORPORA, st.sampled_from(list(ORACLES)), st.booleans())
@settings(max_examples=60)
def test_corpus_scores_are_those_of_sacrebleu(corpus, name, lowercase):
    texts, references = split(corpus)
    metric = make_metric(name, references, lowercase)
    found = metric.reported(metric.corpus_score(metric.statistics(np.arange(len(texts)), texts)))
    expected = ORACLES[name](lowercase).corpus_score(texts, references).score
    assert found == pytest.approx(expected, abs=1e-5 if name == "ter" else 1e-6)  # mean reference lengths are float32


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


@given(st.lists(st.lists(st.integers(0, 5), min_size=10, max_size=10), min_size=1, max_size=5))
@settings(max_examples=50)
def test_bleu_of_any_sums(rows):
    for row in rows:
        row[0] += 1
    metric = make_metric("bleu", [["a"]])
    assert metric.score(np.array(rows, float)) == pytest.approx([naive.corpus(row) for row in rows], abs=1e-12)


@pytest.mark.parametrize("name", ["chrf", "ter"])
def test_sentence_scores_of_others_are_those_of_corpora_of_one(name):
    texts, references = ["a b c d", "b x", ""], [["a b d d", "x b y", "z"]]
    metric = make_metric(name, references)
    statistics = metric.statistics(np.arange(3), texts)
    expected = [metric.corpus_score(row[None]) for row in statistics]
    assert metric.sentence_scores(statistics).tolist() == expected
    assert metric.score(statistics.astype(float)).tolist() == expected


@pytest.mark.parametrize("references", [[[]], [["a"], ["a", "b"]]])
def test_references_that_do_not_match(references):
    with pytest.raises(ConfigError, match="expected as many"):
        make_metric("bleu", references)
