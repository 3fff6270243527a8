"""docs/small-languages.md does what it says: its commands, run in their order as written, print what it shows."""

import pytest

from tests import ROOT
from tests.documents import environment, run, steps

__all__ = ["environment"]  # a fixture
PAGE = ROOT / "docs" / "small-languages.md"


@pytest.mark.needs_jit
def test_commands_work_as_written(environment, tmp_path):
    outputs = {}
    for command, shown in steps(PAGE):
        outputs[command.split()[1]] = run(["bash", "-c", command], environment, tmp_path)
        assert [line for line in shown if line not in outputs[command.split()[1]].splitlines()] == []
    stages = [line.split()[0] for line in outputs["train"].splitlines()[1:7]]
    assert stages == ["train-model", "tune", "letter-model", "train-ranking", "second-model", "mbr"]
    assert (tmp_path / "translations").read_text().count("\n") == 20
    score = float(next(line.split()[-1] for line in outputs["evaluate"].splitlines() if "translations" in line))
    assert 50 < score <= 100  # a model of nothing has less
