"""The commands of the how-to page do what they say, run in their order exactly as they are written."""

from tests import ROOT
from tests.documents import environment, run, steps

__all__ = ["environment"]  # a fixture
HOW_TO = ROOT / "docs" / "how-to.md"


def test_commands_work_as_written(environment, tmp_path):
    printed = {}
    for command, shown in steps(HOW_TO):
        assert not shown
        printed[command] = run(["bash", "-c", command], environment, tmp_path)

    def lines(name):
        return (tmp_path / name).read_text("utf-8").splitlines()

    assert len(lines("letter.en.txt")) == 1
    named = [number for number, line in enumerate(lines("test.de")) if "lehrer" in line.split()]
    assert named
    assert all("master" in lines("terms.out")[number] for number in named)
    assert any("adapted.out" in text and "(p = " in text for text in printed.values())
    assert len(lines("imported.out")) == len(lines("test.de"))
    assert (tmp_path / "compared.html").exists()
    assert (tmp_path / "report.html").exists()
