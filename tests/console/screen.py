"""Commands on a terminal: what stands on its screen at the end, and when anything was written to it."""

import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
WIDTH = 100


class Screen(NamedTuple):
    """What a command wrote to a terminal of WIDTH columns."""

    status: int
    raw: str
    times: list[tuple[float, str]]  # seconds from its start, and what was written

    @property
    def lines(self) -> list[str]:
        """The lines that are there at the end."""
        return drawn(self.raw)

    def seconds_until(self, text: str) -> float:
        """When `text` was first there."""
        written = ""
        for seconds, piece in self.times:
            written += piece
            if text in written:
                return seconds
        raise AssertionError(f"{text!r} is not in {written!r}")


def on_terminal(arguments, stdin=None, stdout=None, interrupt_at=None, python=("-m", "phrasebeam"), **environment):
    """The Screen of phrasebeam with its standard streams on a terminal, input and output perhaps in files.

    With `interrupt_at` Ctrl-C is pressed when that text is on the screen. `python`: what is run instead.
    """
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            _become([*python, *arguments], side, stdin, stdout, environment)
        os._exit(99)
    os.close(side)
    times, raw = [], ""
    while True:
        try:
            data = os.read(main, 1 << 16)
        except OSError:  # Linux' way to say that nobody writes to it
            break
        if not data:
            break
        times.append((time.perf_counter() - start, data.decode("utf-8", "replace")))
        raw += times[-1][1]
        if interrupt_at and interrupt_at in raw:
            os.write(main, b"\x03")
            interrupt_at = None
    os.close(main)
    return Screen(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), raw, times)


def _become(arguments, side, stdin, stdout, environment):
    os.setsid()
    fcntl.ioctl(side, termios.TIOCSCTTY, 0)
    os.dup2(os.open(stdin, os.O_RDONLY) if stdin else side, 0)
    os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666) if stdout else side, 1)
    os.dup2(side, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    variables = os.environ | {"PYTHONPATH": path, "TERM": "xterm", **environment}
    os.execve(sys.executable, [sys.executable, *map(str, arguments)], variables)


def drawn(raw: str) -> list[str]:
    """The lines of a terminal after these characters and escapes; colours are left out."""
    lines, row, column, position = [""], 0, 0, 0
    while position < len(raw):
        escape = ESCAPE.match(raw, position)
        if escape:
            position = escape.end()
            count = int(escape[1]) if escape[1].isdigit() else 1
            if escape[2] == "K":
                lines[row] = "" if escape[1] == "2" else lines[row][:column]
            elif escape[2] == "A":
                row = max(row - count, 0)
            continue
        character, position = raw[position], position + 1
        if character == "\r":
            column = 0
        elif character == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        else:
            lines[row] = lines[row][:column].ljust(column) + character + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def files_of(folder: Path) -> list[str]:
    """The names of all files in a folder, hidden ones too."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())
