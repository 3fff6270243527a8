"""Pipes, sockets and devices in the directory of a training are told of, and not waited for."""

import os
import shutil
import stat

import pytest

from phrasebeam.cli import main
from tests.training.maxforce.maxforce_toy import make_data

TUNE = "tune --model {0}/model --source {0}/dev.source --reference {0}/dev.target --iterations 1 --nbest 5 --output out"
BUILD = "train-model --source {0}/train.source --target {0}/train.target --alignment {0}/train.alignment --output out"
MAKE = {
    "pipe": os.mkfifo,
    "socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory with data and a model that was tuned."""
    directory = tmp_path_factory.mktemp("regular")
    make_data(directory)
    assert main(TUNE.replace(" out", " {0}/out").format(directory).split()) == 0
    return directory


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    shutil.copytree(made / "out", tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (TUNE, "tuning/curve.csv"),
        (TUNE, "tuning/work.yaml"),
        (TUNE, "tuning/seed-1/run.yaml"),
        (TUNE, "tuning/seed-1/nbest/dense.npy"),
        (TUNE, "weights.yaml"),
        (TUNE, "model.yaml"),
        (BUILD, "weights.yaml"),
        ("report out --output page", "tuning/curve.csv"),
        ("report out --output page", "model.yaml"),
    ],
)
def test_one_line_tells_of_what_is_no_file(made, here, capsys, kind, command, name):
    (here / "out" / name).unlink()
    MAKE[kind](here / "out" / name)
    assert main(command.format(made).split()) == 2
    expected = f"phrasebeam: out/{name}: a pipe, socket or device, expected a regular file; remove it\n"
    assert capsys.readouterr().err.replace(f"{here}/", "") == expected


def test_what_is_no_model_is_not_waited_for(made, here, capsys):
    (here / "out" / "model.yaml").unlink()
    os.mkfifo(here / "out" / "model.yaml")
    assert main(BUILD.format(made).split()) == 2
    assert "out: exists and is not a model" in capsys.readouterr().err


def test_a_directory_in_place_of_a_file(made, here, capsys):
    (here / "out" / "tuning" / "curve.csv").unlink()
    (here / "out" / "tuning" / "curve.csv").mkdir()
    (here / "out" / "model.yaml").unlink()
    assert main(TUNE.format(made).split()) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "phrasebeam: out/tuning/curve.csv: Is a directory"
