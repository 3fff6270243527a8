"""The command of a function of the API: its options, and what it prints of the result.

A module of this room has, for a command that prints something of its own, a function of its name. It takes the result
and the CommandCall; its keyword-only parameters are further options, and what it returns is the exit status.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import typer

import phrasebeam
from phrasebeam.base.checked_arguments import call_checked
from phrasebeam.base.options import Declared, options_of
from phrasebeam.base.progress import set_volume, show_progress
from phrasebeam.console.input_stage import show_input_progress

STANDARD = Path("-")
# Options of all commands, before or after the command's name.
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings and errors on standard error.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="All stages on standard error, and time and memory.")]
WITHOUT_PROGRESS = ("check-model", "explain", "evaluate", "join-features", "report", "config", "demo-corpus")


class CommandCall(NamedTuple):
    """A call of the function of a command."""

    given: Mapping[str, Any]  # its arguments
    seconds: float


def command_function(name: str, module: str) -> Callable[..., Any]:
    """The function of the command `name`, with the options of typer; `module` of this room tells what it prints."""
    function_name = name.replace("-", "_")
    function = getattr(phrasebeam, function_name)
    shown = getattr(import_module(f"{__package__}.{module}"), function_name, print_result)
    options, further = options_of(function), options_of(shown)

    def command(quiet: bool, verbose: bool, **given: Any) -> Any:
        set_volume(quiet, verbose)
        more = _checked(shown, {one: given.pop(one) for one in further})
        if "input" in given:
            show_input_progress(given["input"], given["output"])
        elif name not in WITHOUT_PROGRESS:
            show_progress()
        start = time.perf_counter()
        result = function(**given)
        return shown(result, CommandCall(given, time.perf_counter() - start), **more)

    added = {"quiet": Quiet, "verbose": Verbose}
    volume = [Parameter(one, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for one, kind in added.items()]
    names = {*options, *further}
    parameters = [_parameter(one, names) for one in (*options.values(), *further.values())]
    command.__signature__ = Signature([*parameters, *volume])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in (*parameters, *volume)}
    told = (function,) if shown is print_result else (function, shown)
    command.__doc__ = "\n\n".join((one.__doc__ or "").partition("\n\n")[0] for one in told)
    return command


def print_result(result: Any, call: CommandCall) -> None:
    """Print what a function returns, lines of a list; nothing where that is None."""
    lines = result if isinstance(result, list) else [] if result is None else [result]
    for line in lines:
        print(line)


def _checked(shown: Callable[..., Any], more: dict[str, Any]) -> dict[str, Any]:
    """The arguments that what prints has of its own. Raises ConfigError."""
    parameters = {name: signature(shown).parameters[name] for name in more}
    kinds = {name: one.annotation for name, one in parameters.items()}
    return call_checked(wraps(shown)(lambda **given: given), Signature([*parameters.values()]), lambda: kinds)(**more)


def _parameter(option: Declared, names: set[str]) -> Parameter:
    """A parameter as typer reads it."""
    kind, default, unset = option_type(option.kind, option.default), option.default, option.unset
    if option.name == "output" and default is None:
        default, unset = STANDARD, "standard output"
    if default is Parameter.empty and NoneType in get_args(option.kind):
        default = None  # what functions are given as None may be left out
    texts = [option.help, unset]
    for name in names:
        texts = [text.replace(f"`{name}`", f"--{name.replace('_', '-')}") for text in texts]
    shown: dict[str, Any] = {"help": texts[0], "show_default": texts[1] or True}
    if option.is_bare:
        info = typer.Argument(**shown)
    else:
        flag = [f"--{option.name.replace('_', '-')}"] if kind is bool else []
        info = typer.Option(*flag, **shown, rich_help_panel=option.heading or None)
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def option_type(kind: Any, default: Any) -> Any:
    """The type of an option: for one item or several a list, for files Path, else the first that an argument has."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    given = [part for part in parts if part is not NoneType]
    lists = [get_args(part)[0] for part in given if get_origin(part) in (Sequence, Iterable)]
    found: Any = Path if Path in given and not isinstance(default, str) else given[0]
    if lists and (lists[0] in given or Path in given):
        found = list[found]
    return found | None if NoneType in parts else found
