"""Model directories in which something is missing, damaged or does not fit: one clear error that names the file."""

import shutil

import numpy as np
import pytest
import yaml

from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import ConfigError, ModelError, SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy

pytestmark = pytest.mark.kernels

PARTS = ["model.yaml", "weights.yaml", "source.vocab", "target.vocab", "lm.bin"]
ARRAYS = ["phrases/slots", "phrases/target_words", "phrases/ln_scores", "reordering/ln_scores", "reordering/counts"]
FILES = PARTS + [f"{name}.npy" for name in ARRAYS]  # all arrays: see test_phrase_table
DAMAGES = {
    "removed": lambda path: path.unlink(),
    "emptied": lambda path: path.write_bytes(b""),
    "halved": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "garbage": lambda path: path.write_bytes(bytes(range(255, 0, -1)) * 3),
    "another text": lambda path: path.write_text("the quick brown fox\n" * 2000),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


@pytest.fixture
def model(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "model")


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_named(model, name, damage):
    DAMAGES[damage](model / name)
    with pytest.raises(SmtError) as caught:
        Decoder.load(model)
    message = str(caught.value)
    assert message.startswith(str(model / name))
    assert "\n" not in message
    assert len(message) < 900


@pytest.mark.parametrize("directory", ["nowhere", "phrases", "lm.bin"])
def test_not_a_model(model, directory):
    with pytest.raises(ModelError, match=f"^{model / directory}"):
        open_model(model / directory)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"translation": [0.2] * 3}, "translation has 3 weights, the model has 4 such scores"),
        ({"reordering": [0.3] * 8}, "reordering has 8 weights, the model has 6 such scores"),
        ({"reordering": []}, "reordering has 0 weights, the model has 6 such scores"),
        ({"distortion": float("nan")}, "weights.yaml: distortion: .*finite"),
        ({"language_model": [float("inf")]}, "weights.yaml: language_model.0: .*finite number, found inf"),
        ({"translation": [0.2, 0.2, 0.2, float("nan")]}, "weights.yaml: translation.3: .*finite"),
        ({"distortion": "far"}, "weights.yaml: distortion: .*valid number.*found 'far'"),
        ({"distorsion": 1.0}, "weights.yaml: distorsion: unknown key; did you mean distortion?"),
        ({"zzz": 1.0}, "weights.yaml: zzz: unknown key; known keys: translation, reordering"),
        ({"distortion": None}, "weights.yaml: distortion"),
    ],
)
def test_weights_that_do_not_fit(model, change, complaint):
    path = model / "weights.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change))
    with pytest.raises(SmtError, match=complaint):
        Decoder.load(model)


def test_all_weights_must_be_there(model):
    (model / "weights.yaml").write_text("distortion: 1\n")
    with pytest.raises(ModelError, match=r"weights\.yaml: no language_model, phrase_penalty, reordering"):
        Decoder.load(model)


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("format", "phrasebeam model 9", "format.*phrasebeam model 1.*found 'phrasebeam model 9'"),
        ("source_words", 99, "source.vocab: . words, expected 99"),
        ("target_words", 99, "target.vocab: . words, expected 99"),
        ("reordering", {"kind": "mslr"}, "reordering/ln_scores.npy: 6 columns, bidirectional mslr has 8"),
        ("reordering", {"direction": "forward"}, "reordering/ln_scores.npy: 6 columns, forward msd has 3"),
        ("reordering", {"ln_default": [-1.0]}, "reordering: ln_default has 1 scores, the table has 6 columns"),
        ("reordering", {"kind": "msld"}, "reordering.kind: .*found 'msld'"),
        ("reordering", {"knid": "msd"}, "reordering.knid: unknown key; did you mean kind?"),
        ("colour", "red", "colour: unknown key"),
    ],
)
def test_descriptions_that_do_not_fit(model, key, value, complaint):
    path = model / "model.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {key: value}))
    with pytest.raises(SmtError, match=complaint):
        open_model(model)


