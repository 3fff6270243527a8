"""Standard streams that are closed, or that cannot be written to."""

import io
import os
import sys
from typing import Any, cast

from phrasebeam.process.interruption import note_output
from phrasebeam.process.starting_line import clear_starting_line

STANDARD_OUTPUT = "standard output"
NAMES = ("standard input", STANDARD_OUTPUT, "standard error")  # by descriptor


class _NamedOutput(io.FileIO):
    """Standard output, named in its errors."""

    def write(self, data: Any, /) -> int:
        note_output()
        clear_starting_line()
        try:
            return super().write(data)
        except OSError as error:
            error.filename = STANDARD_OUTPUT
            raise


def name_standard_output() -> None:
    """Let errors of sys.stdout name standard output; characters that its encoding lacks are written as \\xe7."""
    old = cast(io.TextIOWrapper, sys.stdout)
    buffer = io.BufferedWriter(_NamedOutput(old.fileno(), "wb", closefd=False))
    lines, through = bool(old.line_buffering), bool(old.write_through)
    sys.stdout = io.TextIOWrapper(buffer, old.encoding, "backslashreplace", line_buffering=lines, write_through=through)


def drop_standard_output() -> None:
    """Discard standard output, including what is still to be flushed: its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_closed_streams() -> list[str]:
    """Open closed standard streams as /dev/null, so that no file gets their numbers; return their names."""
    closed = []
    for descriptor, name in enumerate(NAMES):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            closed.append(name)
    sys.stdin = sys.stdin or open(0)
    sys.stdout = sys.stdout or open(1, "w")
    sys.stderr = sys.stderr or open(2, "w")
    return closed
