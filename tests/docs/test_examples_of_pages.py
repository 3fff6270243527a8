"""Pages with commands and Python do what they say."""

import re

import pytest

from tests import ROOT
from tests.documents import blocks, environment, run, run_python

__all__ = ["environment"]  # a fixture
pytestmark = pytest.mark.needs_jit


@pytest.mark.parametrize("name", ["word-alignment.md", "metrics.md", "word-confidences.md", "machine.md"])
def test_commands_and_python_work_as_written(name, environment, tmp_path):
    page = ROOT / "docs" / name
    for block in blocks(page, "console"):
        for step in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.M)[1:]:
            command, *shown = step.splitlines()
            output = run(["bash", "-c", command], environment, tmp_path)
            assert all(line in output.splitlines() for line in shown), (command, output)
    run_python(page, environment, tmp_path)
