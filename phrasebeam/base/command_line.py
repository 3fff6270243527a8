"""Running a command: its shared options, and errors of users as one line on standard error and exit status 2."""

import errno
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from phrasebeam.base.config import format_size
from phrasebeam.base.errors import SmtError
from phrasebeam.base.memory_bound import DEFAULT_MEMORY, MEMORY_HELP, end_memory_bound
from phrasebeam.base.progress import hide_progress, log, set_volume, start_command
from phrasebeam.base.resident_memory import peak_memory
from phrasebeam.process.hints import begin_hints, end_hints
from phrasebeam.process.interruption import wait_if_ending
from phrasebeam.process.standard_streams import STANDARD_OUTPUT, drop_standard_output
from phrasebeam.process.starting_line import clear_starting_line
from phrasebeam.process.system_errors import shortage

BAD_INPUT, INTERRUPTED = 2, 130  # exit statuses
EXTRA_ARGUMENT = "Got unexpected extra argument"  # begins typer's message
ENDINGS = (SmtError, OSError, typer.TyperException, typer.Abort, KeyboardInterrupt)  # other errors are ours
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of two files in an error the one that is written to has none
# The option of all commands whose memory would grow with their data; None: not given.
Memory = Annotated[str | None, typer.Option(help=MEMORY_HELP, show_default=format_size(DEFAULT_MEMORY))]
# Options of all commands, before or after the command's name.
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings and errors on standard error.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="All stages on standard error, and time and memory.")]
Places = Mapping[str, tuple[str, str]]  # module and function of each command


def config_option(name: str) -> Any:
    """The option --config of a command for which the settings `name`, which come with phrasebeam, list them all."""
    return typer.Option(help=f"Settings in YAML; 'phrasebeam config {name}' prints them all.")


Force = Annotated[bool, typer.Option("--force", help="Delete the model, or the work, that is there instead.")]


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run the command `name` on `arguments` (default: those of the process), and return its exit status."""
    start_command()
    begin_hints()
    start = time.perf_counter()
    try:
        status = app(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        for line in end_hints():
            print(f"{name}: {line}", file=sys.stderr)
        return status if isinstance(status, int) else 0
    # typer raises SystemExit where the reader of our output has closed its pipe, and when it has completed a word.
    except (BrokenPipeError, SystemExit):
        with suppress(OSError):
            sys.stdout.flush()
        drop_standard_output()
        return 0
    except (Exception, KeyboardInterrupt) as error:
        wait_if_ending()
        if not isinstance(error, ENDINGS) and not shortage(error):
            raise
        clear_starting_line()
        if isinstance(error, OSError) and error.filename == STANDARD_OUTPUT:
            drop_standard_output()
        if message := _message(error, name):
            with suppress(OSError):
                print(f"{name}: {message}", file=sys.stderr)
        return INTERRUPTED if isinstance(error, (typer.Abort, KeyboardInterrupt)) else BAD_INPUT
    finally:
        wait_if_ending()
        seconds, processor = time.perf_counter() - start, sum(os.times()[:4])
        log.debug("%.1f s, %.1f s of processors, %d MB of memory", seconds, processor, peak_memory() >> 20)
        hide_progress()
        end_hints()
        if excess := end_memory_bound():
            print(f"{name}: {excess}", file=sys.stderr)


def _message(error: BaseException, name: str) -> str:
    """What is printed of an error; "" where typer has shown the help."""
    if text := shortage(error):
        return text
    if isinstance(error, typer.TyperException):
        context: Any = getattr(error, "ctx", None)
        message: str = error.format_message()
        if message.startswith(EXTRA_ARGUMENT) and context:
            message += f"; files and numbers are given by options, such as {_first_option(context.command)}"
        return message and f"{message} (see {context.command_path if context else name} --help)"
    if isinstance(error, OSError):
        file = error.filename2 if error.errno in NO_ROOM and error.filename2 else error.filename
        return f"{file}: {error.strerror}" if file else f"{error.strerror or error}"
    return "interrupted" if isinstance(error, (typer.Abort, KeyboardInterrupt)) else str(error)


def _first_option(command: Any) -> str:
    """The option that a user who gave a bare file most likely meant: the input, or the first that must be given."""
    by_name = {param.opts[0]: param for param in command.params}
    required = [name for name, param in by_name.items() if param.required]
    return "--input" if "--input" in by_name else [*required, *by_name][0]


def command_group(groups: Mapping[str, Places], name: str, help: str) -> typer.Typer:
    """The command `name` with subcommands, by the heading that they have in its help; each is imported when needed."""

    class Group(_CommandGroup):
        panels = groups

    app = typer.Typer(cls=Group, help=help, pretty_exceptions_enable=False, no_args_is_help=True)

    def show_version(is_wanted: bool) -> None:
        if is_wanted:
            from importlib.metadata import version

            print(f"{name} {version(name)}")
            raise typer.Exit

    @app.callback(context_settings={"help_option_names": ["-h", "--help"]})
    def options(
        quiet: Quiet = False,
        verbose: Verbose = False,
        version: Annotated[
            bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        set_volume(quiet, verbose)

    return app


def with_volume(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a command with the options --quiet and --verbose."""

    @wraps(function)
    def command(quiet: bool, verbose: bool, **options: Any) -> Any:
        set_volume(quiet, verbose)
        return function(**options)

    signature = inspect.signature(function)
    more = {"quiet": Quiet, "verbose": Verbose}
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(name, keyword, default=False, annotation=kind) for name, kind in more.items()]
    command.__annotations__ = {**function.__annotations__, **more}
    command.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore
    return command


