"""Decoders and translations go to other processes."""

import copy
import multiprocessing
import pickle

import pytest

from phrasebeam import Decoder, Request, SearchSettings
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.sparse_weights import new_sparse_weights


def test_a_decoder_is_its_directory_and_what_was_given(toy, monkeypatch, tmp_path):
    monkeypatch.chdir(toy.parent)
    decoder = Decoder.load(toy.name, SearchSettings(stack=2, distortion_limit=0))
    decoder.reweigh(decoder.model.weights.model_copy(update={"word_penalty": -3.0}))
    content = pickle.dumps(decoder)
    monkeypatch.chdir(tmp_path)
    same = pickle.loads(content)
    assert same.search_settings == decoder.search_settings
    assert same.translate("a b c a") == decoder.translate("a b c a")
    assert len(content) < 2000


def test_a_decoder_without_a_directory_is_refused(toy):
    with pytest.raises(TypeError, match="its model or its sparse weights are in no directory"):
        pickle.dumps(Decoder(open_model(toy)))
    decoder = Decoder.load(toy)
    decoder.reweigh(decoder.model.weights, new_sparse_weights(4))
    with pytest.raises(TypeError, match="in no directory"):
        pickle.dumps(decoder)


def test_a_translation_is_whole(toy):
    (translation,) = Decoder.load(toy).answer("a b c d", Request(n=1, sparse="names")).nbest
    for same in (pickle.loads(pickle.dumps(translation)), copy.deepcopy(translation)):
        assert same == translation
        assert (same.text, same.alignment, same.features) == (
            translation.text,
            translation.alignment,
            translation.features,
        )


@pytest.mark.needs_jit
def test_other_processes_translate(toy):
    decoder = Decoder.load(toy)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(decoder.translate, ["a b", "c d"]) == list(decoder.translate_all(["a b", "c d"]))
