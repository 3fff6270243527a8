"""Feature decay with its queue against scoring all sentences anew, coverage against sets, and small cases by hand."""

from importlib import import_module
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.selection import domain_ngrams, feature_decay
from phrasebeam.training.selection.config import UNLIMITED, SelectionConfig
from phrasebeam.training.selection.domain_ngrams import read_domain, read_sentences
from phrasebeam.training.selection.feature_decay import select_by_decay
from phrasebeam.training.selection.select_sentences import coverage, random_sentences
from tests import ROOT
from tests.naive import selection as naive

pytestmark = pytest.mark.kernels

words = st.lists(st.sampled_from("abcde"), max_size=7)
bitexts = st.lists(words, min_size=1, max_size=12).filter(any)
domains = st.lists(st.lists(st.sampled_from("abcx"), max_size=6), min_size=1, max_size=4).filter(any)
exponents = st.sampled_from([0.0, 0.5, 1.0, 2.0])
configs = st.builds(
    dict,
    order=st.integers(1, 4),
    decay_factor=st.sampled_from([1.0, 0.5, 0.1]),
    decay_exponent=exponents,
    idf_exponent=exponents,
    ngram_length_exponent=exponents,
    sentence_length_exponent=exponents,
)
budgets = st.builds(dict, sentences=st.integers(1, 14)) | st.builds(dict, words=st.integers(1, 60))


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("selection")


def write(path: Path, sentences):
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    return path


def read(directory, sentences, domain, order):
    """The in-domain n-grams of two files, and where they occur."""
    source = write(directory / "source", sentences)
    target = write(directory / "target", ["t"] * len(sentences))
    middle = len(domain) // 2
    paths = [write(directory / "first", domain[:middle]), write(directory / "second", domain[middle:])]
    ngrams = read_domain(paths, order)
    return ngrams, read_sentences(BitextFiles(source, [target], None), ngrams, order)


@settings(max_examples=150)
@given(bitexts, domains, configs, budgets, st.sampled_from([1, 5, 1000]))
def test_same_selection(directory, sentences, domain, config, budget, batch):
    config = SelectionConfig(**config, **budget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feature_decay, "BATCH", batch)
        patch.setattr(domain_ngrams, "CHUNK", batch)
        ngrams, found = read(directory, sentences, domain, config.order)
        selected = select_by_decay(found, ngrams.lengths, config)
    expected = naive.select(sentences, domain, config, *config.budget)
    assert list(zip(selected.sentences.tolist(), selected.scores.tolist())) == expected


@given(bitexts, domains, st.integers(1, 4))
def test_ngrams_and_coverage(directory, sentences, domain, order):
    ngrams, found = read(directory, sentences, domain, order)
    expected = naive.in_domain(sentences, domain, order)
    assert found.n_words.tolist() == list(map(len, sentences))
    assert np.diff(found.offsets).tolist() == list(map(len, expected))
    numbers = dict(zip(found.ngrams.tolist(), (ngram for group in expected for ngram in group)))
    assert [numbers[i] for i in found.ngrams.tolist()] == [ngram for group in expected for ngram in group]
    assert {i: len(ngram) for i, ngram in numbers.items()} == {i: ngrams.lengths[i] for i in numbers}
    chosen = np.arange(0, len(sentences), 2)
    row = coverage(chosen, found, ngrams.lengths)
    assert row.shares == naive.coverage(sentences[::2], domain, order)
    assert (row.n_sentences, row.n_words) == (chosen.size, sum(map(len, sentences[::2])))


@given(bitexts, budgets, st.integers(0, 3))
def test_random_selections_use_the_budget(directory, sentences, budget, seed):
    _, found = read(directory, sentences, ["a"], 1)
    budget = SelectionConfig(**budget).budget
    chosen = random_sentences(found, budget, seed).tolist()
    assert chosen == random_sentences(found, budget, seed).tolist()
    possible = {index for index, sentence in enumerate(sentences) if sentence}
    assert len(set(chosen)) == len(chosen)
    assert possible.issuperset(chosen)
    assert len(chosen) <= budget.sentences
    lengths = [len(sentences[index]) for index in chosen]
    assert sum(lengths[:-1]) < budget.words
    assert set(chosen) == possible or len(chosen) == budget.sentences or sum(lengths) >= budget.words


def test_what_was_selected_gives_way_to_what_was_not(directory):
    sentences = [["a", "b"], ["a", "b"], ["c", "d"], ["x", "y"], ["a", "c"]]
    ngrams, found = read(directory, sentences, [["a", "b", "c", "d"]], 2)
    selected = select_by_decay(found, ngrams.lengths, SelectionConfig(sentences=4, idf_exponent=0))
    # Three n-grams each, of which two words are selected already; last "x y", which has none.
    assert selected.sentences.tolist() == [0, 2, 1, 4]
    assert selected.scores.tolist() == [1.5, 1.5, 0.75, (1 / 3 + 1 / 2) / 2]


def test_config_file():
    found = load_config(ROOT / "configs" / "select.yaml", SelectionConfig)
    assert found.model_fields_set == set(SelectionConfig.model_fields)
    assert found == SelectionConfig()


def test_one_budget():
    assert SelectionConfig(words=3).budget == (UNLIMITED, 3)
    for config in (SelectionConfig(), SelectionConfig(sentences=1, words=1)):
        with pytest.raises(ConfigError, match="to select; give one of the two, --sentences N or --words N"):
            _ = config.budget


@pytest.mark.needs_jit
def test_kernels_are_compiled_once(directory):
    ngrams, found = read(directory, ["abc", "ab"], ["abcd"], 3)
    selected = select_by_decay(found, ngrams.lengths, SelectionConfig(sentences=1))
    coverage(selected.sentences, found, ngrams.lengths)
    n_compiled = 0
    for name in ("domain_ngrams", "feature_decay", "select_sentences"):
        for kernel in vars(import_module(f"phrasebeam.training.selection.{name}")).values():
            signatures = getattr(kernel, "signatures", ())
            n_compiled += len(signatures)
            assert len(signatures) <= 1, (name, kernel, signatures)
    assert n_compiled > 4
