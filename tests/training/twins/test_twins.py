"""Sentence pairs that repeat others: against dictionaries, and on texts with masked words."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from phrasebeam.base.errors import FormatError
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.twins import twins as module
from phrasebeam.training.twins.twins import MOST_OCCURRENCES, N_COMPARED, find_twins, twins_of_files
from tests.naive import twins as naive

pytestmark = pytest.mark.kernels

sentences = st.lists(st.integers(0, 3), max_size=6)
bitexts = st.lists(st.tuples(sentences, sentences), max_size=25)


def corpus(all_words):
    offsets = np.cumsum([0, *map(len, all_words)], dtype=np.int64)
    return Corpus(offsets, np.array([word for words in all_words for word in words], np.int32))


@settings(max_examples=200)
@given(bitexts, st.sampled_from([0.01, 0.5, 0.55, 0.75, 1.0]))
def test_agrees_with_dictionaries(pairs, share):
    found = find_twins(*(corpus([pair[side] for pair in pairs]) for side in (0, 1)), share)
    first, is_equal = naive.find_twins(pairs, share, MOST_OCCURRENCES, N_COMPARED)
    assert found.first.tolist() == first
    assert found.is_equal.tolist() == is_equal
    assert found.repeats.tolist() == [number >= 0 for number in first]
    assert found.involved.tolist() == [first[i] >= 0 or i in first for i in range(len(first))]


def text(seed, n_lines, n_words=3000):
    """Sentences of 10 to 20 words, which occur as in texts: the k-th word as often as 1 / k."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, n_words + 1)
    return [rng.choice(n_words, rng.integers(10, 21), p=shares / shares.sum()).tolist() for _ in range(n_lines)]


def test_pairs_with_masked_words():
    """A fifth of the words of each second pair is masked, other pairs have nothing in common."""
    rng = np.random.default_rng(3)
    plain = [text(1, 300), text(2, 300)]
    masked = [[[5000 if rng.random() < 1 / 5 else word for word in words] for words in side] for side in plain]
    order = rng.permutation(300)
    sides = [corpus([*plain[side], *(masked[side][i] for i in order)]) for side in (0, 1)]
    found = find_twins(*sides, 0.55)
    assert (found.first[:300] == -1).all()
    agree = found.first[300:] == order
    assert agree.mean() > 0.85
    assert (agree | (found.first[300:] == -1)).all()


def test_one_side_alone_is_no_twin():
    source = corpus([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]])
    target = corpus([[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4]])
    assert find_twins(source, target, 0.55).first.tolist() == [-1, -1, 0]


def test_files(tmp_path):
    (tmp_path / "source").write_text("a b c d\n\na b c e\n")
    (tmp_path / "target").write_text("A B C D\nX\nA B C D\n")
    assert twins_of_files(tmp_path / "source", tmp_path / "target", 0.55).first.tolist() == [-1, -1, 0]
    (tmp_path / "target").write_text("A B C D\n")
    with pytest.raises(FormatError, match=r"target: 1 lines, but .*source has 3; each line must match"):
        twins_of_files(tmp_path / "source", tmp_path / "target", 0.55)


@pytest.mark.needs_jit
def test_kernels_are_compiled_once():
    find_twins(corpus([[1, 2]]), corpus([[1]]), 0.5)
    kernels = module._count_bigrams, module._count_rare, module._find_twins
    assert [len(kernel.signatures) for kernel in kernels] == [1, 1, 1]
