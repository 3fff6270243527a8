"""Running a command: errors that a user can correct become one line on standard error and exit status 2."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from phrasebeam.base.config import format_size
from phrasebeam.base.errors import SmtError
from phrasebeam.base.memory_bound import DEFAULT_MEMORY, MEMORY_HELP, end_memory_bound
from phrasebeam.base.progress import hide_progress

BAD_INPUT, INTERRUPTED = 2, 130  # exit statuses
# The option of all commands whose memory would grow with their data; None: not given.
Memory = Annotated[str | None, typer.Option(help=MEMORY_HELP, show_default=format_size(DEFAULT_MEMORY))]


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run the command `name` on `arguments` (default: those of the process), and return its exit status."""
    try:
        status = app(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.TyperException as error:
        if message := error.format_message():  # empty after --help
            print(f"{name}: {message} (see {name} --help)", file=sys.stderr)
        return BAD_INPUT
    except SmtError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return BAD_INPUT
    except (BrokenPipeError, SystemExit):
        # The reader of our output has closed its pipe (typer then raises SystemExit). The interpreter flushes standard
        # output at its end, which would print another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        location = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {location}{error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        hide_progress()
        if excess := end_memory_bound():
            print(f"{name}: {excess}", file=sys.stderr)


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
