"""How far long work has come: a bar on a terminal, a log line per stage elsewhere, silence in a library."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger("phrasebeam")

Advance = Callable[[int], None]


@contextmanager
def stage(description: str, total: int | None = None) -> Iterator[Advance]:
    """One stage of long work; the function given counts `total` steps down. Shown once `show_progress` was called."""
    start = time.perf_counter()
    if _shown and sys.stderr.isatty():
        with _bar(description, total) as advance:
            yield advance
    else:
        yield lambda steps: None
    log.info("%s: %.1f s", description, time.perf_counter() - start)


def show_progress() -> None:
    """Let stages show themselves on standard error: called by commands, not by the library."""
    global _shown
    _shown = True
    if not sys.stderr.isatty():
        log.addHandler(HANDLER)
        log.setLevel(logging.INFO)


def hide_progress() -> None:
    """Silence again, when the command is done."""
    global _shown
    _shown = False
    log.removeHandler(HANDLER)
    log.setLevel(logging.NOTSET)


class _StandardError(logging.Handler):
    """Writes to what sys.stderr is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        sys.stderr.write(f"{record.getMessage()}\n")


HANDLER = _StandardError()
_shown = False


@contextmanager
def _bar(description: str, total: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        """Steps a second, of late."""

        def render(self, task: Task) -> Text:
            """Nothing before it is known."""
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), Speed())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(description, total=total)
        yield lambda steps: progress.advance(task, steps)
