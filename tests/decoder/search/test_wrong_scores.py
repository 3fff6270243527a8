"""Any numbers in a language model, and weights of any size: translations with finite scores, or one clear error."""

import math
import shutil
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ModelError, SmtError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import entry_width
from tests.decoder.models import random_toy

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore")]

LINES = ["a b c d a b c d a b", "d c b a x d d a c", "x"]
NUMBERS = st.sampled_from([math.nan, math.inf, -math.inf, 1e38, -1e38, 5.0, 0.0, -0.0, -1e-45])
LIMITS = st.builds(
    SearchSettings, algorithm=st.sampled_from(["stack", "cube"]), stack=st.integers(1, 9), pop_limit=st.integers(1, 9)
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 24, most=6).directory


@pytest.fixture(scope="module")
def model(toy, tmp_path_factory):
    return shutil.copytree(toy, tmp_path_factory.mktemp("damaged") / "model")


def numbers_of(tables):
    """Where the probabilities and backoffs of a language model stand: units, see ProbingTables."""
    starts = [*tables.starts[1 : tables.order + 1].tolist(), tables.units.size]
    yield from range(starts[0], starts[1])
    for n, (first, end) in enumerate(pairwise(starts[1:]), 2):
        width = entry_width(tables.order, n)
        for entry in range(first, end, width):
            yield from range(entry + 2, entry + width)


def damage(toy, model, changes):
    """Write lm.bin with those numbers, (float, where) each."""
    image = np.fromfile(toy / "lm.bin", np.uint8)
    places = list(numbers_of(LanguageModel.load(toy / "lm.bin").tables))
    for number, where in changes:
        image[4 * places[where % len(places)] :][:4].view(np.float32)[0] = number
    image.tofile(model / "lm.bin")


def check(translation, line):
    """Each word is translated once, and the score is a number."""
    covered = sorted(i for phrase in translation.phrases for i in range(*phrase.source_span))
    assert covered == list(range(len(line.split())))
    assert math.isfinite(translation.score)


def use(model, limits, weights=None):
    """Translate in all ways; whether the model was complained of."""
    decoder = Decoder.load(model, limits, weights)
    forced = ForcedDecoder(decoder)
    try:
        for line in LINES:
            answer = decoder.answer(line, Request(n=9, distinct=True, lattice=True))
            for translation in answer.nbest:
                check(translation, line)
            scores = [translation.score for translation in answer.nbest]
            assert scores == sorted(scores, reverse=True)
            decoder.mbr(line, MbrSettings(size=9))
            check(decoder.complete(line, "s t"), line)
            check(decoder.translate(Input(line.split(), terms=(Term(0, 1, ("zz",), 1e300),))), line)
            forced.force(line, answer.translation.text)
    except SmtError as error:
        assert "\n" not in str(error)
        return True
    return False


@given(LIMITS, st.lists(st.tuples(NUMBERS, st.integers(0, 10**6)), min_size=1, max_size=12))
@settings(max_examples=40)
def test_any_numbers_in_a_language_model(toy, model, limits, changes):
    damage(toy, model, changes)
    use(model, limits)


@pytest.mark.parametrize("algorithm", ["stack", "cube"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e38])
def test_backoffs_that_are_not_finite(toy, model, number, algorithm):
    """All those of unigrams, of which options know nothing: hypotheses meet them first."""
    tables = LanguageModel.load(toy / "lm.bin").tables
    damage(toy, model, [(number, i) for i in range(1, int(tables.starts[2] - tables.starts[1]), 2)])
    decoder = Decoder.load(model, SearchSettings(algorithm=algorithm, stack=3, pop_limit=3))
    for _ in range(2):  # the same every time
        with pytest.raises(ModelError, match=r"lm\.bin: log10 p of '\S+' after '.*' is (nan|-?inf|1e\+38), expected"):
            decoder.translate(LINES[0])
    with pytest.raises(ModelError, match=r"lm\.bin: log10 p of '\S+' after "):
        ForcedDecoder(decoder).force("x x", "x x")


@given(LIMITS, st.sampled_from([1e308, -1e308, 1e101, 1e99, 1e30, -1e30]), st.integers(0, 6))
@settings(max_examples=40)
def test_weights_of_any_size(toy, limits, size, which):
    weights = Decoder.load(toy).model.weights
    name = list(type(weights).required())[which % len(type(weights).required())]
    old = getattr(weights, name)
    use(toy, limits, weights.model_copy(update={name: [size] * len(old) if isinstance(old, list) else size}))


@pytest.mark.parametrize("algorithm", ["stack", "cube"])
@pytest.mark.parametrize("name", ["translation", "reordering", "language_model", "unknown_word_penalty"])
def test_weights_that_are_too_large(toy, name, algorithm):
    old = getattr(Decoder.load(toy).model.weights, name)
    weights = Weights(translation=[1.0] * 4, reordering=[1.0] * 6)
    weights = weights.model_copy(update={name: [1e307] * len(old) if isinstance(old, list) else 1e307})
    decoder = Decoder.load(toy, SearchSettings(algorithm=algorithm, stack=3, pop_limit=3), weights)
    with pytest.raises(ModelError, match=r"^weights that make scores not finite, or larger than 1e\+100, expected"):
        list(decoder.translate_all(LINES))
