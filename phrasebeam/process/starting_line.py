"""A line on the terminal while a command starts, until anything else is written there: imports take seconds.

It says that kernels will be compiled if the command has not succeeded since phrasebeam or numba was installed.
"""

import os
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from phrasebeam.process.places import cache_home, source_files

COMPILING = "compiling kernels (first run only)"
CLEAR_LINE = "\r\x1b[K"

_writing = threading.Lock()
_is_shown = False


def show_starting_line(command: str, compiles: bool) -> None:
    """Say on a terminal that `command` starts or, if it compiles kernels and is run for the first time, say that."""
    global _is_shown
    if os.isatty(2) and not is_dumb():
        _is_shown = True
        text = f"{COMPILING}: 0" if compiles and not _has_run(command) else f"{command}: starting"
        _write(text)
        with suppress(RuntimeError):  # no thread can be started: the line stays as it is
            threading.Thread(target=_count_seconds, args=(text,), daemon=True).start()


def is_dumb() -> bool:
    """Whether the terminal can only show lines, as that of an editor."""
    return os.environ.get("TERM") == "dumb"


def clear_starting_line() -> None:
    """Remove the line, since something else is written to the terminal or read from it."""
    global _is_shown
    if _is_shown:
        with _writing:
            _is_shown = False
            _write(CLEAR_LINE)


def _count_seconds(text: str) -> None:
    for seconds in count(1):
        time.sleep(1)
        with _writing:
            if not _is_shown:
                return
            _write(f"{CLEAR_LINE}{text}, {seconds} s")


def note_run(command: str) -> None:
    """Record that `command` has succeeded, so that its kernels are in the cache."""
    path = _mark(command)
    if path and path.parent.parent.is_dir():
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            path.touch()


def _has_run(command: str) -> bool:
    path, numba = _mark(command), find_spec("numba")
    sources = [*source_files()] + ([Path(numba.origin)] if numba and numba.origin else [])
    with suppress(OSError):
        return path is not None and path.stat().st_mtime > max(source.stat().st_mtime for source in sources)
    return False


def _mark(command: str) -> Path | None:
    """The file whose modification time is the time of the command's last successful run."""
    home = cache_home()
    return home and home / "commands" / command


def _write(text: str) -> None:
    with suppress(OSError):
        os.write(2, text.encode())
