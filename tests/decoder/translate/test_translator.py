"""The Python API: what a Translation says is consistent, and does not depend on threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.mapped_pages import release_all
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SOURCE, random_toy

pytestmark = pytest.mark.kernels

LINES = st.lists(st.sampled_from([*SOURCE, "x", "|||", "\u00a0", "<s>", "<unk>"]), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return Decoder.load(random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory, SearchSettings(stack=20))


def check(decoder, line, translation):
    """All that must hold of the translation of `line`."""
    words, phrases = line.split(" ") if line else [], translation.phrases
    target = translation.text.split(" ") if phrases else []
    assert str(translation) == translation.text == " ".join(phrase.target for phrase in phrases)
    assert sorted(i for phrase in phrases for i in range(*phrase.source_span)) == list(range(len(words)))
    assert [j for phrase in phrases for j in range(*phrase.target_span)] == list(range(len(target)))
    for phrase in phrases:
        assert phrase.source.split(" ") == words[slice(*phrase.source_span)]
        assert phrase.target.split(" ") == target[slice(*phrase.target_span)]
        assert all(i in range(*phrase.source_span) and j in range(*phrase.target_span) for i, j in phrase.alignment)
        assert not phrase.is_copied or phrase.source == phrase.target
    assert translation.alignment == sorted(point for phrase in phrases for point in phrase.alignment)
    vector = np.concatenate([np.atleast_1d(value) for value in translation.features.values()])
    assert weight_vector(decoder.dense_weights, decoder.features) @ vector == pytest.approx(
        translation.score, rel=1e-9, abs=1e-6
    )
    n_copied = sum(phrase.is_copied for phrase in phrases)
    counts = {"word_penalty": -len(target), "phrase_penalty": len(phrases), "unknown_word_penalty": -100 * n_copied}
    for name, count in counts.items():
        assert translation.features[name] == count


@given(LINES)
@settings(max_examples=60)
def test_translations_are_consistent(decoder, line):
    translation = decoder.translate(line)
    check(decoder, line, translation)
    assert translation == decoder.translate(f"  {line.replace(' ', '  ')} \r\n")


def test_an_empty_line(decoder):
    translation = decoder.translate("")
    check(decoder, "", translation)
    assert (translation.text, translation.phrases, translation.alignment) == ("", (), [])
    ln_end = decoder.model.language_models[0].model.score([]) * np.log(10)
    assert translation.features["language_model"][0] == pytest.approx(ln_end, abs=1e-6)


def test_nothing_but_unknown_words(decoder):
    translation = decoder.translate("x y z x")
    assert sorted(translation.text.split()) == ["x", "x", "y", "z"]
    assert all(phrase.is_copied for phrase in translation.phrases)


@pytest.mark.parametrize("limits", [{}, {"distortion_limit": -1}, {"distortion_limit": 0}])
def test_70_words(decoder, limits):
    line = " ".join(np.random.default_rng(1).choice([*SOURCE, "x"], 70))
    small = Decoder(decoder.model, SearchSettings(stack=3, beam_threshold=0.5, table_limit=2, **limits))
    translation = small.translate(line)
    check(small, line, translation)
    if limits.get("distortion_limit") == 0:
        assert [i for phrase in translation.phrases for i in range(*phrase.source_span)] == list(range(70))


@pytest.mark.needs_jit
@pytest.mark.parametrize("n_words", [300, 2000])
@pytest.mark.parametrize("distortion_limit", [6, -1])
def test_long_sentences(decoder, n_words, distortion_limit):
    line = " ".join(np.random.default_rng(2).choice([*SOURCE, "x"], n_words))
    long = Decoder(decoder.model, SearchSettings(stack=10, distortion_limit=distortion_limit))
    check(long, line, long.translate(line))
    assert long.translate("a b c") == Decoder(long.model, long.search_settings).translate(
        "a b c"
    )  # in the room for the long one


def random_lines(n):
    rng = np.random.default_rng(3)
    return [" ".join(rng.choice([*SOURCE, "x"], rng.integers(0, 9))) for _ in range(n)]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_make_no_difference(decoder, threads):
    lines = random_lines(30)
    assert list(decoder.translate_all(iter(lines), threads)) == [decoder.translate(line) for line in lines]


def test_threads_may_share_a_decoder(decoder):
    lines = random_lines(30)
    expected = [decoder.translate(line) for line in lines]
    shared = Decoder(decoder.model, decoder.search_settings)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(shared.translate, lines)) == expected


def test_other_weights(decoder):
    weights = Weights(phrase_penalty=-5.0)
    other = Decoder(decoder.model, decoder.search_settings, weights)
    line = "a a b d c b"
    check(other, line, other.translate(line))
    assert len(other.translate(line).phrases) < len(line.split())


def test_memory_does_not_show(decoder):
    lines = ["a b c x", "b d a a", "c"]
    expected = [decoder.translate(line) for line in lines]
    release_all()
    assert [decoder.translate(line) for line in lines] == expected
