"""The commands and the Python of README.md do what they say, run exactly as they are written."""

import os
import re
import subprocess
import sys

import pytest

from tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    """Code blocks of the README in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables in which `phrasebeam` is this checkout, run by this Python, installed or not."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "phrasebeam"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m phrasebeam "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    variables = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return os.environ | variables


def test_commands_and_python_work_as_written(environment, tmp_path):
    printed = ""
    for block in blocks("console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                printed += run(["bash", "-c", line[2:]], environment, tmp_path)
    assert re.search(r"^test\.out +[\d.]+ \(μ = ", printed, re.M), printed
    assert "BLEU|nrefs:1" in printed
    assert (tmp_path / "test.out").read_text("utf-8").count("\n") == 50
    for block in blocks("python"):
        output = run([sys.executable, "-c", block], environment, tmp_path)
        assert output.count("\n") == block.count("print(")


def run(command, environment, folder):
    """Standard output of a command that must succeed."""
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return result.stdout


def test_links_lead_somewhere():
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / document).read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{document}: {target}"


def test_files_that_the_documents_name_exist():
    documents = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    text = "\n".join(document.read_text(encoding="utf-8") for document in documents)
    names = re.findall(r"`((?:lm|decoder|training|configs|docs|tests|benchmarks|\.ci)/[\w./]*)`", text)
    assert names
    for name in names:
        assert (ROOT / name).exists(), name
