"""Progress of long work: on a terminal a bar while it lasts, then a line in the log; in a library nothing."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from phrasebeam.base.errors import ConfigError
from phrasebeam.process.starting_line import clear_starting_line, is_dumb
from phrasebeam.system.forks import at_fork

if TYPE_CHECKING:
    from rich.console import RichCast
    from rich.progress import Progress

log = logging.getLogger("phrasebeam")

Advance = Callable[[int], None]  # reports a number of further steps as done
LEAST_TOLD = 0.1  # seconds of compilation that a log line mentions


@contextmanager
def stage(description: str, total: int | None = None, unit: str = "") -> Iterator[Advance]:
    """Show a stage of long work of `total` steps (None: unknown) if `show_progress` was called; log its result.

    The log line has the seconds, the number of steps if they have a `unit`, such as "sentences", and how many of the
    seconds went to compiling kernels, since later runs do not need these.
    """
    start, done, lock, compiled_before = time.perf_counter(), 0, Lock(), _compiling_seconds
    log.debug("%s ...", description)
    with _bar(description, total) if _shown and _on_terminal() else _no_bar() as advance_bar:

        def advance(steps: int) -> None:
            nonlocal done
            with lock:
                done += steps
            advance_bar(steps)

        yield advance
    count = f"{done} {unit}, " if unit else ""
    compiled = _compiling_seconds - compiled_before
    first_run = f", {compiled:.1f} s of it for compiling kernels" if compiled >= LEAST_TOLD else ""
    log.info("%s: %s%.1f s%s", description, count, time.perf_counter() - start, first_run)


@contextmanager
def compilation_bar(description: str, done: int, seconds: float) -> Iterator[Advance]:
    """Show the compilation of kernels (`done` so far, in `seconds`) on the terminal of any command, until it pauses.

    Without a terminal its beginning is logged. The stages in which it happens report its seconds.
    """
    global _compiling_seconds
    start = time.perf_counter()
    is_shown = _in_command and not _is_quiet and _on_terminal()
    if not is_shown and done == 0:
        log.info(description)
    with _bar(description, None, done, seconds) if is_shown else _no_bar() as advance:
        yield advance
    _compiling_seconds += time.perf_counter() - start


@contextmanager
def board(screen: "RichCast") -> Iterator[None]:
    """Show `screen`, rendered by rich, below the bars, if there are bars on a terminal."""
    if not is_shown():
        yield
        return
    bars, close = _bars, show_beside(screen)
    bars.open()
    try:
        yield
    finally:
        close()
        bars.close()


def start_command() -> None:
    """Show temporary bars and warnings from now on; called when a command starts."""
    global _in_command
    _in_command = True
    log.addHandler(HANDLER)
    log.setLevel(logging.WARNING)


def set_volume(quiet: bool, verbose: bool) -> None:
    """Set what any command shows, as its options --quiet and --verbose say: only warnings, or all stages."""
    global _is_quiet, _is_verbose
    _is_quiet, _is_verbose = _is_quiet or quiet, _is_verbose or verbose
    if _is_quiet and _is_verbose:
        raise ConfigError("--quiet and --verbose exclude each other; leave out one")
    if _is_verbose:
        show_progress()


def is_quiet() -> bool:
    """Whether --quiet is given."""
    return _is_quiet


def show_progress() -> None:
    """Show progress bars and log lines on standard error from now on, as commands do."""
    global _shown
    _shown = not _is_quiet
    log.addHandler(HANDLER)
    log.setLevel(logging.WARNING if _is_quiet else logging.DEBUG if _is_verbose else logging.INFO)


def show_beside(screen: "RichCast") -> Callable[[], object]:
    """Show `screen`, rendered by rich, below the bars, if there are any, until the returned function is called."""
    _beside[id(screen)] = screen
    return lambda: _beside.pop(id(screen), None)


def is_shown() -> bool:
    """Whether stages have bars on a terminal."""
    return _shown and _on_terminal()


def hide_progress() -> None:
    """Show nothing further: called when a command ends."""
    _forget_bars()
    log.removeHandler(HANDLER)
    log.setLevel(logging.NOTSET)


def _forget_bars() -> None:
    global _shown, _in_command, _is_quiet, _is_verbose, _bars
    _shown = _in_command = _is_quiet = _is_verbose = False
    _bars = _Bars()
    _beside.clear()


def _in_forked_process() -> None:
    """Leave the terminal and its bars to the parent."""
    if _in_command and _on_terminal():
        log.setLevel(logging.WARNING)
    sys.stderr = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
    _forget_bars()


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and not is_dumb()


class _StandardError(logging.Handler):
    """Writes logs to the current sys.stderr, which may have been replaced since this module was imported."""

    def emit(self, record: logging.LogRecord) -> None:
        clear_starting_line()
        if sys.stderr is not None:
            sys.stderr.write(f"{record.getMessage()}\n")


class _Bars:
    """The display of all open bars, since a terminal has room for one display only."""

    def __init__(self) -> None:
        self.lock, self.n_open = Lock(), 0
        self.display: Progress | None = None

    def open(self) -> "Progress":
        """The display; the first bar starts it."""
        with self.lock:
            if self.display is None:
                clear_starting_line()
                from phrasebeam.process.bars import Bars

                self.display = Bars(_beside.values)
                self.display.start()
            self.n_open += 1
            return self.display

    def close(self) -> None:
        with self.lock:
            self.n_open -= 1
            if self.n_open == 0 and self.display is not None:
                self.display.stop()
                self.display = None


HANDLER = _StandardError()
_shown = _in_command = _is_quiet = _is_verbose = False
_compiling_seconds = 0.0  # spent by this process; kernels are compiled one at a time
_bars = _Bars()
_beside: dict[int, "RichCast"] = {}  # screens below the bars, by id
at_fork(after_in_child=_in_forked_process)


@contextmanager
def _no_bar() -> Iterator[Advance]:
    yield lambda steps: None


@contextmanager
def _bar(description: str, total: int | None, done: int = 0, seconds: float = 0.0) -> Iterator[Advance]:
    """A bar that is removed when the block ends; what was done is logged elsewhere."""
    bars = _bars
    display = bars.open()
    task = display.add_task(description, total=total, completed=done)
    for one in display.tasks:
        if one.id == task:
            one.start_time = display.get_time() - seconds
    try:
        yield lambda steps: display.advance(task, steps)
    finally:
        display.remove_task(task)
        bars.close()
