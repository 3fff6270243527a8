"""Estimated models against the definition, and properties that any language model must have."""

import random
from math import log10

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.kneser_ney import _interpolate, _place_backoffs, counts_of_counts, discounts, log10_backoffs
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing_writer import write_model
from phrasebeam.process.hints import begin_hints, end_hints
from tests.naive.kneser_ney import NaiveModel, backed_off_log10_prob
from tests.naive.kneser_ney import discounts as naive_discounts

pytestmark = pytest.mark.kernels

TINY = 1  # byte: every word its own bucket

sentences = st.lists(st.lists(st.sampled_from("abcdé"), max_size=9), min_size=1, max_size=12)
orders = st.integers(2, 8)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("estimate")


def write(directory, lines):
    path = directory / "text"
    path.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def fitting(lines, order):
    """The lines, with one that is long enough for `order`."""
    return [*lines, list("abcdabcdab")[: max(order - 2, 1)]]


def listed(model):
    """{words: (log10 p, log10 backoff)} of all orders."""
    words = model.vocabulary.words
    return {
        tuple(words[i] for i in ngram): (log10_prob, log10_backoff)
        for order in model.orders
        for ngram, log10_prob, log10_backoff in zip(
            order.words.tolist(), order.log10_prob.tolist(), order.log10_backoff.tolist()
        )
    }


