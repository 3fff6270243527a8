"""N-best lists against full enumeration."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.output import nbest
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import REORDERINGS, SOURCE, random_lm, random_toy, toy_name, write_model
from tests.naive.search import derivations, features

pytestmark = pytest.mark.kernels

UNLIMITED = {"stack": 0, "beam_threshold": 0, "table_limit": 0}
SEEDS = st.integers(0, 2**20)
ALL = 10**5


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def toy_problem(directory, seed, reordering, longest_sentence):
    """A random model, and a random sentence with words that are copied, one of them a word of the target language."""
    options = {"coarse": bool(seed % 2), "early": seed % 3 == 0}
    toy = random_toy(directory / toy_name(seed, reordering), seed, reordering=reordering, **options)
    rng = random.Random(seed)
    return toy, rng.choices([*SOURCE, *SOURCE, "x", "s"], k=rng.randint(1, longest_sentence))


def enumerate_all(toy, words, distortion_limit):
    """{derivation: feature vector}, a derivation being its spans and target strings."""
    return {
        tuple((span, " ".join(option[0])) for span, option in derivation): features(
            derivation, 4, toy.reordering, toy.lm, toy.order, toy.early
        )
        for derivation in derivations(toy.table, words, toy.longest, distortion_limit)
    }


def key(translation):
    return tuple((phrase.source_span, phrase.target) for phrase in translation.phrases)


def flat(translation):
    """The feature vector behind Translation.features."""
    return np.concatenate([np.atleast_1d(value) for value in translation.features.values()])


def best_of_each_text(pairs):
    """The first score of each text of (text, score), in that order."""
    best = {}
    for text, score in pairs:
        best.setdefault(text, score)
    return best


def check(decoder, line, translations):
    """All that must hold of any n-best list."""
    assert translations[0] == decoder.translate(line)
    scores = [translation.score for translation in translations]
    assert scores == sorted(scores, reverse=True)
    assert len({key(translation) for translation in translations}) == len(translations)
    weights = weight_vector(decoder.dense_weights, decoder.features)
    assert [weights @ flat(translation) for translation in translations] == pytest.approx(scores, abs=1e-6)


@given(SEEDS, REORDERINGS, st.integers(-1, 4))
@settings(max_examples=40)
def test_the_list_is_the_full_enumeration(directory, seed, reordering, distortion_limit):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=4)
    line = " ".join(words)
    decoder = Decoder.load(toy.directory, SearchSettings(distortion_limit=distortion_limit, **UNLIMITED))
    expected = enumerate_all(toy, words, distortion_limit)
    found = decoder.nbest(line, ALL)
    check(decoder, line, found)
    assert {key(translation) for translation in found} == set(expected)
    for translation in found:
        assert flat(translation) == pytest.approx(expected[key(translation)], abs=1e-4)
    scores = sorted((toy.weights @ vector for vector in expected.values()), reverse=True)
    for n in (1, 2, 7, len(scores), len(scores) + 1):
        best = decoder.nbest(line, n)
        assert [translation.score for translation in best] == pytest.approx(scores[:n], abs=1e-4)
        assert best == found[:n]


@given(SEEDS, REORDERINGS)
@settings(max_examples=40)
def test_distinct_is_the_enumeration_without_repeated_texts(directory, seed, reordering):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=4)
    decoder = Decoder.load(toy.directory, SearchSettings(**UNLIMITED))
    ranked = sorted(
        ((toy.weights @ vector, d) for d, vector in enumerate_all(toy, words, 6).items()), key=lambda pair: -pair[0]
    )
    expected = best_of_each_text((" ".join(target for _, target in d), score) for score, d in ranked)
    found = decoder.nbest(" ".join(words), ALL, distinct=True)
    check(decoder, " ".join(words), found)
    assert len(found) == len(expected)
    assert {translation.text: translation.score for translation in found} == pytest.approx(expected, abs=1e-4)
    for n in (1, 2, 7):
        assert decoder.nbest(" ".join(words), n, distinct=True) == found[:n]


@given(SEEDS, REORDERINGS, st.integers(1, 6), st.sampled_from([0, 1e-5, 0.5]))
@settings(max_examples=30)
def test_pruned_search(directory, seed, reordering, stack, beam_threshold):
    toy, words = toy_problem(directory, seed, reordering, longest_sentence=8)
    decoder, line = (
        Decoder.load(toy.directory, SearchSettings(stack=stack, beam_threshold=beam_threshold)),
        " ".join(words),
    )
    found = decoder.nbest(line, 500)
    check(decoder, line, found)
    distinct = decoder.nbest(line, 20, distinct=True)
    check(decoder, line, distinct)
    if len(found) < 500:  # the list is complete
        expected = best_of_each_text((translation.text, translation.score) for translation in found)
        scores = [translation.score for translation in distinct]
        assert scores == pytest.approx(list(expected.values())[:20], abs=1e-9)
        assert len({translation.text for translation in distinct}) == len(distinct)


def test_what_is_too_small_grows(directory, monkeypatch):
    toy, _ = toy_problem(directory, 11, Reordering(), 1)
    decoder = Decoder.load(toy.directory, SearchSettings(stack=10))
    line = "a b c d x a b"
    expected = [decoder.nbest(line, 50, distinct) for distinct in (False, True)]
    monkeypatch.setattr(nbest, "ENTRIES", 1)
    assert [decoder.nbest(line, 50, distinct) for distinct in (False, True)] == expected


def test_more_ways_to_say_the_same_than_can_be_listed(tmp_path):
    random_lm(tmp_path, random.Random(1), 3)
    ones = np.zeros(4, np.float32), np.zeros(6, np.float32)
    table = {" ".join("a" * k): [(" ".join("s" * k), *ones)] for k in (1, 2, 3)}
    write_model(tmp_path, table, Weights(), 3, 3, Reordering(kind="msd"))
    decoder = Decoder.load(tmp_path, SearchSettings(distortion_limit=0, beam_threshold=0))
    line = " ".join("a" * 40)
    assert [translation.text for translation in decoder.nbest(line, 10, distinct=True)] == [" ".join("s" * 40)]
    assert len(decoder.nbest(line, 300)) == 300


def test_an_empty_line_has_one_derivation(directory):
    toy, _ = toy_problem(directory, 3, Reordering(), 1)
    decoder = Decoder.load(toy.directory)
    for distinct in (False, True):
        check(decoder, "", decoder.nbest("", 5, distinct))
        assert len(decoder.nbest("", 5, distinct)) == 1


def test_refuses_empty_lists(directory):
    toy, _ = toy_problem(directory, 3, Reordering(), 1)
    with pytest.raises(ConfigError, match="n is 0, expected at least 1"):
        Decoder.load(toy.directory).nbest("a", 0)
