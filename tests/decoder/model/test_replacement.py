"""A model takes the place of another only where nothing is lost; README.md tells how a model was made."""

import pytest

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import accept_files, open_description
from phrasebeam.decoder.model.readme import readme, save_model
from phrasebeam.decoder.model.replacement import check_replaceable, clear_model
from phrasebeam.decoder.tables.provenance import DataSize, Stage, differences, version
from tests.decoder.models import random_toy

pytestmark = pytest.mark.kernels
SETTINGS = {"phrases": {"max_length": 7}, "alignment": {"seed": 1, "aligner": "hmm"}}
DATA = {"source": {"file": "train.de", "sha256": "a"}, "skipped": 3}


@pytest.fixture
def model(tmp_path):
    directory = random_toy(tmp_path / "model", 7).directory
    for name in ("lm.arpa", "text"):
        (directory / name).unlink()
    accept_files(directory)
    stage = Stage(command="train-model", version="0")
    made = {"version": version(), "settings": SETTINGS, "data": DATA, "stages": [stage]}
    save_model(open_description(directory).model_copy(update=made), directory)
    return directory


def test_an_equal_model_may_be_replaced(model, tmp_path):
    check_replaceable(model, "train-model", SETTINGS, DATA)
    check_replaceable(tmp_path / "none", "train-model", SETTINGS, DATA)


@pytest.mark.parametrize(
    ("settings", "data", "message"),
    [
        ({"phrases": {"max_length": 5}}, DATA, r"phrases\.max_length was 7, is 5; alignment was"),
        (SETTINGS, {"source": {"file": "train.de", "sha256": "b"}}, r"data.source: 'train.de' has changed"),
        (SETTINGS, {"source": {"file": "x.de", "sha256": "b"}}, r"data.source was 'train.de', is 'x.de'"),
        (SETTINGS | {"tune": 1}, DATA, "tune was not given, is 1"),
    ],
)
def test_another_model_is_kept(model, settings, data, message):
    with pytest.raises(ConfigError, match=f"model: a model that train-model made: {message}.*; give --force to delete"):
        check_replaceable(model, "train-model", settings, data)
    check_replaceable(model, "train-model", settings, data, is_forced=True)


def test_what_people_did_is_kept(model):
    weights = load_config(model / "weights.yaml", Weights)
    check_replaceable(model, "train-model", SETTINGS, DATA, weights)
    with pytest.raises(ConfigError, match=r"weights\.distortion was .*, is 9\.0; give --force"):
        check_replaceable(model, "train-model", SETTINGS, DATA, weights.model_copy(update={"distortion": 9.0}))
    (model / "weights.yaml").write_text((model / "weights.yaml").read_text() + "\n")
    with pytest.raises(ConfigError, match=r"weights\.yaml was edited; give --force"):
        check_replaceable(model, "train-model", SETTINGS, DATA)
    accept_files(model)
    (model / "tuning").mkdir()
    with pytest.raises(ConfigError, match="a model that train-model made: expected one of import-moses; give --force"):
        check_replaceable(model, "import-moses", SETTINGS, DATA)
    with pytest.raises(ConfigError, match="has tuning, which is not part of it"):
        check_replaceable(model, "train-model", SETTINGS, DATA)
    (model / "model.yaml").write_text("format: phrasebeam model 2\n")
    with pytest.raises(ConfigError, match="a model that cannot be read"):
        check_replaceable(model, "train-model", SETTINGS, DATA)


def test_a_search_that_people_added_is_kept(model):
    (model / "search.yaml").write_text("search:\n  algorithm: cube\n")
    with pytest.raises(ConfigError, match=r"made: search\.yaml was added; give --force"):
        check_replaceable(model, "train-model", SETTINGS, DATA)


def test_other_directories_are_never_replaced(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ConfigError, match="exists and is not a model; choose another directory"):
        check_replaceable(tmp_path, "train-model", SETTINGS, DATA, is_forced=True)


def test_a_model_is_cleared_and_nothing_else(model):
    (model / "notes").write_text("mine")
    clear_model(model)
    assert [path.name for path in model.rglob("*") if path.is_file()] == ["notes"]


def test_differences_are_few_and_short():
    many = differences({}, {f"k{i}": "x" * 1000 for i in range(9)})
    assert many.endswith("; and 6 more")
    assert len(many) < 400
    assert differences(SETTINGS, SETTINGS) == ""


def test_the_readme_tells_each_stage(model):
    data = [DataSize(name="source", file="my_file.de", sentences=1200, words=15000), DataSize(name="lm", file="x")]
    stages = [
        Stage(command="train-model", version="1", settings={"phrases": {"max_length": 5}}, data=data),
        Stage(command="tune", version="1", gain="bleu 26.00 after iteration 3 of 10, 24.00 before"),
    ]
    text = readme(open_description(model).model_copy(update={"stages": stages}))
    assert "phrasebeam translate --model MODEL < FILE" in text
    assert text.endswith(
        "1. `train-model` (version 1)\n   - settings: `phrases.max_length: 5`\n"
        "   - source: my\\_file.de, 1,200 sentences, 15,000 words\n   - lm: x\n"
        "2. `tune` (version 1)\n   - settings: the defaults\n"
        "   - bleu 26.00 after iteration 3 of 10, 24.00 before\n"
    )


def test_the_readme_may_be_edited_and_deleted(model):
    from phrasebeam.decoder.model.opened_model import open_model

    (model / "README.md").write_text("my notes")
    open_model(model)
    accept_files(model)
    assert (model / "README.md").read_text() == "my notes"
    (model / "README.md").unlink()
    open_model(model)