class _PlainHelp:
    """A command whose help shows no type for flags, and for options of several values that of one."""

    def get_params(self, ctx: Any) -> Any:
        """All parameters, that of the help too."""
        params = super().get_params(ctx)  # type: ignore
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif getattr(param, "multiple", False) and param.metavar is None:
                param.metavar = param.display_type_rich(ctx).replace("list[", "").replace("]", "").lower() + "..."
        return params


class Command(_PlainHelp, TyperCommand):
    """A command whose list options take one value or more: "--reference a b", for which typer has no means."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse `args` after `repeat_options`."""
        list_options = {name for option in self.params if getattr(option, "multiple", False) for name in option.opts}
        return super().parse_args(ctx, repeat_options(args, list_options))


class _CommandGroup(_PlainHelp, TyperGroup):
    """Commands in panels of the help."""

    panels: Mapping[str, Places]

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        self.commands: Any = _LazyCommands(self.panels)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names alone, so that a completion imports one command."""
        return list(self.commands)


class _LazyCommands(Mapping[str, TyperCommand]):
    """The commands of all panels by name, each imported when it is asked for."""

    def __init__(self, panels: Mapping[str, Places]):
        self._found = {name: (panel, *place) for panel, places in panels.items() for name, place in places.items()}

    def __getitem__(self, name: str) -> TyperCommand:
        panel, module, function = self._found[name]
        app = typer.Typer(add_completion=False)
        app.command(name, cls=Command, rich_help_panel=panel)(with_volume(getattr(import_module(module), function)))
        command: Any = typer.main.get_command(app)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def repeat_options(arguments: list[str], list_options: set[str]) -> list[str]:
    """The arguments with "--reference a b" written as "--reference a --reference b", for each of `list_options`."""
    repeated: list[str] = []
    option, n_values = "", 0
    for position, argument in enumerate(arguments):
        if argument == "--":
            return repeated + arguments[position:]
        if argument.startswith("-") and argument != "-":
            name, has_value, _ = argument.partition("=")
            option, n_values = name if name in list_options else "", int(bool(has_value))
        elif option:
            if n_values > 0:
                repeated.append(option)
            n_values += 1
        repeated.append(argument)
    return repeated
