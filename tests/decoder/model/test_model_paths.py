"""Models that name files elsewhere, or things that are no files: they are refused before anything is read."""

import os
import shutil
from itertools import product

import pytest
import yaml

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ModelError, SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.levels import Level, WordEdges, n_word_edges, word_edges
from phrasebeam.decoder.sparse.sparse_files import TemplatesFile, save_templates
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.tables import model_paths
from phrasebeam.decoder.tables.model_paths import model_file
from phrasebeam.training.common.shared_file import share
from tests.decoder.models import random_toy


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    directory = random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory
    (directory / "secret").write_text("hidden x\n")
    return directory


@pytest.fixture
def model(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "model")


def with_language_model(model, **entry):
    description = yaml.safe_load((model / "model.yaml").read_text())
    description["language_models"] = [entry]
    (model / "model.yaml").write_text(yaml.safe_dump(description))


def with_map(model, name):
    """A level of word classes in templates.yaml, its map of source words in the file `name`."""
    (model / "target.classes").write_text("s 1\n")
    save_templates(model, Templates(levels=[Level(kind="classes", budget=1, source=name, target="target.classes")]))


ELSEWHERE = ["/etc/passwd", "../secret", "a/../../secret", "link", "pipe", "/dev/zero", "zero", "", ".", "a\0b", "x\ny"]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_names_lead_to_regular_files_of_the_model(model, tmp_path, name):
    (tmp_path / "secret").write_text("hidden x\n")
    (model / "a").mkdir()
    os.mkfifo(model / "pipe")
    (model / "zero").symlink_to("/dev/zero")
    (model / "link").symlink_to("../secret")
    with pytest.raises(ModelError) as caught:
        model_file(model, name)
    assert str(caught.value).startswith(str(model))
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("field", ["file", "classes", "map"])
def test_models_that_name_what_is_not_theirs(model, field):
    if field == "map":
        with_map(model, "/dev/zero")
    else:
        with_language_model(model, **{field: "/dev/zero"})
    with pytest.raises(ModelError, match="names the file '/dev/zero', which is not within it"):
        open_model(model)


@pytest.mark.parametrize(
    "name", ["lm.bin", "weights.yaml", "source.vocab", "phrases", "phrases/ln_scores.npy", "notes"]
)
def test_links_that_leave_the_model(model, whole, name):
    if (model / name).is_dir():
        shutil.rmtree(model / name)
    else:
        (model / name).unlink(missing_ok=True)
    (model / name).symlink_to(whole / ("secret" if name == "notes" else name))
    with pytest.raises(ModelError, match=f"{name}: a link that leads out of the model directory"):
        open_model(model)


@pytest.mark.parametrize("name", ["lm.bin", "weights.yaml", "phrases", "notes"])
def test_links_to_themselves(model, name, capsys):
    if (model / name).is_dir():
        shutil.rmtree(model / name)
    else:
        (model / name).unlink(missing_ok=True)
    (model / name).symlink_to(name)
    # What a model does not read may be anything.
    assert main(["check-model", str(model)]) == (0 if name == "notes" else 2)
    assert (name in capsys.readouterr().err) == (name != "notes")


@pytest.mark.parametrize("name", ["model.yaml", "weights.yaml", "target.vocab", "phrases/slots.npy", "lm.bin"])
def test_pipes_are_not_waited_for(model, name, capsys):
    (model / name).unlink()
    os.mkfifo(model / name)
    assert main(["check-model", str(model)]) == 2
    assert f"{name}: not a regular file" in capsys.readouterr().err


def test_links_within_a_model_and_hard_links_are_fine(model, tmp_path):
    (model / "other.bin").hardlink_to(model / "lm.bin")
    (model / "lm.bin").unlink()
    (model / "lm.bin").symlink_to("other.bin")
    open_model(model)
    share(model / "lm.bin", tmp_path / "derived" / "lm.bin")
    assert (tmp_path / "derived" / "lm.bin").read_bytes() == (model / "other.bin").read_bytes()
    assert not (tmp_path / "derived" / "lm.bin").is_symlink()


def test_large_files_are_not_read(model, monkeypatch):
    monkeypatch.setattr(model_paths, "LARGEST_TEXT", 5)
    os.truncate(model / "source.vocab", 2**40)  # a hole: it takes no room on disk
    with pytest.raises(SmtError, match=r"\d+ bytes, expected at most"):
        open_model(model)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{levels: [" + ", ".join(f"{{kind: characters, prefix: {i}, budget: 1}}" for i in range(1, 10)) + "]}", "8"),
        ("{levels: [{kind: word, budget: 0}]}", "levels.0.budget"),
        ("{levels: [{kind: characters, budget: 1, prefix: 100000}]}", "levels.0.prefix"),
        ("word_edges: {budget: 1000000}", "word_edges.budget"),
        (
            "{word_edges: {budget: 1000, most_words: 6}, levels: ["
            + ", ".join(f"{{kind: characters, prefix: {i}, budget: 1}}" for i in range(1, 9))
            + "]}",
            "word_edges gives 1062880 combinations, at most 100000",
        ),
    ],
)
def test_templates_ask_for_bounded_work(tmp_path, text, complaint):
    (tmp_path / "templates.yaml").write_text(text)
    with pytest.raises(SmtError, match=complaint):
        load_config(tmp_path / "templates.yaml", TemplatesFile)


@pytest.mark.parametrize("with_length", [False, True])
def test_combinations_are_counted(with_length):
    levels = [Level(kind="word", budget=5), Level(kind="characters", prefix=1, budget=3), Level(kind="type", budget=1)]
    levels += [Level(kind="characters", suffix=1, budget=2, source_only=True), Level(kind="tags", budget=2)]
    for budget, most_words in product((1, 4, 7, 12), (1, 2, 4)):
        settings = WordEdges(budget=budget, most_words=most_words, with_length=with_length)
        assert n_word_edges(settings, levels) == len(word_edges(settings, levels))
