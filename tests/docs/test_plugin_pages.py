"""docs/plugins.md and the notebook: their code runs, and trainers use everything that the plugins declare."""

import json
import subprocess
import sys

import numpy as np
import pytest
import yaml

from docs.pages import notebook
from tests import ROOT
from tests.documents import blocks, environment, run, steps
from tests.recipes.conftest import data
from tests.recipes.package_copy import PERCEPTRON, training

__all__ = ["data", "environment"]  # fixtures
PAGE = ROOT / "docs" / "plugins.md"
MINE, MORE, IN_PYTHON = blocks(PAGE, "python")
CELLS = json.loads(notebook.page())["cells"]


@pytest.fixture
def here(tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "more.py").write_text(MORE, encoding="utf-8")
    return tmp_path


@pytest.mark.needs_jit
def test_the_page_and_then_the_notebook_run(environment, here):
    """One after the other: the second needs what the first has compiled."""
    check_page(environment, here)
    (here / "notebook").mkdir()
    check_notebook(environment, here / "notebook")
    assert (here / "notebook" / "mine.py").read_text(encoding="utf-8") == MINE


def check_page(environment, here):
    for command, shown in steps(PAGE):
        output = run(["bash", "-c", command], environment, here)
        assert [line for line in shown if line not in output.splitlines()] == []
    assert float(output.splitlines()[2].split()[1]) > 50  # shared words; none are 0
    assert isinstance(yaml.safe_load((here / "tuned" / "weights.yaml").read_text())["same_length"], float)
    assert float(run([sys.executable, "-c", IN_PYTHON], environment, here)) >= 1
    without = subprocess.run(
        ["phrasebeam", "translate", "--model", "tuned"], cwd=here, env=environment, input=b"a\n", capture_output=True
    )
    assert without.returncode == 2 and b"same_length: unknown key" in without.stderr and b"--plugin" in without.stderr


def check_notebook(environment, here):
    code = "\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code")
    lines = run([sys.executable, "-c", code], environment, here).splitlines()
    assert "True" in lines  # the best of each list is the translation
    assert any(line.startswith("True ") and line.endswith("edges are within 1 of the best") for line in lines)
    assert lines[-1].startswith("chrF2++ [(") and lines[-2].startswith("BLEU [(")


def test_the_notebook_has_the_text_and_the_code_of_the_page():
    found = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert found["nbformat"] == 4 and found == json.loads(notebook.page())
    assert [cell["cell_type"] for cell in CELLS][:3] == ["markdown", "code", "markdown"]
    assert len({cell["id"] for cell in CELLS}) == len(CELLS)


def trained(environment, here, arguments):
    """What a trainer says with the plugin, uncompiled."""
    command = ["phrasebeam", "--plugin", here / "mine.py", "--plugin", here / "more.py", *arguments]
    return run([*map(str, command)], environment | {"NUMBA_DISABLE_JIT": "1"}, here)


def test_trainers_take_what_it_declares(environment, here, data):
    quick = {"rule": "signs", "templates": {"rule_id": True}}
    lists = {"iterations": 1, "nbest": 5, "sentences": 10, "tune": None, "search": {"max_phrase_length": 1}}
    perceptron = PERCEPTRON | {"rule": "signs", "update": "first_violation"}
    gradient = {"optimizer": "fixed_steps", "iterations": 1, "sentences": 10, "nbest": 5, "threads": 1}
    runs = {
        "train-ranking": lists | quick | {"pairs": "squared_hinge", "margin": 1.0},
        "train-maxforce": perceptron,
        "train-expected-bleu": gradient | {"search": PERCEPTRON["search"]},
    }
    for name, settings in runs.items():
        (here / name).mkdir()
        trained(environment, here, training(data, name, here / name / "out", settings))
    for shard in ("train-ranking/out/ranking", "train-maxforce/out/maxforce/seed-1"):
        with np.load(here / shard / "shard-0.npz") as arrays:
            steps_of_signs = arrays["values"] / 0.1
        assert steps_of_signs.size and np.allclose(steps_of_signs, np.round(steps_of_signs))
    assert (here / "train-expected-bleu" / "out" / "phrases" / "ln_scores.npy").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero; the plugin cannot be used"),
        ("import phrasebeam.decoder.features.pair", "imports modules that plugins extend; import them inside"),
        ("from phrasebeam.plugins import metric\nmetric('bleu', 'BLEU')(len)", "'bleu', which phrasebeam has already"),
        ("from phrasebeam.plugins import metric\nmetric('a b', 'A')(len)", "'a b': no name"),
        ("from phrasebeam.plugins import metric\nmetric('a', 'A')(metric('a', 'A')(len))", "'a': declared twice"),
        (None, "no such file; expected a Python file"),
    ],
)
def test_what_is_wrong_with_a_plugin_is_one_line(environment, tmp_path, text, said):
    (tmp_path / "lines").write_text("a b\n")
    if text is not None:
        (tmp_path / "bad.py").write_text(text)
    evaluating = ["evaluate", "--hypothesis", "lines", "--reference", "lines"]
    command = ["phrasebeam", "--plugin=bad.py", *evaluating]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("phrasebeam: ") and said in done.stderr
