"""The recipes of ARCHITECTURE.md, each followed in a copy of the package: the new thing is there, by at most two files.

Nothing is compiled here: the data are small, and other kernels would take longer to compile than to run uncompiled.
"""

import os
import shutil
import subprocess
import sys

import pytest
import yaml

from tests import ROOT
from tests.training.maxforce.maxforce_toy import make_data

MOST_FILES = 2


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recipes")
    make_data(directory)
    return directory


class Copy:
    """A copy of the package in which additions are tried."""

    def __init__(self, folder):
        self.folder, self.touched = folder, set()
        for name in ("phrasebeam", "lm", "decoder", "training", "configs"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)

    def write(self, name, text):
        """A new file."""
        (self.folder / name).write_text(text)
        self.touched.add(name)

    def replace(self, name, old, new):
        """Change a place of a file that occurs once."""
        text = (self.folder / name).read_text()
        assert text.count(old) == 1, (name, old, text.count(old))
        (self.folder / name).write_text(text.replace(old, new))
        self.touched.add(name)

    def append(self, name, text):
        """Add to the end of a file."""
        self.write(name, (self.folder / name).read_text() + text)

    def run(self, *arguments):
        """What the command prints."""
        assert len(self.touched) <= MOST_FILES
        variables = os.environ | {"PYTHONPATH": str(self.folder), "NUMBA_DISABLE_JIT": "1"}
        command = [sys.executable, "-P", "-m", "phrasebeam", *map(str, arguments)]
        done = subprocess.run(command, env=variables, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "copy")


def training(data, command, output, settings):
    """The arguments of a trainer."""
    config = output.parent / "settings.yaml"
    config.write_text(yaml.safe_dump(settings))
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target", "model": "model"}
    given = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    return [command, *given, "--output", output, "--config", config]


PERCEPTRON = {
    "templates": {"rule_id": True},
    "rates": {"rule_id": 1.0},
    "iterations": 1,
    "sentences": 10,
    "threads": 1,
    "search": {"stack": 5, "max_phrase_length": 1},
}


def test_an_update_strategy(copy, data, tmp_path):
    updates = "training/maxforce/updates.py"
    copy.replace(
        updates,
        "\nUPDATES:",
        '\ndef first(bins: Bins, phrase_limit: int) -> Update | None:\n    """The first bin with a violation."""\n'
        "    violated = np.flatnonzero(bins.bad >= bins.good)\n"
        "    return Update(int(violated[0])) if violated.size else None\n\n\nUPDATES:",
    )
    copy.replace(updates, 'Strategy = Literal["early", ', 'Strategy = Literal["first", "early", ')
    copy.replace(updates, '    "early": early,\n', '    "first": first,\n    "early": early,\n')
    copy.run(*training(data, "train-maxforce", tmp_path / "out", PERCEPTRON | {"update": "first"}))
    assert yaml.safe_load((tmp_path / "out" / "model.yaml").read_text())["settings"]["maxforce"]["update"] == "first"


def test_an_optimizer(copy, data, tmp_path):
    copy.replace(
        "training/expected_bleu/optimizers.py",
        "\nOPTIMIZERS:",
        "\ndef signs(weights: np.ndarray, gradient: np.ndarray, state: State, steps: Steps) -> None:\n"
        '    """Steps of one size along the sign of the gradient."""\n'
        "    weights += steps.rprop.initial_step * np.sign(gradient)\n\n\nOPTIMIZERS:",
    )
    copy.replace("training/expected_bleu/optimizers.py", '"sgd": sgd}', '"sgd": sgd, "signs": signs}')
    copy.replace("training/expected_bleu/config.py", '"adagrad", "sgd", "gt"]', '"adagrad", "sgd", "signs", "gt"]')
    settings = {"optimizer": "signs", "iterations": 1, "sentences": 10, "nbest": 5, "threads": 1}
    copy.run(*training(data, "train-expected-bleu", tmp_path / "out", settings | {"search": PERCEPTRON["search"]}))
    assert (tmp_path / "out" / "phrases" / "ln_scores.npy").exists()


def test_a_tuning_method(copy, data, tmp_path):
    copy.write(
        "training/tuning/methods/walk.py",
        '"""A random walk, kept where it is better."""\n\n'
        "import numpy as np\nfrom pydantic import Field\n\n"
        "from phrasebeam.base.config import Section\n"
        "from phrasebeam.training.tuning.methods.problem import Optimum, Problem\n\n\n"
        'class Walk(Section):\n    """A random walk."""\n\n    steps: int = Field(10, ge=1, description="tried")\n\n\n'
        "def walk(problem: Problem, settings: Walk) -> Optimum:\n"
        '    """The best of some steps from the start."""\n'
        "    tried = [problem.start]\n"
        "    for _ in range(settings.steps):\n"
        "        tried.append(problem.start + problem.tunable * problem.rng.normal(0, 0.1, problem.start.size))\n"
        "    best = int(np.argmax([problem.score_of(weights) for weights in tried]))\n"
        "    return Optimum(tried[best], settings.steps, best)\n",
    )
    methods = "training/tuning/methods/methods.py"
    copy.replace(methods, '    "mert": mert,\n', '    "mert": mert,\n    "walk": walk,\n')
    copy.replace(methods, 'Literal["mert", ', 'Literal["mert", "walk", ')
    copy.replace(methods, "    mert: Mert = Mert()\n", "    mert: Mert = Mert()\n    walk: Walk = Walk()\n")
    copy.replace(
        methods,
        "methods.problem import Optimum, Problem\n",
        "methods.problem import Optimum, Problem\nfrom phrasebeam.training.tuning.methods.walk import Walk, walk\n",
    )
    settings = tmp_path / "tune.yaml"
    settings.write_text(yaml.safe_dump({"walk": {"steps": 3}, "iterations": 1, "nbest": 5}))
    dev = ("--source", data / "dev.source", "--reference", data / "dev.target")
    options = ("--method", "walk", "--config", settings, "--output", tmp_path / "out")
    assert "seed-1" in copy.run("tune", "--model", data / "model", *dev, *options)


def test_a_command(copy, data):
    copy.write(
        "decoder/model/pairs_command.py",
        '"""The command `count-pairs`."""\n\n'
        "from pathlib import Path\nfrom typing import Annotated\n\nimport typer\n\n"
        "from phrasebeam.decoder.model.model import open_model\n\n\n"
        'def count_pairs(model: Annotated[Path, typer.Option(help="Model directory.")]) -> None:\n'
        '    """Print how many phrase pairs a model has."""\n'
        "    print(open_model(model).tables.phrases.joint_counts.size)\n",
    )
    line = '    "check-model": ('
    new = '    "count-pairs": ("phrasebeam.decoder.model.pairs_command", "count_pairs"),\n'
    copy.replace("phrasebeam/cli.py", line, new + line)
    assert int(copy.run("count-pairs", "--model", data / "model")) > 0
