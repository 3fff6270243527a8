"""Public names and subcommands, which are imported when they are first used: each is there."""

import re
from importlib import import_module

import pytest

import phrasebeam
from phrasebeam.cli import COMMANDS

PUBLIC = [name for name in dir(phrasebeam) if not name.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_can_be_imported(name):
    assert getattr(phrasebeam, name).__name__ == name


def test_the_help_tells_of_every_name():
    assert [name for name in PUBLIC if not re.search(rf"\b{name}\b", phrasebeam.__doc__)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_function_of_its_name(command):
    name = command.replace("-", "_")
    assert name in PUBLIC
    assert callable(getattr(phrasebeam, name))


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="Nothing"):
        _ = phrasebeam.Nothing


def test_what_a_module_prints_is_of_its_commands():
    for module in {*COMMANDS.values()}:
        faces = import_module(f"phrasebeam.commands.{module}")
        taking_calls = {name for name, one in vars(faces).items() if "call" in getattr(one, "__annotations__", ())}
        assert taking_calls <= {name.replace("-", "_") for name, place in COMMANDS.items() if place == module}
