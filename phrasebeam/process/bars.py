"""Progress bars of all stages of a process, on the last lines of its terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, NamedTuple, cast

from rich.console import Console, ConsoleOptions, Group, RenderableType, RichCast
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from phrasebeam.process.interruption import note_lines, terminal_lock


class Count(ProgressColumn):
    """Column with the number of steps done and, if known, of all steps."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed:.0f}" + ("" if task.total is None else f"/{task.total:.0f}"))


class Speed(ProgressColumn):
    """Column with the recent speed in steps per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


class Terminal:
    """Standard error; nothing more is written to it once a signal has printed its line."""

    def __init__(self) -> None:
        self.stream = sys.stderr

    def write(self, text: str) -> int:
        """Write `text` at once; if the terminal has gone away, the thread that draws must not end."""
        with terminal_lock, suppress(OSError):
            self.stream.write(text)
            self.stream.flush()
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class CountedLines(NamedTuple):
    """A drawing with its number of lines, since a signal has to clear them all."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        lines = console.render_lines(self.content, options, pad=False)
        note_lines(min(len(lines), options.size.height))
        for line in lines:
            yield from line
            yield Segment.line()


class Bars(Progress):
    """All bars, and below them the screens that `beside` returns."""

    def __init__(self, beside: Callable[[], Iterable[RichCast]]):
        self.beside = beside
        columns = (TextColumn("{task.description}"), BarColumn(), Count(), TimeElapsedColumn(), Speed())
        # Output of the program goes to standard output, not above the bars.
        console = Console(file=cast(IO[str], Terminal()), stderr=True)
        super().__init__(*columns, console=console, redirect_stdout=False, transient=True)

    def get_renderable(self) -> CountedLines:
        return CountedLines(Group(*self.get_renderables(), *self.beside()))

    def stop(self) -> None:
        super().stop()
        note_lines(0)
