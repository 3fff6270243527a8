"""Models whose description or scores are wrong in a way that only use shows: one clear error, nothing out of bounds."""

import shutil

import numpy as np
import pytest
import yaml

from phrasebeam.base.errors import SmtError
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore")]

LINES = ["a b c d", "d c b a", "a a b b", "c d", "x"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=6).directory


@pytest.fixture
def model(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "model")


def describe(model, **changes):
    path = model / "model.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | changes))


def translate(model, **limits):
    return [translation.text for translation in Decoder.load(model, SearchSettings(**limits)).translate_all(LINES)]


@pytest.mark.parametrize("limits", [{}, {"table_limit": 2}, {"table_limit": 0, "algorithm": "cube"}])
@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        ("max_pairs_per_source_phrase", "max_pairs_per_source_phrase is 1, a source phrase has [2-6]; train"),
        ("max_target_phrase_length", "max_target_phrase_length is 1, a target phrase has [23] words; train"),
    ],
)
def test_limits_that_are_too_low(model, whole, key, complaint, limits):
    describe(model, **{key: 1})
    decoder = Decoder.load(model, SearchSettings(**limits))
    for _ in range(2):  # the same every time
        with pytest.raises(SmtError, match=f"^model.yaml: {complaint}"):
            list(decoder.translate_all(LINES))
    assert decoder.translate("x").text == "x"  # nothing is wrong where nothing is used


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"max_pairs_per_source_phrase": 10**9}, "max_pairs_per_source_phrase is 1000000000, the table has"),
        ({"max_pairs_per_source_phrase": 0}, "max_pairs_per_source_phrase: .* greater than or equal to 1, found 0"),
        ({"max_target_phrase_length": 10**12}, "max_target_phrase_length: .* less than or equal to 255"),
        ({"max_target_phrase_length": -1}, "max_target_phrase_length: .* greater than or equal to 1, found -1"),
        ({"max_source_phrase_length": 0}, "max_source_phrase_length: .* greater than or equal to 1, found 0"),
    ],
)
def test_limits_that_cannot_be(model, changes, complaint):
    describe(model, **changes)
    with pytest.raises(SmtError, match=rf"model\.yaml: {complaint}"):
        Decoder.load(model)


def test_limits_that_are_too_high_do_no_harm(model, whole):
    expected = translate(whole)
    n_pairs = len(np.load(model / "phrases" / "ln_scores.npy"))
    describe(model, max_pairs_per_source_phrase=n_pairs, max_target_phrase_length=255, max_source_phrase_length=99)
    assert translate(model) == expected


@pytest.mark.parametrize("limits", [{}, {"table_limit": 1}, {"algorithm": "cube"}])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["phrases/ln_scores.npy", "reordering/ln_scores.npy"])
def test_scores_that_are_not_finite(model, name, value, limits):
    scores = np.load(model / name)
    scores[:, 1] = value
    np.save(model / name, scores)
    with pytest.raises(SmtError, match=f"^{name}: scores .*{value}.* of a phrase pair, expected finite numbers; train"):
        translate(model, **limits)


@pytest.mark.parametrize("limits", [{}, {"algorithm": "cube"}])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("share", [1, 3])
def test_language_models_that_are_not_finite(model, value, limits, share):
    """All words have such scores, or some of them."""
    tables = Decoder.load(model).model.language_models[0].model.tables
    image = bytearray((model / "lm.bin").read_bytes())
    unigrams = np.frombuffer(image, np.float32, tables.starts[2] - tables.starts[1], 4 * tables.starts[1])
    unigrams[:: 2 * share] = value
    (model / "lm.bin").write_bytes(image)
    with pytest.raises(SmtError, match=r"lm\.bin: log10 p of '.*' is (nan|-inf), expected .*; copy it again or build"):
        translate(model, **limits)
