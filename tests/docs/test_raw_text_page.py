"""docs/raw-text.md: its Python runs, and prints what it says."""

from tests import ROOT
from tests.documents import environment, run_python

__all__ = ["environment"]  # a fixture


def test_the_page_runs(environment, tmp_path):
    run_python(ROOT / "docs" / "raw-text.md", environment, tmp_path)
