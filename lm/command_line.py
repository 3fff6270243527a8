"""Running a command: errors that a user can mend become one line on standard error and exit status 2."""

import os
import sys

import typer

from lm.errors import SmtError

BAD_INPUT, INTERRUPTED = 2, 130


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """The exit status of the command `name` on `arguments` (default: those of the process)."""
    try:
        status = app(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.TyperException as error:
        print(f"{name}: {error.format_message()} (see {name} --help)", file=sys.stderr)
        return BAD_INPUT
    except SmtError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read our output has gone; keep the interpreter from complaining when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {where}{error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
