"""The words and alignments of confirmed segments, as an aligned bitext that grows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.translation_memory.segment import Points


class IdPair(NamedTuple):
    """A sentence pair of word ids."""

    source: np.ndarray  # int32[n]
    target: np.ndarray  # int32[m]
    points: Points


class ConfirmedText:
    """Sentence pairs of word ids with their links, concatenated in arrays that double when they are full."""

    def __init__(self) -> None:
        zero = np.zeros(1, np.int64)
        self._arrays = AlignedBitext(
            zero, np.zeros(0, np.int32), zero, np.zeros(0, np.int32), np.zeros((0, 2), np.int32), zero, zero
        )
        self._sizes = [1, 0, 1, 0, 0, 1, 1]  # the used part of each array

    def __len__(self) -> int:
        return self._sizes[0] - 1

    def add(self, pairs: Sequence[IdPair]) -> None:
        """Add sentence pairs of ids, with distinct alignment points."""
        lengths = np.array([[pair.source.size, pair.target.size] for pair in pairs], np.int64)
        links = np.array([point for pair in pairs for point in pair.points], np.int32).reshape(-1, 2)
        pair_of = np.repeat(np.arange(len(pairs)), [len(pair.points) for pair in pairs])
        links_of = [_cumulated(pair_of, links[:, side], lengths[:, side]) for side in (0, 1)]
        links = links[np.lexsort((links[:, 0], links[:, 1], pair_of))]
        ends = [self._arrays[field][self._sizes[field] - 1] for field in (0, 2, 5, 6)]
        self._append(
            ends[0] + np.cumsum(lengths[:, 0]),
            np.concatenate([pair.source for pair in pairs]),
            ends[1] + np.cumsum(lengths[:, 1]),
            np.concatenate([pair.target for pair in pairs]),
            links,
            ends[2] + links_of[0],
            ends[3] + links_of[1],
        )

    def _append(self, *rows: np.ndarray) -> None:
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
        """All sentence pairs; the arrays are longer than their used parts."""
        return self._arrays

    def lengths(self, first: int) -> np.ndarray:
        """int64[N - first, 2], source and target words of each sentence pair from number `first` (from 0) on."""
        source, target = self._arrays.source_offsets, self._arrays.target_offsets
        return np.column_stack([np.diff(offsets[first : len(self) + 1]) for offsets in (source, target)])


def _cumulated(pair_of: np.ndarray, positions: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """int64[S], cumulated number of links up to each word, where sentence i has lengths[i] of these S words.

    `pair_of` (int64[A]) is the sentence of each link, and `positions` (int32[A]) its word in that sentence.
    """
    begins = np.cumsum(lengths) - lengths
    return np.cumsum(np.bincount(begins[pair_of] + positions, minlength=int(lengths.sum())))
