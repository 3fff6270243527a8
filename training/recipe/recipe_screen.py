"""The display of a running recipe: its stages, scores so far, minutes, and about how many are left."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.score_table import headings, shown_metrics


class RecipeScreen:
    """The table of stages that rich shows."""

    def __init__(self, recipe: Recipe, sentences: Mapping[str, int]):
        metrics = shown_metrics(recipe.metric)
        self.headings = [*headings(metrics), *headings(metrics, "test ")]
        self.expected = {stage.label: stage.decodings(sentences) for stage in recipe.stages}
        self.seconds: dict[str, float] = {}  # of stages that are done
        self.cells: dict[str, Sequence[str]] = {}  # their scores
        self.best, self.begun = "", time.monotonic()

    def __rich__(self) -> Any:
        """The lines of the stages."""
        from rich.text import Text

        return Text("\n".join(self.lines()), no_wrap=True)

    def begin(self) -> None:
        """Begin the next stage."""
        self.begun = time.monotonic()

    def finish(self, name: str, scores: Sequence[str], best: str, seconds: float) -> None:
        """Show the end of a stage: its scores, the best stage so far, and the resources used."""
        self.seconds[name], self.cells[name], self.best = seconds, scores, best

    def left(self) -> str:
        """About how many minutes are left, in words; "" if nothing is known."""
        seconds = seconds_left(self.expected, self.seconds, time.monotonic() - self.begun)
        return "" if seconds is None else f"about {max(1, round(seconds / 60))} min left"

    def lines(self) -> list[str]:
        """The lines of the screen at present."""
        width = max(len("stage"), *map(len, self.expected))
        lines = [f"  {'stage':<{width}}{self._columns(self.headings)} {'minutes':>8}"]
        waiting = [name for name in self.expected if name not in self.seconds]
        for name in self.expected:
            is_now, elapsed = [name] == waiting[:1], time.monotonic() - self.begun
            scores = self._columns(self.cells.get(name, [""] * len(self.headings)))
            seconds = self.seconds.get(name, elapsed if is_now else None)
            minutes = "" if seconds is None else f"{seconds / 60:.1f}"
            mark = ">" if is_now else "*" if name == self.best else " "
            line = f"{mark} {name:<{width}}{scores} {minutes:>8}"
            lines.append(f"{line}  {self.left()}" if is_now else line)
        return [line.rstrip() for line in lines]

    def _columns(self, cells: Sequence[str]) -> str:
        return "".join(f" {cell:>{max(7, len(heading))}}" for cell, heading in zip(cells, self.headings))


def seconds_left(expected: Mapping[str, float], taken: Mapping[str, float], elapsed: float) -> float | None:
    """Seconds until the end, None if nothing is known; `expected`: decodings of stages in their order.

    `taken`: seconds of those that are done; `elapsed`: of the next one so far.
    """
    done = sum(expected[name] for name in taken)
    if not done:
        return None
    rate = sum(taken.values()) / done
    waiting = [rate * number for name, number in expected.items() if name not in taken]
    return max(0.0, waiting[0] - elapsed) + sum(waiting[1:]) if waiting else 0.0
