"""Counts of the phrase pairs and links of confirmed segments, which fade as further segments are confirmed.

A count is worth `decay` times as much after each segment, as in the caches of Bertoldi et al. (2013, section 3).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.segment import Occurrence, Points, Words
from phrasebeam.decoder.features.reordering import N_ORIENTATIONS

N_COUNTS = 2 * N_ORIENTATIONS  # M S DL DR, backward then forward


class FadingCount:
    """A number that shrinks with time, stored as it was when something was added last."""

    __slots__ = ("time", "value")

    def __init__(self) -> None:
        self.value, self.time = 0.0, 0

    def add(self, amount: float, time: int, decay: float) -> None:
        self.value, self.time = self.at(time, decay) + amount, time

    def at(self, time: int, decay: float) -> float:
        """The count as it has faded until `time`."""
        return self.value * decay ** (time - self.time)


@dataclass
class DynamicPair:
    """A phrase pair of confirmed segments."""

    points: Points  # of its last occurrence
    count: FadingCount = field(default_factory=FadingCount)
    orientations: np.ndarray = field(default_factory=lambda: np.zeros(N_COUNTS))  # float64[8], fading with `count`


class DynamicCounts:
    """Counts of phrases, phrase pairs and links in confirmed segments."""

    def __init__(self, settings: AdaptationSettings):
        self.settings, self.time = settings, 0
        self.pairs: dict[Words, dict[Words, DynamicPair]] = {}  # by source, then target phrase
        self.sources: dict[Words, FadingCount] = defaultdict(FadingCount)
        self.targets: dict[Words, FadingCount] = defaultdict(FadingCount)
        self.links: dict[tuple[int, int], FadingCount] = defaultdict(FadingCount)  # by (source, target) word
        self.source_links: dict[int, FadingCount] = defaultdict(FadingCount)
        self.target_links: dict[int, FadingCount] = defaultdict(FadingCount)

    def add(self, occurrences: Iterable[Occurrence], links: Iterable[tuple[int, int]]) -> None:
        """Count the phrase pairs and the links (source and target word) of one more segment."""
        self.time += 1
        for occurrence in occurrences:
            self._add(self.sources[occurrence.source])
            self._add(self.targets[occurrence.target])
            self._add_pair(occurrence)
        for source, target in links:
            self._add(self.links[source, target])
            self._add(self.source_links[source])
            self._add(self.target_links[target])

    def _add_pair(self, occurrence: Occurrence) -> None:
        of_source = self.pairs.setdefault(occurrence.source, {})
        pair = of_source.setdefault(occurrence.target, DynamicPair(occurrence.points))
        pair.points = occurrence.points
        pair.orientations *= self.settings.decay ** (self.time - pair.count.time)
        pair.orientations[[occurrence.previous, N_ORIENTATIONS + occurrence.following]] += self.settings.weight
        self._add(pair.count)

    def _add(self, count: FadingCount) -> None:
        count.add(self.settings.weight, self.time, self.settings.decay)

    def now(self, count: FadingCount | None) -> float:
        return count.at(self.time, self.settings.decay) if count else 0.0

    def orientations(self, pair: DynamicPair) -> np.ndarray:
        """float64[8] counts of the orientations of a pair, M S DL DR backward, then forward."""
        return pair.orientations * self.settings.decay ** (self.time - pair.count.time)
