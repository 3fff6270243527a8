"""Whatever changes in a file of a model is found by check-model, and in small files when the model is opened."""

import os
import shutil

import numpy as np
import pytest
import yaml

from phrasebeam.base.errors import ConfigError, SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.model import digests
from phrasebeam.decoder.model.description import MODEL_FORMAT, accept_files, open_description
from phrasebeam.decoder.model.digests import digest_of, file_digest, model_files
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.sparse_files import save_feature_names, save_templates
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights, save_sparse_weights
from phrasebeam.decoder.sparse.templates import Templates
from tests.decoder.models import random_toy

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model with sparse features, and with digests."""
    directory = random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory
    save_templates(directory, Templates(rule_id=True))
    weights = new_sparse_weights(3)
    add_weights(weights, np.array([3, 5, 9], np.uint64), np.array([0.5, 1.0, -1.0]))
    save_sparse_weights(weights, directory / "sparse")
    save_feature_names(directory, {3: "three"})
    (directory / "log").write_text("no part of the model")
    accept_files(directory)
    return directory


@pytest.fixture
def model(tmp_path, whole):
    return shutil.copytree(whole, tmp_path / "model")


def check(model, capfd, *options):
    """Exit status of check-model, and what it prints."""
    status = main(["check-model", str(model), *options])
    printed = capfd.readouterr()
    return status, printed.out + printed.err


def names(directory):
    return ["model.yaml", *model_files(directory)]


def test_all_files_have_digests(whole, capfd):
    description = open_model(whole).description
    assert description.format == MODEL_FORMAT
    assert "log" not in description.files
    paths = {path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file()}
    assert paths == {"model.yaml", "log", "text", "lm.arpa", *description.files}
    for name, digest in description.files.items():
        assert digest == file_digest(whole / name) == digest_of((whole / name).read_bytes())
    assert check(whole, capfd) == (0, f"{whole}: sound\n")


def flip(data, rng):
    place = int(rng.integers(len(data)))
    return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]


def zero(data, rng):
    place = int(np.flatnonzero(np.frombuffer(data, np.uint8))[-1])
    return data[:place] + bytes(min(64, len(data) - place)) + data[place + 64 :]


MUTATIONS = {
    "a bit": flip,
    "zeroes": zero,
    "a byte less": lambda data, rng: data[:-1],
    "a byte more": lambda data, rng: data + b"\n",
    "half": lambda data, rng: data[: len(data) // 2],
    "nothing": lambda data, rng: b"",
    "CRLF": lambda data, rng: data.replace(b"\n", b"\r\n") if b"\n" in data else data + b"\r\n",
    "other order": lambda data, rng: b"\n".join(data.split(b"\n")[::-1]) + b"\n",
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_changes_are_found(model, capfd, mutation):
    rng = np.random.default_rng(len(mutation))
    for name in names(model):
        path = model / name
        before = path.read_bytes()
        path.write_bytes(MUTATIONS[mutation](before, rng))
        status, printed = check(model, capfd)
        assert status == 2, name
        assert f"{path}:" in printed
        assert printed.count("\n") == 1
        assert "Traceback" not in printed
        if name not in digests.EDITABLE:
            with pytest.raises(SmtError, match=f"^{path}:"):
                open_model(model)
        path.write_bytes(before)
    assert check(model, capfd)[0] == 0


def test_edits_that_are_allowed_are_told_apart_from_damage(model, capfd):
    (model / "search.yaml").write_text("search:\n  stack: 7\n")
    (model / "weights.yaml").write_text((model / "weights.yaml").read_text() + "\n")
    open_model(model)
    status, printed = check(model, capfd)
    search, weights = printed.splitlines()  # standard output before the error
    assert status == 2
    assert f"{model / 'search.yaml'}: added since the model was made; if this was your edit, run phrasebeam" in search
    assert "; if this was your edit, run phrasebeam check-model --accept" in weights
    assert check(model, capfd, "--accept")[0] == 0
    assert check(model, capfd) == (0, f"{model}: sound\n")


def test_other_kinds_of_files_are_found(model, capfd):
    for name in names(model):
        path = model / name
        moved = path.rename(model / "moved")
        for make in (lambda path: None, os.mkdir, os.mkfifo):
            make(path)
            status, printed = check(model, capfd)
            assert (status, printed.count("\n")) == (2, 1), name
            assert f"{path}: " in printed
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
        moved.rename(path)


def test_of_large_files_only_the_size_is_looked_at_when_a_model_is_opened(model, capfd, monkeypatch):
    monkeypatch.setattr(digests, "SMALL", 0)
    path = model / "phrases" / "ln_scores.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    open_model(model)
    assert f"{path}: " in check(model, capfd)[1]
    path.write_bytes(data + bytes(16))
    with pytest.raises(SmtError, match=f"{len(data) + 16} bytes, expected {len(data)} bytes, crc32"):
        open_model(model)
    path.write_bytes(data)
    words = (model / "source.vocab").read_text().splitlines()[::-1]
    (model / "source.vocab").write_text("".join(f"{word}\n" for word in words))
    with pytest.raises(SmtError, match=r"source\.vocab: .*, expected .* bytes, crc32"):
        open_model(model)


def test_weights_may_be_edited(model, capfd):
    path = model / "weights.yaml"
    path.write_text(path.read_text().replace("distortion: ", "distortion: 0.5 # "))
    before = open_model(model).weights
    status, printed = check(model, capfd)
    assert (status, printed.count(f"phrasebeam check-model --accept {model}")) == (2, 1)
    assert check(model, capfd, "--accept") == (0, f"{model}: sound\n")
    assert check(model, capfd) == (0, f"{model}: sound\n")
    assert open_model(model).weights == before
    path.write_text(path.read_text().replace("distortion: ", "distorsion: "))
    assert check(model, capfd, "--accept")[0] == 2


def test_wrong_numbers_are_not_accepted(model, capfd):
    path = model / "phrases" / "target_words.npy"
    words = np.load(path)
    np.save(path, words + 1000)
    digest = open_description(model).files["phrases/target_words.npy"]
    status, printed = check(model, capfd, "--accept")
    assert (status, printed.count("expected 0 to")) == (2, 1)
    assert open_description(model).files["phrases/target_words.npy"] == digest


def test_files_that_are_added_are_found(model, capfd):
    (model / "sparse" / "pairs").mkdir()
    (model / "sparse" / "pairs" / "names").write_text("x\n")
    status, printed = check(model, capfd)
    assert status == 2
    assert f"{model / 'sparse' / 'pairs' / 'names'}: not among the files that model.yaml names" in printed


def test_a_model_without_digests(tmp_path, capfd):
    directory = random_toy(tmp_path / "toy", 7).directory
    status, printed = check(directory, capfd)
    assert status == 0
    assert printed.startswith(f"{directory}: no wrong numbers; ")
    assert not open_model(directory).description.files
    assert check(directory, capfd, "--accept") == (0, f"{directory}: sound\n")
    assert open_model(directory).description.files


@pytest.mark.parametrize(
    "change",
    [
        {"format": "phrasebeam model 1"},
        {"digest": None},
        {"files": {}},
        {"files": {"../model.yaml": digest_of(b"")}},
        {"files": {"/dev/zero": "1000000 bytes, crc32 00000000"}},
        {"files": {"source.vocab": "many bytes"}},
        {"files": {"source.vocab": f"{'9' * 40} bytes, crc32 00000000"}},
        {"max_source_phrase_length": 1},
    ],
)
def test_a_description_that_was_changed(model, change):
    path = model / "model.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change, sort_keys=False))
    with pytest.raises(SmtError, match=f"^{path}: "):
        open_model(model)


def test_a_key_behind_the_digest(model):
    path = model / "model.yaml"
    path.write_text(path.read_text() + "max_source_phrase_length: 1\n")
    with pytest.raises(SmtError, match="is there twice"):
        open_model(model)


def test_names_lead_to_files_within(model):
    for name in ("..", "a/../b", "/a", "a//b", "", "./a", "a\0b"):
        with pytest.raises((ConfigError, ValueError)):
            digests._check_name(name)
    assert digests._check_name("sparse/pairs/names") == "sparse/pairs/names"
