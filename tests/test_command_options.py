"""Numbers in options that no command can obey: one line that names the option, and exit status 2, before any work."""

from collections.abc import Iterator
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

from phrasebeam.cli import COMMANDS, main

NUMBERS = {int: ("-2", "1" + "0" * 20, "1" + "0" * 5000), float: ("nan",)}
# Options that others, or a command, need beside them
WITH = {
    "nbest": ["--nbest-output", "-"],
    "mbr_size": ["--mbr"],
    "mbr_scale": ["--mbr"],
    "lattice_beam": ["--lattice-output", "-"],
    "rerank": ["--nbest", "lists"],
    "preprocess": ["--side", "source"],
}


def types_in(annotation: Any) -> Iterator[Any]:
    """The types that an annotation is made of."""
    if get_origin(annotation) is None:
        yield annotation
    for part in get_args(annotation)[: 1 if get_origin(annotation) is Annotated else None]:
        yield from types_in(part)


def cases() -> Iterator[tuple[str, str, str]]:
    """Command, parameter and number, for all numeric options of all commands."""
    for command, (module, function) in COMMANDS.items():
        hints = get_type_hints(getattr(import_module(module), function), include_extras=True)
        for name, annotation in hints.items():
            for leaf in {int, float} & {*types_in(annotation)}:
                yield from ((command, name, number) for number in NUMBERS[leaf])


def required(command: str, directory: Path) -> list[str]:
    """The options that `command` must have, with files that are not there."""
    module, function = COMMANDS[command]
    parameters = signature(getattr(import_module(module), function)).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.default is Parameter.empty]
    return [text for name in names for text in (f"--{name.replace('_', '-')}", str(directory / name))]


@pytest.mark.parametrize(("command", "name", "number"), [*cases()], ids=lambda text: text[:30])
def test_numbers_are_refused(command, name, number, tmp_path, capsys):
    more = [] if command == "tune" else [*WITH.get(command, []), *WITH.get(name, [])]
    status = main([command, *required(command, tmp_path), *more, f"--{name.replace('_', '-')}", number])
    error = capsys.readouterr().err
    assert status == 2
    assert error.count("\n") == 1, error
    assert len(error) < 400
    assert name.removeprefix("mbr_") in error.replace("-", "_"), error
