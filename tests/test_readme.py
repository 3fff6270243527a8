"""The commands and the Python of README.md do what they say, run exactly as they are written."""

import re

from tests import ROOT
from tests.documents import blocks, environment, run, run_python

__all__ = ["environment"]  # a fixture
README = ROOT / "README.md"


def test_commands_and_python_work_as_written(environment, tmp_path):
    printed = ""
    for block in blocks(README, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                printed += run(["bash", "-c", line[2:]], environment, tmp_path)
    assert re.search(r"^test\.out +[\d.]+ \(μ = ", printed, re.M), printed
    assert "BLEU|nrefs:1" in printed
    assert (tmp_path / "test.out").read_text("utf-8").count("\n") == 50
    run_python(README, environment, tmp_path)


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
