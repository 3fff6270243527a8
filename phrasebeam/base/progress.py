"""Progress of long work: a bar on a terminal, a log line per stage elsewhere, and nothing in a library."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

log = logging.getLogger("phrasebeam")

Advance = Callable[[int], None]  # reports a number of further steps as done


@contextmanager
def stage(description: str, total: int | None = None) -> Iterator[Advance]:
    """Show a stage of long work of `total` steps (None: unknown) if `show_progress` was called; log its seconds."""
    start = time.perf_counter()
    if _shown and _on_terminal():
        with _bar(description, total) as advance:
            yield advance
    else:
        yield lambda steps: None
    log.info("%s: %.1f s", description, time.perf_counter() - start)


@contextmanager
def temporary_bar(description: str, done: int, seconds: float) -> Iterator[Advance]:
    """Show work of unknown length, after `done` steps in `seconds`, on the terminal of any command, until it ends."""
    if _in_command and _on_terminal():
        with _bar(description, None, done, seconds, stays=False) as advance:
            yield advance
    else:
        yield lambda steps: None


def start_command() -> None:
    """Show temporary bars from now on: called when a command starts."""
    global _in_command
    _in_command = True


def show_progress() -> None:
    """Show stages on standard error from now on: called by commands, not by the library."""
    global _shown
    _shown = True
    if not _on_terminal():
        log.addHandler(HANDLER)
        log.setLevel(logging.INFO)


def hide_progress() -> None:
    """Show nothing further: called when a command ends."""
    _hide_bars()
    log.removeHandler(HANDLER)
    log.setLevel(logging.NOTSET)


def _hide_bars() -> None:
    global _shown, _in_command, _bars
    _shown = _in_command = False
    _bars = _Bars()


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class _StandardError(logging.Handler):
    """Logs to the current sys.stderr, which may have been replaced since this module was imported."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the message of `record` as one line."""
        if sys.stderr is not None:
            sys.stderr.write(f"{record.getMessage()}\n")


class _Bars:
    """The display of all bars that are open, since a terminal has room for one display only."""

    def __init__(self) -> None:
        self.lock, self.n_open = Lock(), 0
        self.display: Progress | None = None

    def open(self) -> "Progress":
        """The display, started by its first bar."""
        with self.lock:
            if self.display is None:
                self.display = _display()
                self.display.start()
            self.n_open += 1
            return self.display

    def close(self) -> None:
        """End the display if its last bar is closed; its lines stay, unless all bars were removed."""
        with self.lock:
            self.n_open -= 1
            if self.n_open == 0 and self.display is not None:
                self.display.live.transient = not self.display.tasks
                self.display.stop()
                self.display = None


HANDLER = _StandardError()
_shown = _in_command = False
_bars = _Bars()
os.register_at_fork(after_in_child=_hide_bars)  # the terminal is the parent's


@contextmanager
def _bar(
    description: str, total: int | None, done: int = 0, seconds: float = 0.0, stays: bool = True
) -> Iterator[Advance]:
    bars = _bars
    display = bars.open()
    task = display.add_task(description, total=total, completed=done)
    for one in display.tasks:
        if one.id == task:
            one.start_time = display.get_time() - seconds
    try:
        yield lambda steps: display.advance(task, steps)
    finally:
        display.stop_task(task)
        if not stays:
            display.remove_task(task)
        bars.close()


def _display() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Count(ProgressColumn):
        """Column with the number of steps that are done, of those that are known."""

        def render(self, task: Task) -> Text:
            """The steps of `task`."""
            return Text(f"{task.completed:.0f}" + ("" if task.total is None else f"/{task.total:.0f}"))

    class Speed(ProgressColumn):
        """Column with the recent speed in steps per second."""

        def render(self, task: Task) -> Text:
            """The speed of `task`; empty while it is unknown."""
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), Count(), TimeElapsedColumn(), Speed())
    # What the program prints belongs to standard output, not above the bars.
    return Progress(*columns, console=Console(stderr=True), redirect_stdout=False)