def natural_text(n_lines, seed):
    """Skewed words, so that counts of counts fall and discounts come from them."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(60)]
    weights = [1 / (i + 1) for i in range(60)]
    return [rng.choices(words, weights, k=rng.randrange(1, 12)) for _ in range(n_lines)]


def assert_same_as_naive(model, naive):
    assert model.vocabulary.words == naive.words
    for n, order in enumerate(model.orders, 1):
        expected = naive.ngrams(n)
        assert order.words.dtype == np.int32 and order.words.shape == (len(expected), n)
        assert order.log10_prob.dtype == order.log10_backoff.dtype == np.float32
    found = listed(model)
    expected = {ngram: values for n in range(1, naive.order + 1) for ngram, values in naive.ngrams(n).items()}
    assert found.keys() == expected.keys()
    ngrams = list(expected)
    np.testing.assert_allclose([found[g] for g in ngrams], [expected[g] for g in ngrams], atol=2e-6)


@settings(deadline=None, max_examples=60)
@given(sentences, orders, st.sampled_from([TINY, 1 << 30]))
def test_equals_the_definition(directory, lines, order, memory_bytes):
    lines = fitting(lines, order)
    model = estimate([write(directory, lines)], order, memory_bytes, directory)
    assert_same_as_naive(model, NaiveModel(lines, order))


@st.composite
def pruned(draw):
    """An order, and a threshold for each order up to it."""
    order = draw(orders)
    return order, [0, *sorted(draw(st.lists(st.integers(0, 3), min_size=order - 1, max_size=order - 1)))]


@settings(deadline=None, max_examples=60)
@given(sentences, pruned(), st.sampled_from([TINY, 1 << 30]))
def test_pruned_models_equal_the_definition(directory, lines, pruned, memory_bytes):
    order, thresholds = pruned
    lines = fitting(lines, order)
    model = estimate([write(directory, lines)], order, memory_bytes, directory, prune=thresholds)
    assert_same_as_naive(model, NaiveModel(lines, order, thresholds))
    assert not list(directory.glob("phrasebeam-lm-*")), "scratch files are gone"


@settings(deadline=None, max_examples=30)
@given(sentences, pruned(), st.lists(st.sampled_from("abcdé"), max_size=5))
def test_pruned_models_sum_to_one(directory, lines, pruned, history):
    order, thresholds = pruned
    model = estimate([write(directory, fitting(lines, order))], order, prune=thresholds)
    ngrams, context = listed(model), tuple(history[max(0, len(history) - order + 1) :])
    predicted = [word for word in model.vocabulary.words if word != "<s>"]
    total = sum(10 ** backed_off_log10_prob(ngrams, word, context) for word in predicted)
    assert total == pytest.approx(1, abs=1e-5)


def test_the_last_threshold_is_that_of_longer_ngrams(directory):
    path = write(directory, natural_text(60, seed=2))
    assert listed(estimate(path, 4, prune=[0, 1])) == listed(estimate(path, 4, prune=[0, 1, 1, 1]))


def test_no_pruning_changes_nothing(directory):
    path = write(directory, natural_text(60, seed=2))
    assert listed(estimate(path, 4, prune=[0])) == listed(estimate(path, 4))


@pytest.mark.parametrize("thresholds", [[1], [0, 2, 1], [0, 0, 0, 1], [-1, 0]])
def test_impossible_thresholds(directory, thresholds):
    with pytest.raises(ConfigError, match=r"prune: found .*, expected at most 3 counts, 0 for words"):
        estimate(write(directory, [["a"] * 5]), 3, prune=thresholds)


@pytest.mark.parametrize("thresholds", [[0, 1], [0, 0, 2], [0, 9]])
def test_kenlm_reads_pruned_models(tmp_path, directory, kenlm, thresholds):
    lines = natural_text(150, seed=4)
    model = estimate([write(directory, lines)], 3, prune=thresholds)
    naive = NaiveModel(lines, 3, [*thresholds, thresholds[-1]][:3])
    write_model(model, tmp_path / "lm.bin", 1 << 30)
    write_model(model, tmp_path / "lm.arpa", 1 << 30)
    ours = LanguageModel.load(tmp_path / "lm.bin")
    for theirs in (kenlm(tmp_path / "lm.bin"), kenlm(tmp_path / "lm.arpa")):
        for line in lines[:20]:
            found = list(theirs.full_scores(" ".join(line)))
            assert ours.full_scores(line) == found
            words = ["<s>", *line, "</s>"]
            expected = [log10(naive.prob(w, tuple(words[max(0, i - 2) : i]))) for i, w in enumerate(words) if i]
            assert [score for score, _, _ in found] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("order", [2, 4])
def test_equals_the_definition_where_discounts_are_estimated(directory, order):
    lines = natural_text(150, seed=order)
    naive = NaiveModel(lines, order)
    assert naive.discounts[2] != [0.0, 0.5, 1.0, 1.5], "the text must give discounts of its own"
    assert_same_as_naive(estimate([write(directory, lines)], order), naive)


@settings(deadline=None, max_examples=25)
@given(sentences, orders, st.lists(st.sampled_from(["a", "b", "é", "unheard"]), max_size=5), st.booleans())
def test_sums_to_one(directory, lines, order, history, begins_sentence):
    lines = fitting(lines, order)
    model = estimate([write(directory, lines)], order)
    ngrams = listed(model)
    context = (["<s>"] if begins_sentence else []) + history
    context = tuple(context[max(0, len(context) - order + 1) :])
    predicted = [word for word in model.vocabulary.words if word != "<s>"]
    total = sum(10 ** backed_off_log10_prob(ngrams, word, context) for word in predicted)
    assert total == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("memory_bytes", [TINY, 30_000])
def test_buckets_change_nothing(directory, order, memory_bytes):
    path = write(directory, natural_text(60, seed=3))
    whole, spilled = estimate([path], order), estimate([path], order, memory_bytes, directory)
    assert whole.vocabulary.words == spilled.vocabulary.words
    for one, other in zip(whole.orders, spilled.orders):
        for field in one._fields:
            assert getattr(one, field).tobytes() == getattr(other, field).tobytes()
    assert not list(directory.glob("phrasebeam-lm-*")), "scratch files are gone"


def test_several_texts_count_as_one(tmp_path):
    lines = natural_text(20, seed=7)
    for name, part in (("a", lines[:8]), ("b", lines[8:]), ("whole", lines)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, part)
    parts = estimate([tmp_path / "a/text", tmp_path / "b/text"], 3)
    assert listed(parts) == listed(estimate([tmp_path / "whole/text"], 3))


@pytest.mark.parametrize(("text", "order"), [("a\n", 3), ("\n\n", 2), ("a b", 4), ("\na\n\n", 2)])
def test_little_text(tmp_path, text, order):
    path = tmp_path / "text"
    path.write_text(text)
    assert_same_as_naive(estimate([path], order), NaiveModel([line.split() for line in text.splitlines()], order))


@pytest.mark.parametrize(("text", "order"), [("", 2), ("\n", 3), ("a\nb\n", 4), ("a b c", 6)])
def test_too_little_text(tmp_path, text, order):
    path = tmp_path / "text"
    path.write_text(text)
    with pytest.raises(FormatError, match=f"order {order} needs a sentence of at least {order - 2} words"):
        estimate([path], order)


@pytest.mark.parametrize("classes", [None, {"a": "A", "b": "A", "c": "C"}])
def test_words_of_language_models_are_white_space(tmp_path, classes):
    (tmp_path / "text").write_text("a b\n<unk>\nb <s> c </s>\n<unk> b <unk> c\n")
    (tmp_path / "clean").write_text("a b\n\nb c\nb c\n")
    begin_hints()
    found, expected = (estimate(tmp_path / name, 2, classes=classes) for name in ("text", "clean"))
    words = "5 words that language models keep for themselves (<unk>, <s>, </s>)"
    assert end_hints() == [f"{tmp_path / 'text'}: {words} were left out, as lmplz --skip_symbols does"]
    assert found.vocabulary.words == expected.vocabulary.words
    for one, other in zip(found.orders, expected.orders):
        assert all(np.array_equal(x, y) for x, y in zip(one, other))


@pytest.mark.parametrize("order", [1, 9])
def test_impossible_orders(tmp_path, order):
    with pytest.raises(ConfigError, match="expected 2 to 8"):
        estimate([tmp_path / "text"], order)


def test_missing_text(tmp_path):
    with pytest.raises(FileNotFoundError):
        estimate(tmp_path / "text", 2)


@given(st.lists(st.integers(1, 6), max_size=40) | st.just([1] * 9 + [2] * 4 + [3] * 2 + [4]))
def test_discounts(counts):
    found = discounts(counts_of_counts(np.array(counts, np.int64)))
    np.testing.assert_allclose(found, naive_discounts(counts))


def test_backoffs_of_no_mass_are_finite():
    assert log10_backoffs(np.array([0.0, 0.1, 1.0])).tolist() == pytest.approx([-99, -1, 0])


@pytest.mark.needs_jit
def test_each_kernel_is_compiled_once(directory):
    for order in (2, 4):
        estimate([write(directory, natural_text(10, seed=1))], order, TINY)
    assert [len(kernel.signatures) for kernel in (_interpolate, _place_backoffs)] == [1, 1]
