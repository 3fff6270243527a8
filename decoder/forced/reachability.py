"""Share of a bitext that forced decoding reaches, by sentence length (Yu et al. 2013, Figures 6 and 7, Table 3)."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from phrasebeam.base.figures import LIGHT_GREY, PALETTE, write_figure
from phrasebeam.decoder.forced.forced_decoder import ForcedResult

WIDTH = 5  # words; sentences of 1 to 5 words are one row, those of 6 to 10 the next
MOST_TICKS = 6  # of each plot
BARS = {"reachable": PALETTE[0], "a prefix is reachable": PALETTE[4], "neither": LIGHT_GREY}
SHARES = "% reachable", "% with prefixes"
COLUMNS = "sentences", *SHARES, "too large", "words", *SHARES, "derivations"


@dataclass
class Counts:
    """Counts of sentence pairs of some source lengths, and of their source words."""

    sentences: int = 0
    words: int = 0
    reachable: int = 0
    reachable_words: int = 0
    prefixes: int = 0  # sentences of which only a prefix is reachable
    prefix_words: int = 0  # words in these prefixes
    too_large: int = 0
    ln_derivations: float = -math.inf  # ln of the total number of derivations of the reachable sentences

    def add(self, result: ForcedResult) -> None:
        """Count a sentence pair."""
        self.sentences += 1
        self.words += result.source_words
        self.reachable += result.status == "reachable"
        self.reachable_words += result.source_words if result.status == "reachable" else 0
        self.prefixes += result.status == "prefix"
        self.prefix_words += result.source_prefix if result.status == "prefix" else 0
        self.too_large += result.status == "too large"
        if result.status == "reachable" and result.ln_derivations is not None:
            self.ln_derivations = float(np.logaddexp(self.ln_derivations, result.ln_derivations))

    @property
    def sentence_shares(self) -> tuple[float, float]:
        """Percentages of sentence pairs: reachable; reachable at least in a prefix."""
        return _percent(self.reachable, self.sentences), _percent(self.reachable + self.prefixes, self.sentences)

    @property
    def word_shares(self) -> tuple[float, float]:
        """Percentages of source words in these sentence pairs, see sentence_shares."""
        covered = self.reachable_words + self.prefix_words
        return _percent(self.reachable_words, self.words), _percent(covered, self.words)

    @property
    def ln_mean_derivations(self) -> float | None:
        """ln of the average number of derivations of a reachable sentence pair; None if none is reachable."""
        return self.ln_derivations - math.log(self.reachable) if self.ln_derivations > -math.inf else None


class Reachability:
    """Counts of all sentence pairs, and by source length."""

    def __init__(self) -> None:
        self.all, self._by_row = Counts(), defaultdict[int, Counts](Counts)

    def add(self, result: ForcedResult) -> None:
        """Count a sentence pair; those without source words count only under `all`."""
        self.all.add(result)
        if result.source_words:
            self._by_row[(result.source_words - 1) // WIDTH].add(result)

    def rows(self) -> Iterator[tuple[str, Counts]]:
        """Source lengths, as 6-10, and their counts."""
        for row in sorted(self._by_row):
            yield _lengths(row), self._by_row[row]

    def table(self) -> list[tuple[str, ...]]:
        """Shares in percent of sentences and of source words, mean number of derivations, below a header."""
        return [("length", *COLUMNS), *((name, *_cells(counts)) for name, counts in (*self.rows(), ("all", self.all)))]

    def text(self) -> str:
        """The table as lines of text."""
        lines = self.table()
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)

    def plot(self, path: Path) -> None:
        """Draw shares and numbers of derivations by sentence length; the ending of `path` determines the format."""
        write_figure(path, 18, 5, self._draw)

    def _draw(self, figure: Any) -> None:
        """Draw a bar for each row of the table, as wide as its range of lengths; none if there are no sentences."""
        *both, last = figure.subplots(1, 3)
        middles = [_middle(row) for row in sorted(self._by_row)]
        for axes, unit in zip(both, ("sentence", "word")):
            shares = [getattr(counts, f"{unit}_shares") for _, counts in self.rows()]
            parts = [(least, most - least, 100.0 - most) for least, most in shares]
            bottom = np.zeros(len(parts))
            for heights, (label, color) in zip(np.reshape(parts, (-1, 3)).T, BARS.items()):
                axes.bar(middles, heights, 0.9 * WIDTH, bottom, label=label, color=color)
                bottom += heights
            axes.set(title=f"Share of {unit}s", ylabel="%", ylim=(0, 100))
        self._draw_derivations(last)
        for axes in (*both, last):
            axes.set(xlabel="source words", xlim=(0.5, max(middles, default=0) + WIDTH / 2))
            axes.set_xticks(*self._ticks())
        figure.legend(*both[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)

    def _draw_derivations(self, axes: Any) -> None:
        """Mean number of derivations of reachable sentences by length, as a power of ten."""
        means = {row: counts.ln_mean_derivations for row, counts in sorted(self._by_row.items())}
        points = [(_middle(row), mean / math.log(10)) for row, mean in means.items() if mean is not None]
        axes.plot(*np.reshape(points, (-1, 2)).T, marker="o", color=PALETTE[0])
        axes.set(title="Derivations of a reachable sentence", ylabel="log10 of the mean number")

    def _ticks(self) -> tuple[list[float], list[str]]:
        """Places and names of rows for the axis, as many as there is room for, including rows without sentences."""
        n_rows = max(self._by_row, default=-1) + 1
        shown = range(0, n_rows, -(-n_rows // MOST_TICKS) or 1)
        return [_middle(row) for row in shown], [_lengths(row) for row in shown]


def _middle(row: int) -> float:
    return (row + 0.5) * WIDTH + 0.5


def _lengths(row: int) -> str:
    return f"{row * WIDTH + 1}-{(row + 1) * WIDTH}"


def _cells(counts: Counts) -> tuple[str, ...]:
    sentences, words = ([f"{share:.1f}" for share in shares] for shares in (counts.sentence_shares, counts.word_shares))
    derivations = "" if counts.ln_mean_derivations is None else _exp(counts.ln_mean_derivations)
    return f"{counts.sentences}", *sentences, f"{counts.too_large}", f"{counts.words}", *words, derivations


def _exp(ln: float) -> str:
    """The number with this logarithm, even if it is too large for a float."""
    number = Decimal(ln).exp()
    return f"{number:,.1f}" if number < 1e6 else f"{number:.1e}"


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
