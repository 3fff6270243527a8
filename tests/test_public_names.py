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


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "demo"])  # a tour of the others
def test_each_command_has_a_function_of_its_name(command):
    name = command.replace("-", "_")
    assert name in PUBLIC
    assert callable(getattr(phrasebeam, name))


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="Nothing"):
        _ = phrasebeam.Nothing


@pytest.mark.parametrize(("module", "function"), COMMANDS.values())
def test_subcommands_can_be_imported(module, function):
    assert callable(getattr(import_module(module), function))
