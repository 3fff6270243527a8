"""Running a command: user errors are printed as one line on standard error, with exit status 2."""

import errno
import sys
from contextlib import suppress
from typing import Any

import typer

from phrasebeam.base.errors import SmtError
from phrasebeam.base.progress import hide_progress, start_command
from phrasebeam.commands.moses_switches import moses_advice
from phrasebeam.process.hints import begin_hints, end_hints
from phrasebeam.process.interruption import wait_if_ending
from phrasebeam.process.standard_streams import STANDARD_OUTPUT, drop_standard_output
from phrasebeam.process.starting_line import clear_starting_line
from phrasebeam.process.system_errors import shortage

BAD_INPUT, INTERRUPTED = 2, 130  # exit statuses
EXTRA_ARGUMENT = "Got unexpected extra argument"  # how typer's message begins
ENDINGS = (SmtError, OSError, typer.TyperException, typer.Abort, KeyboardInterrupt)  # other errors are our own bugs
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # if an error names two files, these are about the one written to


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run the command `name` on `arguments` (default: those of the process), and return its exit status."""
    start_command()
    begin_hints()
    try:
        status = app(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        for line in end_hints():
            print(f"{name}: {line}", file=sys.stderr)
        return status if isinstance(status, int) else 0
    # typer raises SystemExit if the reader of our output has closed its pipe, and after it has completed a word.
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
        if message := _message(error, name, sys.argv[1:] if arguments is None else arguments):
            with suppress(OSError):
                print(f"{name}: {message}", file=sys.stderr)
        return INTERRUPTED if isinstance(error, (typer.Abort, KeyboardInterrupt)) else BAD_INPUT
    finally:
        wait_if_ending()
        hide_progress()
        end_hints()


def _message(error: BaseException, name: str, arguments: list[str]) -> str:
    """The message to print for an error; "" if typer has shown the help."""
    if text := shortage(error):
        return text
    if isinstance(error, typer.TyperException):
        context: Any = getattr(error, "ctx", None)
        message: str = error.format_message()
        options = [one for param in context.command.params for one in param.opts] if context else []
        if context and context.command.name == "translate" and (advice := moses_advice(arguments, options)):
            return f"{advice} (see {context.command_path} --help)"
        if message.startswith(EXTRA_ARGUMENT) and context:
            message += f"; files and numbers are given by options, such as {_first_option(context.command)}"
        return message and f"{message} (see {context.command_path if context else name} --help)"
    if isinstance(error, OSError):
        file = error.filename2 if error.errno in NO_ROOM and error.filename2 else error.filename
        return f"{file}: {error.strerror}" if file else f"{error.strerror or error}"
    return "interrupted" if isinstance(error, (typer.Abort, KeyboardInterrupt)) else str(error)


def _first_option(command: Any) -> str:
    """The option that a user who gave a bare file most likely meant: the input, or else the first required one."""
    by_name = {param.opts[0]: param for param in command.params}
    required = [name for name, param in by_name.items() if param.required]
    return "--input" if "--input" in by_name else [*required, *by_name][0]
