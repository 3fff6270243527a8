"""Documents as tests read them: blocks of code, and their commands run as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT


def blocks(path, language):
    """Code blocks of a document in that language."""
    text = Path(path).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables in which `phrasebeam` is this checkout, run by this Python, installed or not."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "phrasebeam"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m phrasebeam "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    variables = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return os.environ | variables


def run(command, environment, folder):
    """Standard output of a command that must succeed."""
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return result.stdout


def run_python(path, environment, folder):
    """Run the Python of a document: as many lines are printed as it has calls of print."""
    for block in blocks(path, "python"):
        output = run([sys.executable, "-c", block], environment, folder)
        assert output.count("\n") == block.count("print(")


def steps(path):
    """Each command of a document's blocks for the console, and the lines that are shown below it."""
    for block in blocks(path, "console"):
        for step in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.M)[1:]:
            command, *shown = step.splitlines()
            yield command, shown


def without_numbers(text):
    """The text with # in place of each number."""
    return re.sub(r"\d+(\.\d+)?", "#", text)
