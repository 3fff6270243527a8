"""A checkout without symbolic links, where git writes a link as a file with its goal: one clear line."""

import shutil
import subprocess
import sys

import pytest

from phrasebeam.links import LINKED, broken_links
from tests import ROOT

CALL = "from phrasebeam.cli import main; sys.exit(main())"
REMEDY = "clone the repository again with symbolic links: git clone -c core.symlinks=true"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The repository as `git -c core.symlinks=false clone` leaves it."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    folder = tmp_path_factory.mktemp("checkout") / "clone"
    subprocess.run(
        ["git", "-c", "core.symlinks=false", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(folder)],
        check=True,
    )
    for name in ("__init__.py", "__main__.py", "cli.py", "links.py"):  # as they are now, committed or not
        shutil.copy(ROOT / "phrasebeam" / name, folder / "phrasebeam" / name)
    shutil.copy(ROOT / "Makefile", folder)
    return folder


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_all_links_are_known():
    links = [path.name for path in (ROOT / "phrasebeam").iterdir() if path.is_symlink()]
    assert sorted(links) == sorted(LINKED)
    assert broken_links() == ""


@pytest.mark.parametrize("arguments", [["translate", "--model", "m"], ["--help"], []], ids=str)
def test_commands_end_in_one_line(checkout, arguments):
    done = run(
        checkout, sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(checkout)!r})\n{CALL}", *arguments
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("phrasebeam: ")
    assert REMEDY in done.stderr


def test_public_names_say_so(checkout):
    done = run(checkout, sys.executable, "-c", "import phrasebeam; phrasebeam.Decoder")
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {checkout}/phrasebeam/lm: expected a link")


def test_make_says_so_before_it_installs(checkout):
    done = run(checkout, "make", f"PYTHON={sys.executable}", ".venv")
    assert done.returncode != 0
    assert REMEDY in done.stderr
    assert not (checkout / ".venv").exists()
