"""Checks of whole arrays of a model: whether their numbers are those that their files are declared to have.

Opening a model reads next to nothing of its tables, and a search checks the entries that it uses (BoundsChecks). What
reads whole tables checks them first.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.tables.model_files import PHRASES, TRAIN_AGAIN, Finite, Offsets, Whole
from phrasebeam.decoder.tables.phrase_table import PhraseTable

AT_ONCE = 1 << 20  # rows read at a time
Finding = tuple[str, str]  # file, and what was found there


def check_phrase_table(phrases: PhraseTable, n_source: int, n_target: int) -> None:
    """Raise ModelError where offsets, words or counts of a table over so many words are wrong; scores are not read."""
    sizes = {"V": n_source, "W": n_target, "N": phrases.source_counts.size, "P": phrases.joint_counts.size}
    sizes |= {"F": phrases.source_words.size, "E": phrases.target_words.size, "A": len(phrases.alignment_points)}
    for file in PHRASES:
        if not isinstance(file.values, Finite):
            array = getattr(phrases, file.name)
            for name, message in wrong_numbers(f"phrases/{file.name}.npy", array, file.values, sizes):
                raise ModelError(f"{name}: {message}; {TRAIN_AGAIN}")


def wrong_numbers(
    name: str, array: np.ndarray, values: Offsets | Whole | Finite, counts: Mapping[str, int]
) -> Iterator[Finding]:
    """The first number of the array that is none of `values`; `counts` by the names in COUNTS."""
    if isinstance(values, Offsets):
        return _ascending(name, array, counts[values.into])
    if isinstance(values, Whole):
        end = counts[values.end] if isinstance(values.end, str) else values.end
        return _within(name, array, values.least, end - 1)
    return _finite(name, array)


def _ascending(name: str, offsets: np.ndarray, size: int) -> Iterator[Finding]:
    if offsets[0] != 0 or offsets[-1] != size:
        yield name, f"from {offsets[0]} to {offsets[-1]}, expected from 0 to {size}"
    for first in range(0, offsets.size - 1, AT_ONCE):
        piece = offsets[first : first + AT_ONCE + 1]
        wrong = np.flatnonzero((piece[1:] < piece[:-1]) | (piece[1:] > size))
        if wrong.size:
            row = wrong[0] + 1
            yield name, f"{piece[row]} at {first + row}, expected {piece[row - 1]} to {size}"
            return


def _within(name: str, array: np.ndarray, least: int, most: int) -> Iterator[Finding]:
    for first, piece in _pieces(array):
        wrong = np.argwhere((piece < least) | (piece > most))
        if wrong.size:
            yield name, f"{piece[tuple(wrong[0])]} at {first + wrong[0, 0]}, expected {least} to {most}"
            return


def _finite(name: str, array: np.ndarray) -> Iterator[Finding]:
    for first, piece in _pieces(array):
        wrong = np.argwhere(~np.isfinite(piece))
        if wrong.size:
            yield name, f"{piece[tuple(wrong[0])]} at {first + wrong[0, 0]}, expected a finite number"
            return


def _pieces(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of `array` in pieces of some AT_ONCE values, each with the number of its first row."""
    n_rows = max(1, AT_ONCE * len(array) // max(array.size, 1))
    return ((first, array[first : first + n_rows]) for first in range(0, len(array), n_rows))
