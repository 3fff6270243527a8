"""The tutorials on words in another spelling do what they say: their commands, run as written, print what is shown."""

import pytest

from tests import ROOT
from tests.documents import environment, run, run_python, steps, without_numbers

__all__ = ["environment"]  # a fixture


@pytest.mark.parametrize(("page", "right"), [("normalization", 0.99), ("transliteration", 0.94)])
def test_commands_and_python_work_as_written(environment, tmp_path, page, right):
    path = ROOT / "docs" / f"{page}.md"
    for command, shown in steps(path):
        output = run(["bash", "-c", command], environment, tmp_path)
        if "grep ." in command:  # the least sure words are others on other machines
            assert len(output.splitlines()) == len(shown)
            continue
        for line in shown:
            assert without_numbers(line).split() in [without_numbers(one).split() for one in output.splitlines()]
        if "lines are right" in output:
            n_right, _, n_lines, *_ = output.split()
            assert int(n_right) >= right * int(n_lines)
    run_python(path, environment, tmp_path)
