"""docs/normalization.md does what it says: its commands, run in their order as written, print what it shows."""

from tests import ROOT
from tests.documents import environment, run, run_python, steps, without_numbers

__all__ = ["environment"]  # a fixture
PAGE = ROOT / "docs" / "normalization.md"


def test_commands_and_python_work_as_written(environment, tmp_path):
    for command, shown in steps(PAGE):
        output = run(["bash", "-c", command], environment, tmp_path)
        if "grep ." in command:  # the least sure words are others on other machines
            assert len(output.splitlines()) == len(shown)
            continue
        for line in shown:
            assert without_numbers(line).split() in [without_numbers(one).split() for one in output.splitlines()]
        if "lines are right" in output:
            right, _, n_lines, *_ = output.split()
            assert int(right) >= 0.99 * int(n_lines)
    run_python(PAGE, environment, tmp_path)
