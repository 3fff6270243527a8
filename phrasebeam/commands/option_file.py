"""The options of all commands, read from a file, so that help and completion need not import the commands' code.

The file, options.json, is written from the functions of the API by `python -m docs.pages`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import typer

from phrasebeam.commands.bare_words import SHORT

FILE = Path(__file__).with_name("options.json")
TYPES: Mapping[str, type] = {one.__name__: one for one in (bool, int, float, str, Path)}
# Options of all commands, before or after the command's name.
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show only warnings, errors and requested results.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show all stages, time and memory on standard error.")]


class CommandOption(NamedTuple):
    """An option or an argument of a command, in a form that JSON can hold."""

    name: str
    kind: str | list[Any]  # one of TYPES, or the list of allowed values
    is_list: bool
    may_lack: bool
    is_required: bool
    default: Any
    help: str
    shown_default: str
    heading: str
    is_bare: bool

    def parameter(self) -> Parameter:
        """The option in the form that typer reads."""
        shown: dict[str, Any] = {"help": self.help, "show_default": self.shown_default or True}
        long = f"--{self.name.replace('_', '-')}"
        if self.is_bare:
            info = typer.Argument(**shown)
        else:
            flag = [long] if self.name in SHORT or (self.kind == "bool" and not self.may_lack) else []
            flag += [SHORT[self.name]] if self.name in SHORT else []
            info = typer.Option(*flag, **shown, rich_help_panel=self.heading or None)
        is_path = self.kind == "Path" and self.default is not None
        default = Parameter.empty if self.is_required else Path(self.default) if is_path else self.default
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[self._type(), info])

    def _type(self) -> Any:
        kind: Any = TYPES[self.kind] if isinstance(self.kind, str) else Literal[tuple(self.kind)]
        kind = list[kind] if self.is_list else kind
        return kind | None if self.may_lack else kind


def kind_of(kind: Any) -> dict[str, Any]:
    """The type of an option as fields of CommandOption."""
    is_union = get_origin(kind) in (Union, UnionType)
    inner = next(one for one in get_args(kind) if one is not NoneType) if is_union else kind
    is_list = get_origin(inner) is list
    inner = get_args(inner)[0] if is_list else inner
    name = list(get_args(inner)) if get_origin(inner) is Literal else inner.__name__
    return {"kind": name, "is_list": is_list, "may_lack": is_union and NoneType in get_args(kind)}


def with_options(command: Callable[..., Any], options: Iterable[CommandOption], help: str) -> Callable[..., Any]:
    """The function of a command, with the signature and the docstring that typer reads."""
    added = {"quiet": Quiet, "verbose": Verbose}
    volume = [Parameter(one, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for one, kind in added.items()]
    parameters = [*(one.parameter() for one in options), *volume]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = help
    return command


def told_command(name: str) -> Callable[..., Any] | None:
    """A function with the options and the help that the file has for a command; None if the file lacks the command."""
    if name not in _told():
        return None

    def command(**given: Any) -> None:
        raise NotImplementedError(name)  # never called: only its help is shown, or a word completed

    told = _told()[name]
    return with_options(command, [CommandOption(**one) for one in told["options"]], told["help"])


@cache
def _told() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def file_content(commands: Mapping[str, tuple[str, Iterable[CommandOption]]]) -> str:
    """The content of the file: the help of each command, and one line per option."""
    told = []
    for name, (help, options) in commands.items():
        lines = ",\n".join(_json(one._asdict()) for one in options)
        told.append(f'{_json(name)}: {{"help": {_json(help)}, "options": [\n{lines}\n]}}')
    return "{\n" + ",\n".join(told) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
