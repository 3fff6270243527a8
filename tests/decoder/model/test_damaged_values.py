"""Arrays of the right size with wrong numbers in them: one clear error or a translation, nothing out of bounds."""

import shutil
from itertools import product

import numpy as np
import pytest

from phrasebeam.base.errors import SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.options.bounds_checks import BoundsChecks
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.phrase_table import ABSENT, find_source
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.probing import VOCABULARY, map_image, table_starts
from tests.decoder.models import random_toy

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore")]

LINES = ["a b c d", "d c b a", "a a b b", "c d", "x"]
LEADS_SOMEWHERE = ["slots", "source_offsets", "pair_offsets", "target_offsets", "target_words", "alignment_offsets"]
VALUES = [-1, -2, 1, 3, 1 << 20, -(1 << 20), (1 << 31) - 1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=6).directory


def test_source_phrases_of_spans_of_sound_tables(tmp_path):
    for seed in range(20):
        toy = random_toy(tmp_path / str(seed), seed)
        opened = open_model(toy.directory)
        table, texts = opened.tables.phrases, [list("abcd"), list("dxca"), [], list("bc")]
        words = opened.source.ids([word for text in texts for word in text])
        offsets = np.cumsum([0, *map(len, texts)])
        found = BoundsChecks(opened.tables).span_sources(words, offsets, 3, 4).reshape(-1, 4)
        for text, begin in zip(texts, offsets.tolist()):
            for i, k in product(range(len(text)), range(4)):
                is_span = k < 3 and i + k < len(text)
                expected = find_source(table, words, begin + i, begin + i + k + 1) if is_span else ABSENT
                assert found[begin + i, k] == expected
                assert (expected != ABSENT) == (is_span and " ".join(text[i : i + k + 1]) in toy.table)


@pytest.fixture
def model(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "model")


def use(model):
    """Translate in all ways; whether the model was complained of, as it should be."""
    try:
        for algorithm in ("stack", "cube"):
            decoder = Decoder.load(model, SearchSettings(algorithm=algorithm, stack=5, pop_limit=5))
            for line in LINES:
                answer = decoder.answer(line, Request(n=3, lattice=True))
                assert all(one.phrases is not None and one.features for one in answer.nbest)
    except SmtError as error:
        assert "\n" not in str(error)
        return True
    return False


def damage(path, place, value):
    array = np.load(path)
    array.flat[place % array.size] = value
    np.save(path, array)


@pytest.mark.parametrize("name", [*LEADS_SOMEWHERE, "source_words", "alignment_points", "joint_counts"])
def test_a_wrong_number_anywhere(model, whole, name):
    path = model / "phrases" / f"{name}.npy"
    rng = np.random.default_rng(LEADS_SOMEWHERE.index(name) if name in LEADS_SOMEWHERE else 9)
    for value in VALUES:
        shutil.copy(whole / "phrases" / path.name, path)
        damage(path, int(rng.integers(1000)), value if np.load(path).dtype != np.uint8 else value % 256)
        use(model)


@pytest.mark.parametrize("name", LEADS_SOMEWHERE)
def test_numbers_that_lead_out_of_arrays(model, name):
    path = model / "phrases" / f"{name}.npy"
    array = np.load(path)
    array[:-1] = 1 << 30  # the last offset is looked at when the model is opened
    np.save(path, array)
    assert use(model)
    found = list(findings(model))
    assert found
    assert all(line.startswith(f"{path}: ") and "1073741824" in line for line in found)


def test_a_hash_table_without_empty_slots(model):
    path = model / "phrases" / "slots.npy"
    np.save(path, np.zeros_like(np.load(path)))
    assert use(model)
    assert any("source phrase 0 is in" in line for line in findings(model))


def test_damaged_language_models(model, whole):
    starts, end = table_starts(map_image(whole / "lm.bin")[1])
    start, end = 4 * int(starts[VOCABULARY]), 4 * end
    rng, complaints = np.random.default_rng(3), 0
    for share in (0.01, 0.1, 1.0):
        for _ in range(4):
            data = np.fromfile(whole / "lm.bin", np.uint8)
            places = start + np.flatnonzero(rng.random(end - start) < share)
            data[places] = rng.integers(1, 256, places.size)
            data.tofile(model / "lm.bin")
            complaints += use(model)
    assert complaints


def test_checking_a_whole_model(model, capfd):
    assert main(["check-model", str(model)]) == 0
    assert capfd.readouterr().out.startswith(f"{model}: no wrong numbers; its model.yaml is of an older version")
    damage(model / "phrases" / "alignment_points.npy", 0, 200)
    damage(model / "phrases" / "ln_scores.npy", 5, np.nan)
    assert main(["check-model", str(model)]) == 2
    assert "ln_scores.npy: nan at 1, expected a finite number; train" in capfd.readouterr().err
    damage(model / "phrases" / "ln_scores.npy", 5, 0)
    assert main(["check-model", str(model)]) == 2
    assert "alignment_points.npy: 200-" in capfd.readouterr().err


def test_sentences_before_change_nothing(whole):
    """Nor do unknown words, which are others in each sentence, and texts that were required."""
    lines = [*LINES, "y a b", "a b z", "z y", "a b c d"] * 3
    decoder = Decoder.load(whole, SearchSettings(stack=20))
    alone = [Decoder.load(whole, SearchSettings(stack=20)).translate(line) for line in lines[:9]]
    for line, one in zip(lines, alone * 3):
        assert decoder.translate(line) == one
        decoder.complete(line, "s t")
