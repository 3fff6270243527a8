"""Counts of the words of a training text: counted, kept with the model, and what is made of them."""

import shutil
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.tables import word_counts
from phrasebeam.decoder.tables.word_counts import estimated_counts, frequent_words, word_idf
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.model_building.word_counting import counts_in
from tests.naive import word_counts as naive
from tests.naive.phrase_templates import most_frequent

pytestmark = pytest.mark.kernels
N_WORDS = 5
SENTENCES = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=6), max_size=12)
PAIRS = [("a b a c", "s t s u"), ("a", "s"), ("", "t"), ("b b b", "t t t"), ("a x", "s y"), ("only", "")]
WHOLE = [(source.split(), target.split()) for source, target in PAIRS if source and target]


@given(SENTENCES)
def test_words_are_counted_by_occurrence_and_by_sentence(sentences):
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    found = counts_in(Corpus(offsets, np.array([w for one in sentences for w in one], np.int32)), N_WORDS)
    for counts, expected in zip(found, (naive.occurrences(sentences), naive.document_frequencies(sentences))):
        assert counts.tolist() == [expected.get(word, 0) for word in range(N_WORDS)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    directory = tmp_path_factory.mktemp("trained")
    points = [" ".join(f"{i}-{i}" for i in range(min(len(s.split()), len(t.split())))) for s, t in PAIRS]
    for name, lines in zip(("source", "target", "points"), (*zip(*PAIRS), points)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    files = [directory / name for name in ("source", "target", "model")]
    config = TrainModelConfig.model_validate({"language_model": {"order": 2}})
    train_model(*files, config, directory / "points")
    return directory / "model"


def test_a_model_has_the_idf_of_its_training_text(trained):
    model = open_model(trained)
    sides = zip(model.word_idf(), (model.source, model.target), zip(*WHOLE))
    for found, vocabulary, sentences in sides:
        expected = naive.idf(sentences)
        assert {vocabulary.word(i): value for i, value in enumerate(found) if vocabulary.word(i) in expected} == (
            pytest.approx(expected)
        )
        unseen = [value for i, value in enumerate(found) if vocabulary.word(i) not in expected]
        assert unseen == pytest.approx([np.log(len(WHOLE))] * len(unseen))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_frequent_words_are_those_of_the_training_text(trained, monkeypatch, n):
    monkeypatch.setattr(word_counts, "MOST_FREQUENT", n)
    model = open_model(trained)
    found = frequent_words(model.word_counts(), model.source, model.target)
    expected = [most_frequent(naive.occurrences(sentences), n) for sentences in zip(*WHOLE)]
    assert list(map(set, found)) == expected


def test_a_model_without_counts_has_estimates(trained, tmp_path):
    older = shutil.copytree(trained, tmp_path / "older")
    shutil.rmtree(older / "word_counts")
    accept_files(older)
    model = open_model(older)
    counts = estimated_counts(model.tables.phrases, len(model.source), len(model.target))
    for side, expected in zip(model.word_counts(), counts):
        assert side.occurrences.tolist() == side.sentences.tolist() == expected.occurrences.tolist()
    for side, expected in zip(model.word_idf(), word_idf(counts, len(WHOLE))):
        assert side.tolist() == expected.tolist()
    assert model.word_idf().source.tolist() != open_model(trained).word_idf().source.tolist()


def test_files_of_counts_that_are_damaged(trained, tmp_path):
    model = shutil.copytree(trained, tmp_path / "model")
    path = model / "word_counts" / "target_sentences.npy"
    np.save(path, np.zeros(3, np.int64))
    accept_files(model)
    with pytest.raises(FormatError, match=r"target_sentences.npy: int64 of shape \(3,\)"):
        open_model(model)
    path.unlink()
    accept_files(model)
    with pytest.raises(ModelError, match=r"target_sentences.npy: missing"):
        open_model(model)


@pytest.mark.parametrize("n", [-(2**62), -1, 0, 2**62])
def test_impossible_counts_have_an_idf(trained, n):
    model = open_model(trained)
    sides = (side._replace(sentences=np.full_like(side.sentences, n)) for side in model.word_counts())
    with warnings.catch_warnings(action="error"):
        idf = word_idf(word_counts.WordCounts(*sides), len(WHOLE))
    assert all(((side >= 0) & (side <= np.log(len(WHOLE)))).all() for side in idf)
