"""Running a command: errors that a user can correct become one line on standard error and exit status 2."""

import sys
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from phrasebeam.base.config import format_size
from phrasebeam.base.errors import SmtError
from phrasebeam.base.memory_bound import DEFAULT_MEMORY, MEMORY_HELP, end_memory_bound
from phrasebeam.base.progress import hide_progress, start_command
from phrasebeam.process.hints import begin_hints, end_hints
from phrasebeam.process.interruption import wait_if_ending
from phrasebeam.process.standard_streams import STANDARD_OUTPUT, drop_standard_output

BAD_INPUT, INTERRUPTED = 2, 130  # exit statuses
# The option of all commands whose memory would grow with their data; None: not given.
Memory = Annotated[str | None, typer.Option(help=MEMORY_HELP, show_default=format_size(DEFAULT_MEMORY))]

Force = Annotated[bool, typer.Option("--force", help="Delete the model, or the work, that is there instead.")]


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run the command `name` on `arguments` (default: those of the process), and return its exit status."""
    start_command()
    begin_hints()
    try:
        status = app(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        hide_progress()
        for line in end_hints():
            print(f"{name}: {line}", file=sys.stderr)
        return status if isinstance(status, int) else 0
    except (BrokenPipeError, SystemExit):  # typer raises SystemExit where the reader of our output has closed its pipe
        drop_standard_output()
        return 0
    except (SmtError, OSError, typer.TyperException, typer.Abort, KeyboardInterrupt) as error:
        wait_if_ending()
        if isinstance(error, OSError) and error.filename == STANDARD_OUTPUT:
            drop_standard_output()
        if message := _message(error, name):
            with suppress(OSError):
                print(f"{name}: {message}", file=sys.stderr)
        return INTERRUPTED if isinstance(error, (typer.Abort, KeyboardInterrupt)) else BAD_INPUT
    finally:
        wait_if_ending()
        hide_progress()
        end_hints()
        if excess := end_memory_bound():
            print(f"{name}: {excess}", file=sys.stderr)


def _message(error: BaseException, name: str) -> str:
    """What is printed of an error; "" where typer has shown the help."""
    if isinstance(error, typer.TyperException):
        message: str = error.format_message()
        return message and f"{message} (see {name} --help)"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}"
    return "interrupted" if isinstance(error, (typer.Abort, KeyboardInterrupt)) else str(error)


class ManyValuesCommand(TyperCommand):
    """A command whose list options take one value or more: "--reference a b"."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse `args` after `repeat_options`."""
        list_options = {name for option in self.params if getattr(option, "multiple", False) for name in option.opts}
        return super().parse_args(ctx, repeat_options(args, list_options))


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
