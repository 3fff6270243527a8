"""A derived model takes over the digests of files that it shares, and has those of the files that it gets."""

import shutil

import pytest

from phrasebeam.decoder.model import digests
from phrasebeam.decoder.model.description import accept_files, open_description
from phrasebeam.decoder.model.model_check import findings
from phrasebeam.training.common.derived_model import DerivedModel
from tests.decoder.models import assert_sound, random_toy

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore:overflow")]


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
        derived.write(derived.opened.weights.model_copy(update={"distortion": 0.75}), {})
    return computed


def test_digests_of_shared_files_are_taken_over(model, tmp_path, monkeypatch):
    assert derive(model, tmp_path / "out", monkeypatch) == ["weights.yaml"]
    assert_sound(tmp_path / "out")
    before, after = (open_description(path).files for path in (model, tmp_path / "out"))
    assert {name for name, digest in after.items() if digest != before[name]} == {"weights.yaml"}
    assert derive(tmp_path / "out", tmp_path / "again", monkeypatch) == ["weights.yaml"]
    assert_sound(tmp_path / "again")


def test_a_model_without_digests_gets_some(older, tmp_path, monkeypatch):
    computed = derive(older, tmp_path / "out", monkeypatch)
    assert len(computed) == len(open_description(tmp_path / "out").files) > 15
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
