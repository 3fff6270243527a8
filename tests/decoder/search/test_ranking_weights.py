"""A table limit that selects pairs by weights of its own, while other weights score them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SOURCE, random_toy
from tests.decoder.search.test_search import flat

pytestmark = pytest.mark.kernels
MANY = 3000  # more derivations than the toys' sentences have


def phrases_of(decoder, sentence):
    """All phrases of any derivation: (begin, end, target)."""
    found = decoder.nbest(sentence, MANY)
    assert len(found) < MANY
    return {(*one.source_span, one.target) for each in found for one in each.phrases}


@given(st.integers(0, 2**20), st.integers(1, 2))
@settings(deadline=None, max_examples=25)
def test_pairs_are_selected_by_some_weights_and_scored_by_others(tmp_path_factory, seed, limit):
    rng = random.Random(seed)
    toy = random_toy(tmp_path_factory.mktemp("toy"), seed, most=4)
    sentence = " ".join(rng.choices([*SOURCE, "x"], k=3))
    limits = SearchSettings(stack=0, beam_threshold=0, table_limit=limit, distortion_limit=1)
    selecting = Decoder.load(toy.directory, limits)
    others = selecting.model.weights.model_copy(
        update={"translation": [rng.uniform(-0.2, 1) for _ in range(4)], "language_model": [rng.uniform(-0.1, 1)]}
    )
    expected = phrases_of(selecting, sentence)
    decoder = Decoder.load(toy.directory, limits)
    decoder.searcher.rank_by(selecting.model.weights)
    for weights in (others, others.model_copy(update={"word_penalty": 3.0})):  # the second from other caches
        decoder.reweigh(weights)
        assert phrases_of(decoder, sentence) == expected
        found = decoder.translate(sentence)
        assert weight_vector(decoder.dense_weights, decoder.features) @ flat(found.features) == pytest.approx(
            found.score, abs=1e-6
        )
        assert found.score == pytest.approx(max(one.score for one in decoder.nbest(sentence, MANY)))
