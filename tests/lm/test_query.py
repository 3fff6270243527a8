"""Queries against Katz's recursion and against KenLM, word by word and bit by bit."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ModelError
from phrasebeam.lm import query
from phrasebeam.lm.arpa import read_arpa
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.query import score_word
from tests.naive.ngrams import parse_arpa, random_arpa, score

pytestmark = pytest.mark.kernels

TOY = Path(__file__).with_name("toy.arpa")
GOLDEN = Path(__file__).with_name("toy.probing.bin")
LETTERS = st.sampled_from(["a", "b", "c", "ö"])
TEXTS = st.lists(st.lists(LETTERS, max_size=8), min_size=1, max_size=6)
SENTENCES = st.lists(LETTERS | st.sampled_from(["x", "<s>", "</s>", "<unk>"]), max_size=10)
ORDERS = st.integers(2, 6)
SEEDS = st.integers(0, 2**20)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def load(directory, text):
    """The model loaded from ARPA and from the binary that we write of it."""
    (directory / "model.arpa").write_text(text, encoding="utf-8")
    write_probing(read_arpa(directory / "model.arpa"), directory / "model.bin")
    return LanguageModel.load(directory / "model.arpa"), LanguageModel.load(directory / "model.bin")


def naive_scores(model, order, sentence, begin):
    words = ["<s>"] * begin + list(sentence) + ["</s>"]
    found = [
        score(model, words[max(0, i - order + 1) : i], words[i]) + ((words[i],) not in model or words[i] == "<unk>",)
        for i in range(begin, len(words))
    ]
    return [(float(log10_prob), length, unknown) for log10_prob, length, unknown in found]


def walk(model, words):
    """The state after each word of `words`, from no context, as (words, backoffs)."""
    context, backoffs = np.zeros(model.order - 1, np.int32), np.zeros(model.order - 1, np.float32)
    length, states = 0, []
    for word in model.word_ids(words):
        out = np.full(model.order - 1, -1, np.int32), np.full(model.order - 1, np.nan, np.float32)
        _, length, _ = score_word(model.tables, context, backoffs, length, word, *out)
        context, backoffs = out
        states.append((context[:length].tolist(), backoffs[:length].tolist()))
    return states


@settings(max_examples=60)
@given(TEXTS, ORDERS, SEEDS, SENTENCES, st.booleans())
def test_scores_are_katz(directory, texts, order, seed, sentence, begin):
    text = random_arpa(texts, order, seed)
    expected = naive_scores(parse_arpa(text), order, sentence, begin)
    for model in load(directory, text):
        assert model.full_scores(sentence, begin=begin) == expected


@settings(max_examples=60)
@given(TEXTS, ORDERS, SEEDS, st.lists(SENTENCES, min_size=1, max_size=4))
def test_texts_are_scored_one_by_one(directory, texts, order, seed, sentences):
    text = random_arpa(texts, order, seed)
    expected = [sum(one[0] for one in naive_scores(parse_arpa(text), order, words, True)) for words in sentences]
    for model in load(directory, text):
        ids = [model.word_ids([*words, "</s>"]) for words in sentences]
        first = np.cumsum([0, *map(len, ids)])
        assert model.score_texts(np.concatenate(ids), first).tolist() == expected


@settings(max_examples=60)
@given(TEXTS, ORDERS, SEEDS, SENTENCES, st.sampled_from([0.3, 1.0]))
def test_scores_are_katz_where_suffixes_are_missing(directory, texts, order, seed, sentence, drop):
    text = random_arpa(texts, order, seed, drop)
    expected = [log10_prob for log10_prob, _, _ in naive_scores(parse_arpa(text), order, sentence, True)]
    for model in load(directory, text):
        assert [log10_prob for log10_prob, _, _ in model.full_scores(sentence)] == expected


@settings(max_examples=60)
@given(TEXTS, ORDERS, SEEDS, st.sampled_from([0.0, 0.3]), SENTENCES, st.booleans(), st.booleans())
def test_scores_and_lengths_are_kenlms(kenlm, directory, texts, order, seed, drop, sentence, begin, end):
    models = load(directory, random_arpa(texts, order, seed, drop))
    expected = list(kenlm(directory / "model.bin").full_scores(" ".join(sentence), bos=begin, eos=end))
    if drop == 0:
        # KenLM has no room for many blanks in tables that it builds itself.
        assert expected == list(kenlm(directory / "model.arpa").full_scores(" ".join(sentence), bos=begin, eos=end))
    for model in models:
        assert model.full_scores(sentence, begin=begin, end=end) == expected
        total = model.score(sentence, begin=begin, end=end)
        assert total == pytest.approx(sum(log10_prob for log10_prob, _, _ in expected))


@settings(max_examples=40)
@given(TEXTS, ORDERS, SEEDS, st.lists(SENTENCES, min_size=2, max_size=6))
def test_states_are_equal_where_kenlms_are(kenlm, directory, texts, order, seed, sentences):
    ours, _ = load(directory, random_arpa(texts, order, seed))
    theirs = kenlm(directory / "model.bin")
    ours_after, theirs_after = [], []
    for sentence in sentences:
        ours_after += [words for words, _ in walk(ours, sentence)]
        state = kenlm.State()
        theirs.NullContextWrite(state)
        for word in sentence:
            after = kenlm.State()
            theirs.BaseScore(state, word, after)
            theirs_after.append(after)
            state = after
    for i in range(len(ours_after)):
        for j in range(i):
            assert (ours_after[i] == ours_after[j]) == (theirs_after[i] == theirs_after[j])


@settings(max_examples=40)
@given(TEXTS, ORDERS, SEEDS, SENTENCES.filter(len))
def test_a_state_is_what_its_last_words_give(directory, texts, order, seed, sentence):
    model, _ = load(directory, random_arpa(texts, order, seed))
    for i, state in enumerate(walk(model, sentence)):
        assert walk(model, sentence[max(0, i - order + 2) : i + 1])[-1] == state


def test_without_unknown_word_kenlms_constant_is_taken(kenlm, directory):
    lines = TOY.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "<unk>" not in line)
    text = text.replace("ngram 1=6", "ngram 1=5").replace("ngram 2=8", "ngram 2=6")
    ours, written = load(directory, text)
    expected = list(kenlm(directory / "model.arpa").full_scores("a x y a b"))
    assert expected[2][0] == -100.0
    assert ours.full_scores(["a", "x", "y", "a", "b"]) == written.full_scores(["a", "x", "y", "a", "b"]) == expected


def test_toy_by_hand():
    model = LanguageModel.load(TOY)
    # <s> a b is a 3-gram; then b backs off from "a b" (0) to "b b"; "café" from "b b" to the 2-gram.
    found = model.full_scores(["a", "b", "b", "café"])
    assert [log10_prob for log10_prob, _, _ in found] == pytest.approx([-0.2, -0.1, -0.45, -0.35 - 0.6, -0.12])
    assert [length for _, length, _ in found] == [2, 3, 2, 2, 3]
    assert model.score(["a", "b", "b", "café"]) == pytest.approx(-0.2 - 0.1 - 0.45 - 0.95 - 0.12)


def test_empty_sentence():
    model = LanguageModel.load(TOY)
    assert model.full_scores([], begin=False, end=False) == []
    assert model.score([], begin=False, end=False) == 0.0
    assert model.score([]) == pytest.approx(-0.3 - 0.9)


def test_begin_state():
    context, backoffs, length = LanguageModel.load(GOLDEN).begin_state()
    assert (context.dtype, backoffs.dtype) == (np.int32, np.float32)
    assert (context.tolist(), length) == ([1, 0], 1)
    assert backoffs[0] == np.float32(-0.3)


@pytest.mark.needs_jit
def test_kernels_compile_once_for_all_models(directory):
    for order in (2, 3, 6):
        for model in load(directory, random_arpa([["a", "b"]], order, 0)):
            model.full_scores(["a"])
    LanguageModel.load(GOLDEN).full_scores(["a"])
    assert len(query.score_words.signatures) == 1
    assert len(query.find_words.signatures) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38])
@pytest.mark.parametrize(
    ("old", "words", "found"),
    [(-0.25, ["a", "a"], "'a' after '<s> a'"), (-0.35, ["b", "b", "a"], "'a' after 'b b'")],
)
def test_numbers_that_are_none_are_told_of_where_they_are_used(tmp_path, old, words, found, value):
    old, new = (struct.pack("<f", number) for number in (old, value))
    (tmp_path / "lm.bin").write_bytes(GOLDEN.read_bytes().replace(old, new))
    model = LanguageModel.load(tmp_path / "lm.bin")
    assert model.score(["b", "café"]) < 0
    with pytest.raises(
        ModelError, match=re.escape(f"lm.bin: log10 p of {found} is {value:g}, expected a number of at most")
    ):
        model.score(words)


def test_numbers_of_an_arpa_file_that_are_too_high(tmp_path):
    (tmp_path / "lm.arpa").write_text(TOY.read_text("utf-8").replace("\ta\t-0.25", "\ta\t1e38"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"lm\.arpa: log10 p of 'word 3' after 'word 1 word 3' is 1e\+38, expected"):
        LanguageModel.load(tmp_path / "lm.arpa").score(["a", "a"])
