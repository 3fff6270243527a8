"""A derived model takes over the digests of files that it shares, and has those of the files that it gets."""

import os
import shutil
import stat

import pytest

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.model import digests
from phrasebeam.decoder.model.description import accept_files, open_description
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.shared_file import share
from tests.decoder.models import assert_sound, random_toy

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A model without digests."""
    return random_toy(tmp_path_factory.mktemp("toy"), 7).directory


@pytest.fixture
def model(tmp_path, older):
    directory = shutil.copytree(older, tmp_path / "model")
    accept_files(directory)
    return directory


def derive(model, output, monkeypatch):
    """Write a model with other weights; the names of the files whose digests were computed."""
    derived = DerivedModel.begin(model, output, "tuning", {})
    computed, file_digest = [], digests.file_digest
    with monkeypatch.context() as patch:
        patch.setattr(digests, "file_digest", lambda path: (computed.append(path.name), file_digest(path))[1])
        derived.write(derived.opened.weights.model_copy(update={"distortion": 0.75}), Making("tune", {}))
    return [name for name in computed if name != "README.md"]


def test_digests_of_shared_files_are_taken_over(model, tmp_path, monkeypatch):
    assert derive(model, tmp_path / "out", monkeypatch) == ["weights.yaml"]
    assert_sound(tmp_path / "out")
    before, after = (open_description(path).files for path in (model, tmp_path / "out"))
    assert {name for name, digest in after.items() if digest != before.get(name)} == {"weights.yaml", "README.md"}
    assert derive(tmp_path / "out", tmp_path / "again", monkeypatch) == ["weights.yaml"]
    assert_sound(tmp_path / "again")


def test_a_model_without_digests_gets_some(older, tmp_path, monkeypatch):
    computed = derive(older, tmp_path / "out", monkeypatch)
    assert len(computed) + 1 == len(open_description(tmp_path / "out").files) > 15
    assert_sound(tmp_path / "out")


def test_edited_files_have_their_own_digests(model, tmp_path, monkeypatch):
    (model / "search.yaml").write_text("search: {stack: 10}\n")
    accept_files(model)
    (model / "search.yaml").write_text("search: {stack: 20}\n")
    (model / "weights.yaml").write_text((model / "weights.yaml").read_text() + "early_distortion: 0.5\n")
    changed = {line.split(": ")[0] for line in findings(model)}
    assert changed == {f"{model / name}" for name in ("weights.yaml", "search.yaml")}
    assert sorted(derive(model, tmp_path / "out", monkeypatch)) == ["search.yaml", "weights.yaml"]
    assert_sound(tmp_path / "out")


def test_no_model_changes_another(model, tmp_path, monkeypatch):
    """Small files are copies; a large one is a copy that shares blocks, or one file that is read-only for both."""
    monkeypatch.setattr("phrasebeam.training.common.shared_file.SMALL", 500)
    (model / "search.yaml").write_text("search: {stack: 20}\n" + "# a long remark\n" * 100)
    derive(model, tmp_path / "out", monkeypatch)
    paths = [path.relative_to(model) for path in model.rglob("*") if path.is_file()]
    assert (model / "lm.bin").stat().st_size > 500 > (model / "source.vocab").stat().st_size
    for path in paths:
        one, other = (os.stat(directory / path) for directory in (model, tmp_path / "out"))
        is_read_only = not one.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        assert one.st_ino != other.st_ino or (is_read_only and one.st_size > 500), path
    assert os.stat(model / "search.yaml").st_ino != os.stat(tmp_path / "out" / "search.yaml").st_ino


def test_files_of_other_systems_are_copied(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("phrasebeam.training.common.shared_file.SMALL", 1)
    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "one").write_text("text")
    share(tmp_path / "one", tmp_path / "folder" / "other")
    assert (tmp_path / "folder" / "other").read_text() == "text"
    assert os.access(tmp_path / "one", os.W_OK)


def test_files_of_an_earlier_model_do_not_stay(model, tmp_path, monkeypatch):
    derive(model, tmp_path / "out", monkeypatch)
    (tmp_path / "out" / "sparse").mkdir()
    for name in ("search.yaml", "templates.yaml", "sparse/names"):
        (tmp_path / "out" / name).write_text("")
    (tmp_path / "out" / "notes").write_text("mine")
    derive(model, tmp_path / "out", monkeypatch)
    assert_sound(tmp_path / "out")
    assert not any((tmp_path / "out" / name).exists() for name in ("search.yaml", "templates.yaml", "sparse/names"))
    assert (tmp_path / "out" / "notes").read_text() == "mine"


def begin(model, output, command="tune", is_forced=False, **settings):
    derived = DerivedModel.begin(model, output, {"tune": "tuning"}.get(command, "ranking"), {})
    text = output.parent / "text"
    text.write_text("a b\n")
    return derived, derived.begin_work(command, settings, is_forced, BitextFiles(text, [text]))


def test_work_of_other_settings_is_refused_unless_forced(model, tmp_path):
    output = tmp_path / "out"
    begin(model, output, nbest=5, search={"stack": 3, "pop_limit": 4})
    (output / "tuning" / "lists").write_text("hours")
    begin(model, output, nbest=5, search={"stack": 3, "pop_limit": 4})
    with pytest.raises(ConfigError, match=r"a run of tune: nbest was 5, is 6; search.stack was 3, is 9; give --force"):
        begin(model, output, nbest=6, search={"stack": 9, "pop_limit": 4})
    with pytest.raises(ConfigError, match="an unfinished run, in tuning; give --force"):
        begin(model, output, "train-ranking")
    (output / "notes").write_text("mine")
    begin(model, output, is_forced=True, nbest=6)
    names = sorted(path.name for path in output.rglob("*") if path.is_file())
    assert names == ["notes", "reference.1.txt", "source.txt", "work.yaml"]


def test_a_model_is_refused_unless_forced(model, tmp_path, monkeypatch):
    output = tmp_path / "out"
    derive(model, output, monkeypatch)
    with pytest.raises(ConfigError, match="out: a model that tune made; give --force"):
        begin(model, output, "train-ranking")
    begin(model, output, "train-ranking", is_forced=True)
    assert not (output / "model.yaml").exists()
    (output / "ranking" / "work.yaml").write_text("format: phrasebeam work 0\n")
    with pytest.raises(ConfigError, match="a run that cannot be read"):
        begin(model, output, "train-ranking")
