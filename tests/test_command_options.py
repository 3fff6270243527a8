"""Numbers in options that no command can obey: one line that names the option, and exit status 2, before any work."""

from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import get_args

import pytest
from typer.models import ArgumentInfo

from phrasebeam.cli import COMMANDS, main
from phrasebeam.commands.derived_command import command_function

NUMBERS = {int: ("-2", "1" + "0" * 20, "1" + "0" * 5000), float: ("nan",)}
# Options that others, or a command, need beside them
WITH = {
    "nbest": ["--nbest-output", "-"],
    "mbr_size": ["--mbr"],
    "mbr_scale": ["--mbr"],
    "dev_folds": ["--source", "source"],
    "lattice_beam": ["--lattice-output", "-"],
    "rerank": ["--nbest", "lists"],
    "preprocess": ["--side", "source"],
    "train": ["--target", "target", "--dev-reference", "reference"],
    "train-model": ["--target", "target"],
    "tune": ["--reference", "reference"],
    "align": ["--target", "target"],
}


def cases() -> Iterator[tuple[str, str, str]]:
    """Command, parameter and number, for all numeric options of all commands."""
    for command, module in COMMANDS.items():
        for option in signature(command_function(command, module)).parameters.values():
            kind = get_args(option.annotation)[0]  # of Annotated
            for leaf in {int, float} & {
                kind,
                *get_args(kind),
                *(one for part in get_args(kind) for one in get_args(part)),
            }:
                yield from ((command, option.name, number) for number in NUMBERS[leaf])


def required(command: str, directory: Path) -> list[str]:
    """The options that `command` must have, with files that are not there."""
    parameters = signature(command_function(command, COMMANDS[command])).parameters.values()
    needed = [one for one in parameters if one.default is Parameter.empty]
    bare = [str(directory / one.name) for one in needed if _is_bare(one)]
    names = [one.name for one in needed if not _is_bare(one)]
    return [*bare, *(text for name in names for text in (f"--{name.replace('_', '-')}", str(directory / name)))]


def _is_bare(parameter: Parameter) -> bool:
    return isinstance(get_args(parameter.annotation)[1], ArgumentInfo)


@pytest.mark.parametrize(("command", "name", "number"), [*cases()], ids=lambda text: text[:30])
def test_numbers_are_refused(command, name, number, tmp_path, capsys):
    more = [*WITH.get(command, []), *([] if command == "tune" else WITH.get(name, []))]
    status = main([command, *required(command, tmp_path), *more, f"--{name.replace('_', '-')}", number])
    error = capsys.readouterr().err
    assert status == 2
    assert error.count("\n") == 1, error
    assert len(error) < 400
    assert name.removeprefix("mbr_") in error.replace("-", "_"), error
