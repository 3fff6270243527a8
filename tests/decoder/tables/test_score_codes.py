"""Scores of phrase pairs in 8 bits: a codebook loses little and says what, and a model reads as one of its scores."""

import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.errors import ModelError, SmtError
from phrasebeam.decoder.input.input_settings import InputSettings
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.moses.exporting import export_moses
from phrasebeam.decoder.tables.model_files import N_CODES
from phrasebeam.decoder.tables.phrase_table import PhraseTable, open_phrase_table
from phrasebeam.decoder.tables.score_codes import codebook_of, codes_of, quantize_scores
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.naive.score_codes import nearest

pytestmark = pytest.mark.kernels

SCORES = st.floats(-100, 0, width=32) | st.sampled_from([0.0, -1.0, -1.5, -2.0])
LINES = ["a b c x", "b d a a", "x", "c b", "a b d c a"]


@given(st.lists(st.floats(-9, 0, width=16), min_size=2, max_size=8), st.lists(SCORES, min_size=1, max_size=20))
def test_codes_are_of_the_nearest_score(chosen, scores):
    codebook = np.sort(np.resize(np.array(chosen, np.float32), N_CODES))[:, np.newaxis]
    column = np.array(scores, np.float32)[:, np.newaxis]
    found = codebook[codes_of(codebook, column)[:, 0], 0]
    assert found.tolist() == [nearest(codebook[:, 0].tolist(), score) for score in column[:, 0].tolist()]


@given(st.lists(SCORES, max_size=30))
def test_few_scores_are_kept(scores):
    column = np.array(scores, np.float32)
    codebook = codebook_of(column)[:, np.newaxis]
    assert (np.diff(codebook[:, 0]) >= 0).all()
    found = codebook[codes_of(codebook, column[:, np.newaxis])[:, 0], 0]
    np.testing.assert_allclose(found, column, rtol=1e-3, atol=1e-30)  # beside 0, scores too small for a quotient


@pytest.mark.needs_jit
@pytest.mark.parametrize("power", [0.1, 1, 4])
def test_the_difference_is_bounded_however_scores_are_spread(power):
    column = (-40 * np.random.default_rng(1).random(50_000) ** power).astype(np.float32)
    codebook = codebook_of(column)[:, np.newaxis]
    differences = np.abs(codebook[codes_of(codebook, column[:, np.newaxis])[:, 0], 0] - column)
    evenly = 40 / N_CODES / 2
    assert differences.max() < 4 * evenly
    assert differences.mean() < evenly / 2


def _evenly(column):
    return np.linspace(-9, 0, N_CODES, dtype=np.float32)


def test_what_is_lost_is_said(tmp_path):
    directory = random_toy(tmp_path / "toy", 7, most=3).directory / "phrases"
    shutil.copytree(directory, tmp_path / "before")
    large = np.random.default_rng(1).uniform(-9, 0, (len(np.load(directory / "ln_scores.npy")), 4)).astype(np.float32)
    np.save(directory / "ln_scores.npy", large)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("phrasebeam.decoder.tables.score_codes.codebook_of", _evenly)
        loss = quantize_scores(directory)
    found = np.abs(open_phrase_table(directory).scores_of(slice(None)) - large)
    assert loss.largest == pytest.approx(found.max(axis=0).tolist())
    assert loss.mean == pytest.approx(found.mean(axis=0).tolist(), rel=1e-5)
    assert not (directory / "ln_scores.npy").exists()
    assert {path.name for path in (tmp_path / "before").iterdir()} - {path.name for path in directory.iterdir()} == {
        "ln_scores.npy"
    }


