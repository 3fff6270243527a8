"""Estimation of discounts from the counts of a phrase table, and its smoothed scores in place of relative frequencies.

Kneser-Ney: modified, with three discounts (Chen and Goodman 1998, equation 26); Good-Turing: as Moses' `score`.
"""

from pathlib import Path

import numpy as np

from phrasebeam.base.array_file import new_array_file
from phrasebeam.decoder.tables.model_files import TYPES
from phrasebeam.decoder.tables.phrase_table import SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE, open_phrase_table
from phrasebeam.decoder.tables.score_smoothing import (
    Method,
    ScoreSmoothing,
    open_discounting,
    smoothed_scores,
)
from phrasebeam.lm.kneser_ney import LARGEST_COUNT, discounts

GOOD_TURING_COUNTS = 10  # counts from here on are believed, as in Moses
ADDED = 0.1  # to counts of counts, as in Moses
COUNTS_AT_ONCE = 1 << 20


class TypeFile:
    """The file of types of target phrases of a table of `n_pairs`, written in any order."""

    def __init__(self, directory: Path, n_pairs: int):
        self.path = directory / "smoothing" / "target_types.npy"
        self.path.parent.mkdir()
        new_array_file(self.path, np.dtype(np.int32), (n_pairs, TYPES))

    def write(self, rows: np.ndarray, target_of: np.ndarray, joint: np.ndarray, spans: list[slice]) -> None:
        """Write those of `rows` (int64[P]), with target phrases `target_of` (int64[P]) and counts `joint` (int32[P]).

        `spans`: of the rows that are mapped at once.
        """
        bins = target_of * TYPES + np.minimum(joint, TYPES) - 1
        types = np.bincount(bins, minlength=TYPES * (int(target_of.max(initial=-1)) + 1)).reshape(-1, TYPES)
        for span in spans:
            np.load(self.path, mmap_mode="r+")[rows[span]] = types[target_of[span]]


def smooth_scores(directory: Path, phrases: Path, method: Method, pairs_at_once: int) -> ScoreSmoothing:
    """Write the smoothed scores to the table in `phrases`, with the types in `directory`/smoothing; its description.

    About `pairs_at_once` pairs are in memory at a time.
    """
    table = open_phrase_table(phrases)
    found = _discounts(table.joint_counts, method)
    smoothing = ScoreSmoothing(method=method, discounts=found, phrase_pairs=max(table.joint_counts.size, 1))
    discounting = open_discounting(directory, smoothing, table.joint_counts.size)
    first, n_sources = 0, table.source_counts.size
    while first < n_sources:
        end = int(np.searchsorted(table.pair_offsets, table.pair_offsets[first] + pairs_at_once, "right")) - 1
        last = max(end, first + 1)
        rows = slice(int(table.pair_offsets[first]), int(table.pair_offsets[last]))
        ln_scores = np.load(phrases / "ln_scores.npy", mmap_mode="r+")
        columns = [SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE]
        ln_scores[rows, columns] = smoothed_scores(table, discounting, first, last)
        first = last
    return smoothing


def _discounts(joint_counts: np.ndarray, method: Method) -> list[float]:
    """Discounts of counts 0, 1, ..., the last also of all above."""
    size = GOOD_TURING_COUNTS + 1
    histogram = np.zeros(size + 1, np.int64)
    for begin in range(0, joint_counts.size, COUNTS_AT_ONCE):
        piece = np.minimum(joint_counts[begin : begin + COUNTS_AT_ONCE], size)
        histogram += np.bincount(piece, minlength=size + 1)
    if method == "kneser-ney":
        return [float(discount) for discount in discounts(histogram[: LARGEST_COUNT + 1])]
    found = [0.0]
    for count in range(1, GOOD_TURING_COUNTS):
        ratio = (histogram[count + 1] + ADDED) / (histogram[count] + ADDED)
        found.append(float(max(count - (count + 1) * ratio, 0.0)))
    return [*found, 0.0]
