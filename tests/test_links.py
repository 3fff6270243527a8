"""A checkout without symbolic links, where git writes a link as a file with its goal: it works, or one clear line."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from phrasebeam.links import LINKED, broken_links, more_places
from tests import ROOT

CALL = "from phrasebeam.cli import main; sys.exit(main())"
REMEDY = "clone the repository again with symbolic links: git clone -c core.symlinks=true"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", ".git", ".venv", "build", "tests", "benchmarks", "docs")
MADE = """
import phrasebeam
from phrasebeam.api.config import CONFIGS
from phrasebeam.engine.worker import own_versions
from phrasebeam.kernels.compilation.sources import sources_of
from phrasebeam.lm import probing, probing_writer

phrasebeam.build_lm("text", "lm.bin", order=2)
print(phrasebeam.LanguageModel.load("lm.bin").score("a b"))
print(len(list(CONFIGS.glob("*.yaml"))), len(sources_of(__import__("pathlib").Path(probing.__file__).resolve())))
print(own_versions().sources)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The repository as `git -c core.symlinks=false clone` leaves it: each link is a file with its goal."""
    folder = tmp_path_factory.mktemp("checkout") / "clone"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=LEFT_OUT)
    for link in [path for path in folder.rglob("*") if path.is_symlink()]:
        goal = os.readlink(link)
        link.unlink()
        link.write_text(goal)
    return folder


@pytest.fixture
def broken(checkout, tmp_path):
    """Such a checkout in which a link is neither."""
    folder = shutil.copytree(checkout, tmp_path / "clone")
    (folder / "phrasebeam" / "lm").write_text("../elsewhere")
    return folder


def run(folder, *command, **variables):
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def made_in(folder, python, **variables):
    """What the program prints in a new directory."""
    folder.mkdir()
    (folder / "text").write_text("a b\nb a a\n")
    done = run(folder, python, "-c", MADE, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_links_are_known():
    links = [path.name for path in (ROOT / "phrasebeam").iterdir() if path.is_symlink()]
    assert sorted(links) == sorted(LINKED)
    assert broken_links() == ""
    assert more_places(ROOT / "phrasebeam") == []


def test_links_that_are_text_name_their_folders(checkout):
    assert broken_links(checkout / "phrasebeam") == ""
    assert more_places(checkout / "phrasebeam") == [str(checkout)]


def test_the_package_is_the_same_by_links_that_are_text(checkout, tmp_path):
    as_text = made_in(tmp_path / "text", sys.executable, PYTHONPATH=str(checkout))
    assert as_text == made_in(tmp_path / "links", sys.executable, PYTHONPATH=str(ROOT))


def test_it_is_installed_editable_by_links_that_are_text(checkout, tmp_path):
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / "bin" / "python"
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    done = run(checkout, sys.executable, "-m", "pip", "--python", str(python), "install", *options, "-e", str(checkout))
    assert done.returncode == 0, done.stderr
    assert made_in(tmp_path / "work", str(python))
    done = run(tmp_path / "work", str(folder / "bin" / "phrasebeam"), "config", "tune")
    assert done.stdout == (ROOT / "configs" / "tune.yaml").read_text()


@pytest.mark.parametrize("arguments", [["translate", "--model", "m"], ["--help"], []], ids=str)
def test_commands_end_in_one_line(broken, arguments):
    done = run(
        broken, sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(broken)!r})\n{CALL}", *arguments
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("phrasebeam: ")
    assert REMEDY in done.stderr


def test_public_names_say_so(broken):
    done = run(broken, sys.executable, "-c", "import phrasebeam; phrasebeam.Decoder")
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {broken}/phrasebeam/lm: expected a link")


def test_make_says_so_before_it_installs(broken):
    done = run(broken, "make", f"PYTHON={sys.executable}", ".venv")
    assert done.returncode != 0
    assert REMEDY in done.stderr
    assert not (broken / ".venv").exists()
