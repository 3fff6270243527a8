"""The command that is made from a function of the API: its options, and the printing of its result.

If a command prints something of its own, a module of this package has a function of its name. That function takes the
result and the CommandCall; its keyword-only parameters are further options; it may return the exit status.
"""

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import phrasebeam
from phrasebeam.base.checked_arguments import call_checked
from phrasebeam.base.memory_bound import end_memory_bound
from phrasebeam.base.options import Declared, options_of
from phrasebeam.base.progress import hide_progress, is_quiet, log, set_volume, show_progress
from phrasebeam.commands.option_file import CommandOption, kind_of, with_options
from phrasebeam.console.input_stage import show_input_progress
from phrasebeam.process.interruption import wait_if_ending
from phrasebeam.system.memory_use import peak_memory

NAME = "phrasebeam"

STANDARD = Path("-")
WITHOUT_PROGRESS = ("check-model", "explain", "evaluate", "join-features", "report", "config", "demo-corpus")


class CommandCall(NamedTuple):
    """A call of the function behind a command."""

    given: Mapping[str, Any]  # its arguments
    seconds: float


def command_function(name: str, module: str) -> Callable[..., Any]:
    """The function of the command `name`, with typer's options; `module` of this package prints its result."""
    function, shown = _functions(name, module)
    further = options_of(shown)

    def command(quiet: bool, verbose: bool, **given: Any) -> Any:
        set_volume(quiet, verbose)
        start = time.perf_counter()
        try:
            more = _checked(shown, {one: given.pop(one) for one in further})
            if "input" in given:
                show_input_progress(given["input"], given["output"])
            elif name not in WITHOUT_PROGRESS:
                show_progress()
            result = function(**given)
            return shown(result, CommandCall(given, time.perf_counter() - start), **more)
        finally:
            _tell_end(start)

    return with_options(command, command_options(name, module), command_help(name, module))


def command_options(name: str, module: str) -> list[CommandOption]:
    """The options of a command: those of its function, and those of the function that prints the result."""
    options = {key: one for function in _functions(name, module) for key, one in options_of(function).items()}
    return [_option(one, options) for one in options.values()]


def command_help(name: str, module: str) -> str:
    """The help of a command: the first paragraph of the docstring of each of its functions."""
    function, shown = _functions(name, module)
    told = (function,) if shown is print_result else (function, shown)
    return "\n\n".join((one.__doc__ or "").partition("\n\n")[0] for one in told)


def _functions(name: str, module: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function of the API, and the function that prints its result."""
    function_name = name.replace("-", "_")
    shown = getattr(import_module(f"{__package__}.{module}"), function_name, print_result)
    return getattr(phrasebeam, function_name), shown


def _tell_end(start: float) -> None:
    """Log the time since `start`, and print a warning if the command used more memory than allowed."""
    wait_if_ending()
    seconds, processor = time.perf_counter() - start, sum(os.times()[:4])
    log.debug("%.1f s, %.1f s of processors, %d MB of memory", seconds, processor, peak_memory() >> 20)
    hide_progress()
    if excess := end_memory_bound():
        print(f"{NAME}: {excess}", file=sys.stderr)


def tell(line: str) -> None:
    """Print a line about what the command made, unless --quiet is given. (Requested results are always printed.)"""
    if not is_quiet():
        print(line)


def print_result(result: Any, call: CommandCall) -> None:
    """Print the result of a function, or its lines if it is a list; print nothing if it is None."""
    lines = result if isinstance(result, list) else [] if result is None else [result]
    for line in lines:
        print(line)


def _checked(shown: Callable[..., Any], more: dict[str, Any]) -> dict[str, Any]:
    """The arguments for the keyword-only parameters of the function that prints. Raises ConfigError."""
    parameters = {name: signature(shown).parameters[name] for name in more}
    kinds = {name: one.annotation for name, one in parameters.items()}
    return call_checked(wraps(shown)(lambda **given: given), Signature([*parameters.values()]), lambda: kinds)(**more)


def _option(option: Declared, names: Collection[str]) -> CommandOption:
    """An option of a function as an option of the command."""
    kind, default, unset = option_type(option.kind, option.default), option.default, option.unset
    if option.name == "output" and default is None:
        default, unset = STANDARD, "standard output"
    if default is Parameter.empty and NoneType in get_args(option.kind):
        default = None  # an option whose default is None may be left out
    is_required = default is Parameter.empty
    texts = [option.help, unset]
    for name in names:
        texts = [text.replace(f"`{name}`", f"--{name.replace('_', '-')}") for text in texts]
    value: dict[str, Any] = {"is_required": is_required, "default": None if is_required else default}
    return CommandOption(
        option.name,
        **kind_of(kind),
        **value,
        help=texts[0],
        shown_default=texts[1],
        heading=option.heading,
        is_bare=option.is_bare,
    )


def option_type(kind: Any, default: Any) -> Any:
    """The type of an option: a list if it takes one item or several, Path for files, otherwise its first type."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    given = [part for part in parts if part is not NoneType]
    lists = [get_args(part)[0] for part in given if get_origin(part) in (Sequence, Iterable)]
    found: Any = Path if Path in given and not isinstance(default, str) else given[0]
    if lists and (lists[0] in given or Path in given):
        found = list[found]
    return found | None if NoneType in parts else found
