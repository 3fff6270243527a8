"""The wheel, installed into a new environment: it brings one package, which no module of the user's can replace."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import phrasebeam
from tests import ROOT
from tests.decoder.models import random_toy

SCRIPT = """
import decoder, lm, training
import phrasebeam
from numba.core.event import install_recorder

print(phrasebeam.__file__)
with install_recorder("numba:compile") as compiled:
    print(phrasebeam.Decoder.load("model").translate("a b").text)
print(phrasebeam.LanguageModel.load("model/lm.bin").order)
print(len(compiled.buffer))
print(training.NAME, decoder.NAME, lm.NAME)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("phrasebeam", "lm", "decoder", "training", "server", "configs"):  # no build/ of earlier wheels
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", str(folder), "-w", str(folder), *options], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The scripts of a new environment with the wheel; its dependencies are those of this one, without phrasebeam."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)], check=True)
    return folder / "bin"


@pytest.fixture
def directory(tmp_path):
    """A user's directory with modules of names that ours had once."""
    (tmp_path / "training.py").write_text("NAME = 'mine'\n")
    for name in ("decoder", "lm"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("NAME = 'mine'\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    random_toy(tmp_path / "model", 1)
    return tmp_path


def run(command, directory):
    """Its output, with nothing in the environment that leads to the checkout."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=directory, env=variables, input="a b\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_brings_one_package(wheel):
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"phrasebeam"}


def test_the_page_of_the_server_comes_with_it(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"phrasebeam/server/page/{path.name}" for path in (ROOT / "server" / "page").iterdir()} <= names


def test_a_script_beside_modules_of_the_same_names(environment, directory):
    assert phrasebeam.Decoder.load(directory / "model").translate("a b").text  # which compiles what is not compiled yet
    where, text, order, n_compiled, names = run([environment / "python", "script.py"], directory).splitlines()
    assert Path(where).is_relative_to(environment.parent)
    assert text
    assert int(order) >= 2
    assert n_compiled == "0"  # by this checkout they are
    assert names == "mine mine mine"


def test_the_commands_beside_modules_of_the_same_names(environment, directory):
    lines = [run([environment / "translate", "--model", "model"], directory)]
    lines.append(run([environment / "phrasebeam", "translate", "--model", "model"], directory))
    assert lines[0] == lines[1] != "\n"


def test_the_settings_come_with_it(environment, directory):
    assert (
        run([environment / "phrasebeam", "config", "tune"], directory) == (ROOT / "configs" / "tune.yaml").read_text()
    )


def test_the_demo_finds_its_settings(environment, directory):
    script = "from phrasebeam.api.config import CONFIGS; print((CONFIGS / 'demo.yaml').read_text())"
    assert run([environment / "python", "-c", script], directory) == (ROOT / "configs" / "demo.yaml").read_text() + "\n"


def test_the_demo_finds_its_grammar(environment, directory):
    run([environment / "phrasebeam", "demo-corpus", "--sentences", "3", "--output", "some"], directory)
    assert (directory / "some.en").read_text().count("\n") == 3


def test_programs_of_users_have_types(environment, tmp_path):
    program = shutil.copy(ROOT / "tests" / "api" / "user_program.py", tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(environment / "python"), program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
