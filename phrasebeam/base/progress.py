"""Progress of long work: a bar on a terminal, a log line per stage elsewhere, and nothing in a library."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger("phrasebeam")

Advance = Callable[[int], None]  # reports a number of further steps as done


@contextmanager
def stage(description: str, total: int | None = None) -> Iterator[Advance]:
    """Show a stage of long work of `total` steps (None: unknown) if `show_progress` was called; log its seconds."""
    start = time.perf_counter()
    if _shown and sys.stderr.isatty():
        with _bar(description, total) as advance:
            yield advance
    else:
        yield lambda steps: None
    log.info("%s: %.1f s", description, time.perf_counter() - start)


def show_progress() -> None:
    """Show stages on standard error from now on: called by commands, not by the library."""
    global _shown
    _shown = True
    if not sys.stderr.isatty():
        log.addHandler(HANDLER)
        log.setLevel(logging.INFO)


def hide_progress() -> None:
    """Show no further stages: called when a command ends."""
    global _shown
    _shown = False
    log.removeHandler(HANDLER)
    log.setLevel(logging.NOTSET)


class _StandardError(logging.Handler):
    """Logs to the current sys.stderr, which may have been replaced since this module was imported."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the message of `record` as one line."""
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
        """Column with the recent speed in steps per second."""

        def render(self, task: Task) -> Text:
            """The speed of `task`; empty while it is unknown."""
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), Speed())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(description, total=total)
        yield lambda steps: progress.advance(task, steps)
