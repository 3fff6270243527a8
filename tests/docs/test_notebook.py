"""The notebook: its cells run one after the other, and the page and the notebook are the same."""

import json
import sys

import pytest

from docs.pages import notebook
from tests import ROOT
from tests.documents import environment, run

__all__ = ["environment"]  # a fixture


def test_the_notebook_has_the_text_and_the_code_of_the_page():
    found = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert found["nbformat"] == 4 and found == json.loads(notebook.page())
    assert [cell["cell_type"] for cell in found["cells"]][:3] == ["markdown", "code", "markdown"]
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])


@pytest.mark.needs_jit
def test_cells_run(environment, tmp_path):
    cells = json.loads(notebook.page())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = run([sys.executable, "-c", code], environment, tmp_path).splitlines()
    assert "True" in lines  # the best of each list is the translation
    assert any(line.startswith("True ") and line.endswith("edges are within 1 of the best") for line in lines)
    assert lines[-1].startswith("chrF2++ [(") and lines[-2].startswith("BLEU [(")
