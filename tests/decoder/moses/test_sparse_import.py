"""Sparse features of Moses' phrase tables: imported, scored, listed by name; and what is refused."""

import gzip

import numpy as np
import pytest

from phrasebeam.base.errors import FormatError
from phrasebeam.decoder.moses.exporting import export_moses
from phrasebeam.decoder.moses.importing import import_moses
from phrasebeam.decoder.output.rendering import render_nbest
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy
from tests.decoder.search.test_search import flat

WEIGHTS = {"TranslationModel0_x": 0.5, "TranslationModel0_y=z": -0.25}


@pytest.fixture
def moses(tmp_path):
    """A Moses model each of whose pairs has a feature x of value 2, and every second one y=z of value -1."""
    directory = tmp_path / "moses"
    export_moses(random_toy(tmp_path / "toy", 7, most=3).directory, directory)
    path = next(directory.glob("phrase-table*"))
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    rows = [line.split(" ||| ") for line in lines]
    table = [" ||| ".join([*row[:5], "x 2" + " y=z -1" * (i % 2)]) for i, row in enumerate(rows)]
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in table).encode()))
    (directory / "sparse").write_text("# tuned\n" + "".join(f"{name} {value}\n" for name, value in WEIGHTS.items()))
    with open(directory / "moses.ini", "a", encoding="utf-8") as file:
        file.write("\n[weight-file]\nsparse\n")
    return directory


def test_they_are_scored_and_listed(moses, tmp_path):
    import_moses(moses / "moses.ini", tmp_path / "model")
    decoder, plain = Decoder.load(tmp_path / "model"), Decoder.load(tmp_path / "toy")
    assert decoder.model.weights.pair_sparse == 1
    answer = decoder.answer("a b c a d", Request(n=20, sparse="names"))
    line = render_nbest(0, answer.nbest, False, False).splitlines()[0]
    assert "TranslationModel0_x= " in line
    seen = set()
    for one in answer.nbest:
        named = {one.sparse_names[key]: value for key, value in one.sparse.items()}
        seen |= named.keys()
        n_pairs = sum(not phrase.is_copied for phrase in one.phrases)
        assert named.get("TranslationModel0_x", 0) == 2 * n_pairs
        assert one.features["pair_sparse"] == pytest.approx(sum(WEIGHTS[name] * value for name, value in named.items()))
        same = [other for other in plain.nbest("a b c a d", 1000) if other.phrases == one.phrases]
        assert one.score == pytest.approx(same[0].score + one.features["pair_sparse"], abs=1e-3)
        np.testing.assert_allclose(flat(one.features)[:-1], flat(same[0].features), atol=1e-4)
    assert seen == set(WEIGHTS)


def test_they_are_exported_as_they_came(moses, tmp_path):
    import_moses(moses / "moses.ini", tmp_path / "model")
    weights = tmp_path / "model" / "weights.yaml"
    weights.write_text(weights.read_text().replace("pair_sparse: 1.0", "pair_sparse: 2.0"))
    export_moses(tmp_path / "model", tmp_path / "again")
    import_moses(tmp_path / "again" / "moses.ini", tmp_path / "twice")
    first, second = Decoder.load(tmp_path / "model"), Decoder.load(tmp_path / "twice")
    line = "a b c a d"
    for one, other in zip(first.nbest(line, 50), second.nbest(line, 50), strict=True):
        assert (one.text, one.phrases) == (other.text, other.phrases)
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert 2 * one.features["pair_sparse"] == pytest.approx(other.features["pair_sparse"])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("TranslationModel0_x 1 2", "expected 'NAME WEIGHT'"),
        ("TranslationModel0_x nan", "expected 'NAME WEIGHT'"),
        ("twi_the 0.5", "'twi_the': of no feature in moses.ini that has sparse features here"),
    ],
)
def test_weights_that_are_refused(moses, tmp_path, line, complaint):
    (moses / "sparse").write_text(f"TranslationModel0_x 1\n{line}\n")
    with pytest.raises(FormatError, match=complaint) as error:
        import_moses(moses / "moses.ini", tmp_path / "model")
    assert "sparse:2:" in str(error.value)


@pytest.mark.parametrize("name", ["offsets.npy", "keys.npy", "values.npy"])
def test_damaged_files_are_named(moses, tmp_path, name):
    import_moses(moses / "moses.ini", tmp_path / "model")
    path = tmp_path / "model" / "sparse" / "pairs" / name
    np.save(path, np.load(path)[:-1])
    with pytest.raises(FormatError, match=r"sparse/pairs"):
        Decoder.load(tmp_path / "model")
