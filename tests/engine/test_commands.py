"""What commands make by Ray's workers: the same bytes as by this process, also after kills."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.training.demo.demo_corpus import write_pairs
from tests import ROOT
from tests.engine.worker_kills import RANKING, killing, rank
from tests.training.maxforce.maxforce_toy import QUICK, make_data, weights_of

BY_RAY = {"engine": "ray", "workers": 3}
TELL_OF_TIME = ".npz", ".csv", ".png", ".md"
LISTS = {"iterations": 2, "lm_folds": 2, "nbest": 10, "calibrate": False, "tune": None}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("engines")
    make_data(directory, operations={"order": 3})
    return directory


def files(data, *more):
    names = "model", "train.source", "train.target", "dev.source", "dev.target"
    return [data / name for name in (*names, *more)]


def contents(directory):
    """The bytes of all files but those that tell of seconds."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.suffix not in TELL_OF_TIME and path.name not in ("model.yaml", "run.yaml"):
            found[str(path.relative_to(directory))] = path.read_bytes()
    return found


@pytest.mark.parametrize("smoothing", ["none", "kneser-ney"])
@pytest.mark.parametrize("options", [{"workers": 2}, BY_RAY, {"engine": "ray", "workers": 8}])
def test_train_model(cluster, tmp_path, options, smoothing):
    write_pairs(tmp_path / "train", 150, 1, 0.1)
    config = {"phrases": {"smoothing": smoothing}, "operations": {"order": 3}}
    pairs = tmp_path / "train.de", tmp_path / "train.en"
    phrasebeam.train_model(*pairs, tmp_path / "one", config=config)
    alignment = tmp_path / "one" / "alignment"
    phrasebeam.train_model(*pairs, tmp_path / "given", config=config, alignment=alignment)
    phrasebeam.train_model(*pairs, tmp_path / "many", config=config, alignment=alignment, **options)
    assert contents(tmp_path / "many") == contents(tmp_path / "given")


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_translate(cluster, data, tmp_path, workers):
    for name, more in {"one": [], "many": ["--engine", "ray", "--workers", str(workers)]}.items():
        (tmp_path / name).mkdir()
        outputs = ["--output", "text", "--nbest", "5", "--nbest-output", "nbest", "--lattice-output", "lattice"]
        placed = [str(tmp_path / name / part) if part in ("text", "nbest", "lattice") else part for part in outputs]
        arguments = ["--model", str(data / "model"), "--input", str(data / "train.source"), *placed]
        assert main(["translate", *arguments, *more]) == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_forced_decode(cluster, data, tmp_path):
    for name, options in {"one": {}, "many": BY_RAY}.items():
        (tmp_path / name).mkdir()
        outputs = tmp_path / name / "found", tmp_path / name / "lattices"
        pairs = data / "model", data / "train.source", data / "train.target"
        more = {"alignment": data / "train.alignment", "leave_one_out": "drop", "lattice": outputs[1]}
        reached = phrasebeam.force(*pairs, outputs[0], **more, **options)
        assert reached.text() == phrasebeam.force(*pairs, outputs[0], **more).text()
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def trained(command, data, tmp_path, config, *paths):
    for name, options in {"one": {}, "many": BY_RAY}.items():
        given = {} if command == "tune" else {"alignment": data / "train.alignment"}
        getattr(phrasebeam, command)(*paths, tmp_path / name, config=config, **given, **options)
    return contents(tmp_path / "one"), contents(tmp_path / "many")


def test_tune(cluster, data, tmp_path):
    one, many = trained("tune", data, tmp_path, {"iterations": 2, "nbest": 10}, *files(data)[:1], *files(data)[3:])
    assert one == many


def test_train_maxforce(cluster, data, tmp_path):
    one, many = trained("train_maxforce", data, tmp_path, QUICK, *files(data))
    assert one == many


def test_train_expected_bleu(cluster, data, tmp_path):
    one, many = trained("train_expected_bleu", data, tmp_path, LISTS, *files(data))
    assert one == many


@pytest.mark.parametrize("algorithm", [2, 4])
def test_train_ranking(cluster, data, tmp_path, algorithm):
    one, many = trained("train_ranking", data, tmp_path, RANKING | {"algorithm": algorithm}, *files(data))
    assert one == many


def test_killed_workers_change_nothing(cluster, data, tmp_path):
    rank(data, tmp_path / "whole")
    with killing(4, 1) as killed:
        rank(data, tmp_path / "killed", engine="ray", workers=2)
    assert killed
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


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
    rank(data, output, engine="ray", workers=2)
    rank(data, tmp_path / "whole")
    assert weights_of(output) == weights_of(tmp_path / "whole")


def _wait_for(path: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
