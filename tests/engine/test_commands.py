"""What commands make by Ray's workers: the same bytes as by this process, also after kills."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests import ROOT
from tests.engine.compared_commands import COMMANDS, make_compared_data, written
from tests.engine.worker_kills import killing
from tests.training.joint_selection.ranking_toy import RANKING

BY_RAY = {"engine": "ray", "workers": 3}
RANK = "train-ranking, algorithm 4"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("engines")
    make_compared_data(directory)
    return directory


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_bytes(cluster, data, tmp_path, name):
    one, many = (written(name, data, tmp_path / f"{len(options)}", options) for options in ({}, BY_RAY))
    assert one and one == many


@pytest.mark.parametrize("options", [{"workers": 2}, {"engine": "ray", "workers": 8}])
def test_train_model_with_other_numbers_of_workers(cluster, data, tmp_path, options):
    name = "train-model, smoothed"
    assert written(name, data, tmp_path / "many", options) == written(name, data, tmp_path / "one", {})


@pytest.mark.parametrize("workers", [1, 4])
def test_translate_with_other_numbers_of_workers(cluster, data, tmp_path, workers):
    many = written("translate", data, tmp_path / "many", BY_RAY | {"workers": workers})
    assert many == written("translate", data, tmp_path / "one", {})


def test_killed_workers_change_nothing(cluster, data, tmp_path):
    with killing(4, 1) as killed:
        found = written(RANK, data, tmp_path / "killed", {"engine": "ray", "workers": 2})
    assert killed
    assert found == written(RANK, data, tmp_path / "whole", {})


def test_a_killed_command_goes_on(cluster, data, tmp_path):
    (tmp_path / "config").write_text(yaml.safe_dump(RANKING))
    names = {"model": "model", "source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    names |= {"dev-source": "dev.source", "dev-reference": "dev.target"}
    given = [part for name, file in names.items() for part in (f"--{name}", str(data / file))]
    output = tmp_path / "killed"
    arguments = ["train-ranking", *given, "--config", str(tmp_path / "config"), "--output", str(output)]
    script = "import sys; from phrasebeam.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, *arguments, "--engine", "ray", "--address", cluster, "--workers", "2"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _wait_for(output / "ranking" / "shard-2.npz", process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    found = written(RANK, data, output, {"engine": "ray", "workers": 2})
    assert found == written(RANK, data, tmp_path / "whole", {})


def _wait_for(path: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
