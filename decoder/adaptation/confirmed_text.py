"""The words and alignments of confirmed segments, as an aligned bitext that grows."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.translation_memory.segment import Points


class ConfirmedText:
    """Sentence pairs of word ids with their links, one after the other, in arrays that double when they are full."""

    def __init__(self) -> None:
        zero = np.zeros(1, np.int64)
        self._arrays = AlignedBitext(
            zero, np.zeros(0, np.int32), zero, np.zeros(0, np.int32), np.zeros((0, 2), np.int32), zero, zero
        )
        self._sizes = [1, 0, 1, 0, 0, 1, 1]  # of what is used of each array

    def __len__(self) -> int:
        return self._sizes[0] - 1

    def add(self, source: np.ndarray, target: np.ndarray, points: Points) -> None:
        """Add a sentence pair of ids (int32[n], int32[m]) and its (source, target) points, each once."""
        links = np.array(sorted(points, key=lambda point: point[::-1]), np.int32).reshape(-1, 2)
        ends = [self._arrays[field][self._sizes[field] - 1] for field in (0, 2, 5, 6)]
        of_sides = [np.cumsum(np.bincount(links[:, i], minlength=n)) for i, n in enumerate((source.size, target.size))]
        self._append(
            [ends[0] + source.size],
            source,
            [ends[1] + target.size],
            target,
            links,
            ends[2] + of_sides[0],
            ends[3] + of_sides[1],
        )

    def _append(self, *rows: np.ndarray | Sequence[int]) -> None:
        grown = list(self._arrays)
        for field, new in enumerate(rows):
            begin, end = self._sizes[field], self._sizes[field] + len(new)
            if end > len(grown[field]):
                larger = np.zeros((max(end, 2 * begin), *grown[field].shape[1:]), grown[field].dtype)
                larger[:begin] = grown[field][:begin]
                grown[field] = larger
            grown[field][begin:end] = new
            self._sizes[field] = end
        self._arrays = AlignedBitext(*grown)

    @property
    def bitext(self) -> AlignedBitext:
        """All sentence pairs; the arrays are longer than what is used of them."""
        return self._arrays

    def lengths(self, number: int) -> tuple[int, int]:
        """Source and target words of the sentence pair of a number, from 0."""
        source, target = self._arrays.source_offsets, self._arrays.target_offsets
        return int(source[number + 1] - source[number]), int(target[number + 1] - target[number])
