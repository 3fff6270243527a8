"""Sentences that are translated together have the translations that each has alone."""

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError, ModelError
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate import batch_searcher
from phrasebeam.decoder.translate.batch_searcher import BYTES_PER_SENTENCE, MOST_SENTENCES, BatchSearcher
from phrasebeam.decoder.translate.translator import TRANSLATION, Decoder
from phrasebeam.engine.parcel import pack, unpack
from phrasebeam.kernels.compiled_calls import IS_COMPILED
from tests.decoder.models import REORDERINGS, last_workspace, random_toy

pytestmark = pytest.mark.kernels
WORDS = st.sampled_from(["a", "b", "c", "d", "x", "s", "yz"])  # known ones, and unknown ones, one a target word
LINES = st.lists(st.lists(WORDS, max_size=9).map(" ".join), max_size=12)
SEARCHES = [
    SearchSettings(stack=5),
    SearchSettings(algorithm="cube", pop_limit=7, stack=3, distortion_limit=2),
    SearchSettings(algorithm="cube", pop_limit=0, stack=0, table_limit=1, future_cost=False),
]


def alone(decoder, lines):
    return [decoder.answer(line, TRANSLATION).translation for line in lines]


def together(decoder, lines):
    return [answer.translation for answer in decoder.answer_several(lines, TRANSLATION)]


@settings(max_examples=60)
@given(st.integers(0, 10**6), REORDERINGS, st.sampled_from(SEARCHES), LINES)
def test_batches_against_single_sentences(seed, reordering, search, lines):
    with tempfile.TemporaryDirectory() as directory:
        decoder = Decoder.load(random_toy(Path(directory), seed, 4, reordering).directory, search)
        assert together(decoder, lines) == alone(decoder, lines)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=6)


@pytest.mark.skipif(not IS_COMPILED, reason="there are no batches without machine code")
def test_workspaces_grow_within_a_batch(toy):
    decoder = Decoder.load(toy.directory)
    lines = ["a", "a b c d x a b c d", "x " * 40, "b"]
    workspace = last_workspace(decoder)
    workspace.n_options = workspace.n_nodes = workspace.n_edges = workspace.n_states = 2
    workspace.n_target_words = 8
    workspace.rebuild()
    translations = together(decoder, lines)
    assert last_workspace(decoder) is workspace
    assert workspace.n_options > 2
    assert translations == alone(decoder, lines)


@pytest.mark.skipif(not IS_COMPILED, reason="there are no batches without machine code")
def test_addresses_of_machine_code_stay_in_their_process(toy):
    decoder, lines = Decoder.load(toy.directory), ["a b", "x"]
    expected = together(decoder, lines)
    sent = unpack(pack(decoder))
    assert decoder._batches._calls is not None and sent._batches._calls is None
    assert together(sent, lines) == expected


def test_what_is_not_plain_stands_between(toy):
    decoder = Decoder.load(toy.directory)
    term = Input(["a", "x"], terms=(Term(1, 2, ("puppy",)),))
    lines = ["a b", "", term, ["b", "x", "x"], "a"]
    assert together(decoder, lines) == alone(decoder, lines)
    nbest = [answer.nbest for answer in decoder.answer_several(["a b", "x"], Request(3))]
    assert nbest == [decoder.nbest(line, 3) for line in ("a b", "x")]


@pytest.mark.skipif(not IS_COMPILED, reason="there are no batches without machine code")
@pytest.mark.parametrize(
    ("room", "n_sentences"), [(math.inf, MOST_SENTENCES), (10.5 * BYTES_PER_SENTENCE, 10), (-1.0, 1)]
)
def test_a_batch_has_as_many_sentences_as_there_is_memory_for(toy, monkeypatch, room, n_sentences):
    monkeypatch.setattr(batch_searcher, "room_for_pages", lambda: room)
    found = BatchSearcher(Decoder.load(toy.directory).searcher).best(["a x b"] * 100)
    assert len(found.texts) == n_sentences


def test_more_sentences_than_a_batch_has(toy):
    decoder, lines = Decoder.load(toy.directory), ["a x b", "c"] * MOST_SENTENCES
    assert together(decoder, lines) == alone(decoder, lines[:2]) * MOST_SENTENCES
    assert [one.text for one in decoder.translate_all(lines, 2)] == [one.text for one in together(decoder, lines)]


def test_other_weights_are_those_of_the_next_batch(toy):
    decoder = Decoder.load(toy.directory)
    before, weights = together(decoder, ["a b x"]), decoder.weights.model_copy(update={"word_penalty": 3.0})
    decoder.reweigh(weights)
    after = together(decoder, ["a b x"])
    assert after == together(Decoder.load(toy.directory, None, weights), ["a b x"])
    assert after[0].score != before[0].score


def test_an_error_follows_the_translations_before(toy):
    decoder, found = Decoder.load(toy.directory), []
    with pytest.raises(ConfigError, match="'a b' has white space in it"):
        for answer in decoder.answer_several(["a", ["a b"], "b"], TRANSLATION):
            found.append(answer.translation)
    assert found == alone(decoder, ["a"])


def test_a_damaged_table_is_told_as_for_a_sentence_alone(toy, tmp_path):
    decoder = Decoder.load(toy.directory)
    offsets = decoder.model.tables.phrases.pair_offsets.copy()
    offsets[:] = offsets[::-1]
    phrases = decoder.model.tables.phrases._replace(pair_offsets=offsets)
    model = decoder.model._replace(tables=decoder.model.tables._replace(phrases=phrases))
    known = next(iter(toy.table))
    with pytest.raises(ModelError, match=r"phrases/pair_offsets\.npy"):
        together(Decoder(model), [known, known])
