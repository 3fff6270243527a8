"""warm-up compiles what the first runs of commands would wait for."""

import subprocess
import sys

import pytest

from phrasebeam.training.demo.demo_corpus import write_pairs
from tests import ROOT

pytestmark = pytest.mark.needs_jit
COMPILING = "compiling kernels"


def phrasebeam(*arguments):
    command = [sys.executable, "-m", "phrasebeam", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)


def test_commands_find_their_kernels_compiled(tmp_path):
    assert phrasebeam("warm-up").stdout.startswith("the kernels of all commands are compiled: ")
    source, target = write_pairs(tmp_path / "train", 50, 1, 0.0)
    model, output = tmp_path / "model", tmp_path / "output"
    done = [
        phrasebeam("train-model", "--source", source, "--target", target, "--output", model),
        phrasebeam("translate", "--model", model, "--input", source, "--output", output),
        phrasebeam("translate", "--model", model, "--input", source, "--output", output, "--algorithm", "cube"),
    ]
    assert not [one.stderr for one in done if COMPILING in one.stderr]