def test_a_description_from_before_there_were_directions(model):
    path = model / "model.yaml"
    written = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(written | {"reordering": {"orientation": "word", "kind": "msd"}}))
    assert open_model(model).description.reordering == Reordering()


def test_optional_features_are_there_where_they_have_weights(model):
    assert "early_distortion" not in Decoder.load(model).translate("a b").features
    path = model / "weights.yaml"
    path.write_text(path.read_text() + "early_distortion: 0.5\n")
    assert list(Decoder.load(model).translate("a b").features)[-1] == "early_distortion"


def test_rows_that_do_not_fit(model):
    path = model / "reordering" / "ln_scores.npy"
    np.save(path, np.load(path)[1:])
    with pytest.raises(SmtError, match=rf"^{path}: float32 of shape \(10, 6\), expected float32 of shape \(11, C\)"):
        open_model(model)


def test_the_most_pairs_are_counted_where_the_description_lacks_them(model):
    path = model / "model.yaml"
    description = yaml.safe_load(path.read_text())
    counted = open_model(model).most_pairs
    assert counted == 3
    path.write_text(yaml.safe_dump(description | {"max_pairs_per_source_phrase": counted}))
    assert open_model(model).most_pairs == counted
    del description["max_pairs_per_source_phrase"]  # as in models of an older version
    path.write_text(yaml.safe_dump(description))
    assert open_model(model).most_pairs == counted


@pytest.mark.parametrize("form", ["phrasebeam model 1", "phrasebeam model 2"])
def test_a_model_of_the_first_version_is_read(model, form):
    path = model / "model.yaml"
    text = Decoder.load(model).translate("a b c").text
    description = yaml.safe_load(path.read_text()) | {"version": "0.1.0", "format": form}
    path.write_text(yaml.safe_dump(description, sort_keys=False))
    if form == "phrasebeam model 2":
        assert main(["check-model", "--accept", str(model)]) == 0
    assert yaml.safe_load(path.read_text())["version"] == "0.1.0"
    assert Decoder.load(model).translate("a b c").text == text


def test_a_model_of_a_later_format_is_refused_in_a_line(model, capsys):
    path = model / "model.yaml"
    path.write_text(path.read_text().replace("phrasebeam model ", "phrasebeam model 9"))
    assert main(["translate", "--model", str(model)]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1 and str(path) in line and "format" in line


def test_a_model_without_reordering(tmp_path):
    toy = random_toy(tmp_path / "toy", 7, reordering=None)
    decoder = Decoder.load(toy.directory, weights=Weights(reordering=[0.1] * 6))  # none of which is used
    assert "reordering" not in decoder.translate("a b").features
    weights = load_config(toy.directory / "weights.yaml", Weights)
    save_config(weights.model_copy(update={"reordering": [0.3] * 6}), toy.directory / "weights.yaml")
    assert open_model(toy.directory).weights == weights
    assert main(["check-model", str(toy.directory)]) == 0


def test_learned_weights_are_of_the_features_that_were_learned():
    values = {"translation": [1.0], "language_model": [2.0], "distortion": 3.0}
    assert Weights.learned(values).model_dump() | values | {"reordering": []} == Weights.learned(values).model_dump()


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"stack": -1}, "stack"),
        ({"beam_threshold": 1}, "beam_threshold"),
        ({"table_limit": -1}, "table_limit"),
        ({"max_phrase_length": 0}, "max_phrase_length"),
        ({"distortion_limit": 58}, "distortion_limit . max_phrase_length is 65, at most 64"),
    ],
)
def test_impossible_limits(limits, complaint):
    with pytest.raises(ConfigError, match=complaint):
        SearchSettings(**limits)


def test_errors_of_the_config_are_config_errors(model):
    (model / "weights.yaml").write_text("[")
    with pytest.raises(ConfigError, match=r"weights\.yaml:1: not YAML"):
        open_model(model)
