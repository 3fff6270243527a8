"""Words of a command that need no option's name, and short names of options."""

import pytest

from phrasebeam.cli import COMMANDS, main
from phrasebeam.commands.bare_words import SHORT, WORDS, take_words
from phrasebeam.commands.derived_command import command_options
from tests.decoder.models import random_toy


class Param:
    """A parameter of a command."""

    def __init__(self, name, multiple=False):
        self.name, self.multiple = name, multiple


PARAMS = [Param("model"), Param("input"), Param("hypothesis", True)]


@pytest.mark.parametrize(
    ("command", "given", "words", "expected", "rest"),
    [
        ("translate", {}, ["m", "i"], {"model": "m", "input": "i"}, []),
        ("translate", {"model": "x"}, ["i"], {"model": "x", "input": "i"}, []),
        ("translate", {"model": "x", "input": "y"}, ["i"], {"model": "x", "input": "y"}, ["i"]),
        ("translate", {}, [], {}, []),
        ("evaluate", {}, ["a", "b"], {"hypothesis": ["a", "b"]}, []),
        ("config", {}, ["a"], {}, ["a"]),
    ],
)
def test_words_are_of_options_that_are_not_given(command, given, words, expected, rest):
    assert take_words(command, PARAMS, given, words) == rest and given == expected


def test_words_are_of_options_that_the_commands_have():
    assert set(WORDS) <= set(COMMANDS)
    for command, names in WORDS.items():
        options = {one.name: one for one in command_options(command, COMMANDS[command])}
        assert set(names) <= set(options) and not any(one.is_bare for one in options.values())
        assert not any(options[name].is_list for name in names[:-1])


def test_a_file_is_translated(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    random_toy(tmp_path / "model", 3)
    (tmp_path / "text").write_text("a b\nc d\n")
    assert main(["translate", "--model", "model", "--input", "text"]) == 0
    expected = capsys.readouterr().out
    for arguments in (
        ["translate", "model", "text"],
        ["translate", "text", "-m", "model"],
        ["translate", "-i", "text", "model"],
    ):
        assert main(arguments) == 0
        assert capsys.readouterr().out == expected
    assert main(["translate", "model", "text", "-o", "out"]) == 0
    assert (tmp_path / "out").read_text() == expected
    assert main(["translate", "text"]) == 2
    assert "text: no such model directory" in capsys.readouterr().err
    assert main(["translate", "model", "text", "more"]) == 2
    assert "unexpected extra argument(s) (more)" in capsys.readouterr().err


def test_several_files_are_evaluated(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "ref"):
        (tmp_path / name).write_text("a b c d e\n")
    assert main(["evaluate", "one", "two", "-r", "ref", "--json"]) == 0
    assert '"system": "two"' in capsys.readouterr().out


def test_help_shows_words_and_short_names(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    assert main(["translate", "-h"]) == 0
    shown = capsys.readouterr().out
    assert "[OPTIONS] [MODEL] [INPUT]" in shown
    for name in ("model", "input", "output", "config"):
        assert SHORT[name] in shown.split()