def two_models(directory, seed):
    """A model with random codes, and one with the scores that they stand for."""
    exact = random_toy(directory / "exact", seed, most=3).directory
    coded, rng = shutil.copytree(exact, directory / "coded"), np.random.default_rng(seed)
    path = exact / "phrases" / "ln_scores.npy"
    codes = rng.integers(0, N_CODES, np.load(path).shape).astype(np.uint8)
    codebook = np.sort(rng.uniform(-9, 0, (N_CODES, codes.shape[1])).astype(np.float32), axis=0)
    np.save(path, codebook[codes, np.arange(codes.shape[1])])
    np.save(coded / "phrases" / "score_codes.npy", codes)
    np.save(coded / "phrases" / "codebook.npy", codebook)
    (coded / "phrases" / "ln_scores.npy").unlink()
    return exact, coded


@pytest.mark.parametrize("seed", range(5))
def test_a_model_with_codes_is_that_of_its_scores(tmp_path, seed):
    exact, coded = two_models(tmp_path, seed)
    related = InputSettings(oov="copy")
    one, other = (Decoder.load(model, input_settings=related) for model in (exact, coded))
    for line in LINES:
        assert one.nbest(line, 20) == other.nbest(line, 20)
    assert [*one.translate_all(LINES)] == [*other.translate_all(LINES)]
    assert list(findings(coded)) == list(findings(exact))
    for model in (exact, coded):
        export_moses(model, model.with_suffix(".moses"))
    names = [path.name for path in exact.with_suffix(".moses").iterdir()]
    for name in names:
        if not name.endswith((".gz", ".ini")):
            pairs = [model.with_suffix(".moses") / name for model in (exact, coded)]
            assert pairs[0].read_bytes() == pairs[1].read_bytes()


DAMAGES = {
    "codebook": [
        (lambda codebook: codebook[:-1], "expected float32 of shape"),
        (lambda codebook: codebook[:, :-1].copy(), "expected float32 of shape"),
        (lambda codebook: codebook.astype(np.float64), "expected float32 of shape"),
    ],
    "score_codes": [
        (lambda codes: codes[:-1], "expected"),
        (lambda codes: codes.astype(np.int8), "expected uint8"),
    ],
}


@pytest.mark.parametrize(("name", "number"), [(name, i) for name, found in DAMAGES.items() for i in range(len(found))])
def test_damaged_codes_are_named(tmp_path, name, number):
    _, coded = two_models(tmp_path, 1)
    change, message = DAMAGES[name][number]
    path = coded / "phrases" / f"{name}.npy"
    np.save(path, change(np.load(path)))
    with pytest.raises(SmtError, match=message) as caught:
        open_model(coded)
    assert "train the model again" in str(caught.value)


def test_a_codebook_that_is_missing_or_not_finite(tmp_path):
    _, coded = two_models(tmp_path, 1)
    path = coded / "phrases" / "codebook.npy"
    np.save(path, np.full_like(np.load(path), np.nan))
    with pytest.raises(ModelError, match=r"phrases/codebook\.npy: scores nan nan nan nan of a phrase pair"):
        for line in LINES:
            Decoder.load(coded).translate(line)
    assert any("codebook.npy: nan at 0, expected a finite number" in line for line in findings(coded))
    path.unlink()
    with pytest.raises(ModelError, match=r"codebook\.npy: missing"):
        open_model(coded)


@pytest.mark.needs_jit
@settings(max_examples=20)
@given(st.integers(0, 2**20), st.integers(0, N_CODES - 1))
def test_rows_of_a_table(seed, code):
    codebook = np.random.default_rng(seed).random((N_CODES, 3)).astype(np.float32)
    codes = np.array([[code, 0, N_CODES - 1], [1, code, 2]], np.uint8)
    table = open_phrase_table_with(codes, codebook)
    expected = [[float(codebook[row[k], k]) for k in range(3)] for row in codes.tolist()]
    assert table.scores_of(slice(None)).tolist() == expected
    assert table.scores_of(1).tolist() == expected[1]
    assert table.scores_of(np.array([1, 0, 1])).tolist() == [expected[1], expected[0], expected[1]]


def open_phrase_table_with(codes, codebook):
    """A table that has nothing but scores."""
    nothing = {name: np.zeros(0) for name in PhraseTable._fields}
    return PhraseTable(**nothing | {"score_codes": codes, "codebook": codebook})
