"""The display of a running recipe: its stages, scores so far, minutes, and an estimate of the minutes left."""

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
        self.seconds: dict[str, float] = {}  # by stage; only finished stages
        self.cells: dict[str, Sequence[str]] = {}  # scores by stage; only finished stages
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
        """An estimate of the minutes left, in words; "" if nothing is known."""
        seconds = seconds_left(self.expected, self.seconds, time.monotonic() - self.begun)
        return "" if seconds is None else f"about {max(1, round(seconds / 60))} min left"

    def lines(self) -> list[str]:
        """The current lines of the screen."""
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
    """Estimate the seconds until the end of the recipe; None if nothing is known.

    `expected`: number of decoded sentences of each stage, in their order; `taken`: seconds of the finished stages;
    `elapsed`: seconds of the current stage so far.
    """
    done = sum(expected[name] for name in taken)
    if not done:
        return None
    rate = sum(taken.values()) / done
    waiting = [rate * number for name, number in expected.items() if name not in taken]
    return max(0.0, waiting[0] - elapsed) + sum(waiting[1:]) if waiting else 0.0
