"""The conventions of the command line: help, version, completion, volume, settings, input and output by name."""

import gzip
import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from phrasebeam.api.config import OF_COMMANDS
from phrasebeam.base.config import config_with_options
from phrasebeam.cli import COMMANDS, GROUPS, main
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.model_building.config import TrainModelConfig
from tests import ROOT
from tests.decoder.models import random_toy


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 250)


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text").write_text("a b c .\na c b .\nb a .\nc a b .\n")
    return tmp_path / "text"


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"phrasebeam {version('phrasebeam')}\n"


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_the_help_has_commands_in_groups(option, wide, capsys):
    assert main([option]) == 0
    output = capsys.readouterr().out
    places = [output.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    for name in COMMANDS:
        assert f" {name} " in output


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command(command, wide, capsys):
    assert main([command, "-h"]) == 0
    output = capsys.readouterr().out
    assert "--quiet" in output
    assert "--verbose" in output
    for word in ("<bool>", "list[", "configs/"):
        assert word not in output


def test_help_is_a_word_or_an_option(wide, capsys):
    assert main(["tune", "--help"]) == 0
    expected = capsys.readouterr().out
    assert main(["help", "tune"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["help"]) == main(["-V"]) == 0
    assert "─ Build ─" in capsys.readouterr().out


def test_misuse_names_the_help_of_the_command(capsys):
    assert main(["config", "--unknown"]) == 2
    assert "(see phrasebeam config --help)" in capsys.readouterr().err


COMPLETIONS = {"conf": {"config"}, "config --v": {"--verbose"}}


@pytest.mark.parametrize("words", COMPLETIONS)
def test_completion(words):
    line = ["phrasebeam", *words.split()]
    variables = {"COMP_WORDS": " ".join(line), "COMP_CWORD": f"{len(line) - 1}"}
    variables |= {"_PHRASEBEAM_COMPLETE": "complete_bash"}
    command = [sys.executable, "-m", "phrasebeam"]
    done = subprocess.run(command, env=os.environ | variables, cwd=ROOT, capture_output=True, text=True)
    assert (set(done.stdout.split()), done.stderr) == (COMPLETIONS[words], "")
    assert not {"numba", "numpy", "pydantic"} & imported(variables)


@pytest.mark.parametrize("arguments", [["-h"], ["translate", "-h"], ["train", "--help"], ["--version"]])
def test_help_imports_nothing_of_what_commands_do(arguments):
    assert not {"numba", "numpy", "pydantic"} & imported({}, *arguments)


def imported(variables, *arguments):
    """The packages that phrasebeam imports for that."""
    command = [sys.executable, "-X", "importtime", "-m", "phrasebeam", *arguments]
    done = subprocess.run(command, env=os.environ | variables, cwd=ROOT, capture_output=True, text=True, check=True)
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert {"phrasebeam", "typer"} <= names
    return names


def clustering(text, *before, after=()):
    return [*before, "cluster", "--text", f"{text}", "--output", f"{text}.classes", "--classes", "2", *after]


def test_volume_before_or_after_the_command(text, capsys):
    messages = {}
    assert main(clustering(text)) == 0
    capsys.readouterr()  # it may tell that kernels are compiled
    for name, options in (("", ()), ("quiet", ("--quiet",)), ("verbose", ("-v",))):
        assert main(clustering(text, *options)) == 0
        messages[name] = capsys.readouterr().err
        assert main(clustering(text, after=options)) == 0
        assert capsys.readouterr().err.count("\n") == messages[name].count("\n")
    assert "counting: 0" in messages[""]
    assert messages["quiet"] == ""
    assert "counting ..." in messages["verbose"]
    assert "of memory" in messages["verbose"].splitlines()[-1]
    assert main(clustering(text, "-q", after=["-v"])) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_every_command_with_settings_names_those_that_come_with_it(wide, capsys):
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        if "│    --config " in capsys.readouterr().out and command != "demo":  # whose are those of train-model
            assert main(["config", command]) == 0, command


def test_the_settings_that_come_with_it(capsys, wide):
    assert main(["config"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
    assert main(["config", "tune"]) == 0
    assert capsys.readouterr().out == (ROOT / "configs" / "tune.yaml").read_text()
    for command, file in OF_COMMANDS.items():
        assert main(["config", command]) == 0
        assert capsys.readouterr().out == (ROOT / "configs" / f"{file}.yaml").read_text()
        assert main([command, "--help"]) == 0  # which names them as well
        assert f"'phrasebeam config {file if command == 'train' else command}'" in capsys.readouterr().out
    assert main(["config", "tun"]) == 2
    assert "tune" in capsys.readouterr().err


def test_files_in_place_of_standard_streams(tmp_path, text):
    random_toy(tmp_path / "model", 1)
    outputs = {name: tmp_path / f"{name}.gz" for name in ("output", "nbest-output", "lattice-output")}
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    options = [word for name, path in outputs.items() for word in (f"--{name}", f"{path}")]
    assert (
        main(["translate", "--model", f"{tmp_path / 'model'}", "--input", f"{packed}", "--nbest", "2", *options]) == 0
    )
    found = {name: gzip.decompress(path.read_bytes()).decode() for name, path in outputs.items()}
    assert found["output"].count("\n") == 4
    assert found["nbest-output"].splitlines()[-1].startswith("3 ||| ")
    assert found["lattice-output"].startswith("0 hyp")


BUILDING = "language_model: {text: [more]}\nlanguage_models: [{classes: classes}]\n"
LEARNING = "templates: {levels: [{kind: classes, budget: 2, source: paths, target: ../paths}]}\n"


def test_files_that_settings_name(tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(BUILDING)
    building = config_with_options(path, TrainModelConfig, {})
    assert building.language_model.text == [f"{tmp_path / 'more'}"]
    assert building.language_models[0].classes == f"{tmp_path / 'classes'}"
    path.write_text(LEARNING)
    (level,) = config_with_options(path, MaxforceConfig, {}).templates.levels
    assert (level.source, level.target) == (f"{tmp_path / 'paths'}", f"{tmp_path / '../paths'}")


def test_pip_shows_what_it_does():
    makefile = (ROOT / "Makefile").read_text()
    assert "pip install --quiet" not in makefile
    assert "-m venv ." not in makefile  # installs pip without a word
