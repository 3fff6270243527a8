"""Checks of whole arrays of a model: whether their numbers are valid for their files.

Opening a model reads almost nothing of its tables, and a search checks the entries that it uses (BoundsChecks).
Functions that read whole tables check these first.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import FormatError, ModelError
from phrasebeam.base.memory_bound import pieces_of_rows
from phrasebeam.decoder.tables.model_files import (
    PHRASES,
    TRAIN_AGAIN,
    ArrayFile,
    Finite,
    Keys,
    Offsets,
    Values,
    open_arrays,
)
from phrasebeam.decoder.tables.phrase_table import PhraseTable

AT_ONCE, BYTES_AT_ONCE = 1 << 20, 8 << 20  # rows read at a time, and the memory of their pages
HIGHEST_LN = 1e-4  # of a probability, after rounding
Finding = tuple[str, str]  # file, and what was found there


def open_checked(directory: Path, files: Sequence[ArrayFile]) -> dict[str, np.ndarray]:
    """Open the arrays of a folder as open_arrays does, and check all their numbers; for arrays that are read whole.

    Raises ModelError if a file is missing, FormatError if it is damaged.
    """
    counts = dict[str, int]()
    arrays = open_arrays(directory, files, counts)
    for file in files:
        for name, message in wrong_numbers(f"{file.name}.npy", arrays[file.name], file.values, counts):
            raise FormatError(directory / name, f"{message}; {TRAIN_AGAIN}")
    return arrays


def check_phrase_table(phrases: PhraseTable, n_source: int, n_target: int) -> None:
    """Raise ModelError if offsets, words or counts of a table with these vocabulary sizes are wrong; ignores scores."""
    sizes = {"V": n_source, "W": n_target, "N": phrases.source_counts.size, "P": phrases.joint_counts.size}
    sizes |= {"F": phrases.source_words.size, "E": phrases.target_words.size, "A": len(phrases.alignment_points)}
    for file in PHRASES:
        if not isinstance(file.values, Finite):  # codes cannot be wrong, since the codebook has a row for each
            array = getattr(phrases, file.name)
            for name, message in wrong_numbers(f"phrases/{file.name}.npy", array, file.values, sizes):
                raise ModelError(f"{name}: {message}; {TRAIN_AGAIN}")


def wrong_numbers(name: str, array: np.ndarray, values: Values, counts: Mapping[str, int]) -> Iterator[Finding]:
    """The first number of the array that is not in `values`; `counts` by the names in COUNTS."""
    if isinstance(values, Offsets):
        yield from _ascending(name, array, counts[values.into])
    elif isinstance(values, Finite):
        yield from _finite(name, array)
        yield from _probabilities(name, array, _number(values.probabilities, counts))
    else:
        yield from _within(name, array, values.least, _number(values.end, counts) - 1)
        if isinstance(values, Keys):
            yield from _distinct(name, array)


def _number(number: int | str, counts: Mapping[str, int]) -> int:
    return counts[number] if isinstance(number, str) else number


def _ascending(name: str, offsets: np.ndarray, size: int) -> Iterator[Finding]:
    if offsets[0] != 0 or offsets[-1] != size:
        yield name, f"from {offsets[0]} to {offsets[-1]}, expected from 0 to {size}"
    for first in pieces_of_rows(offsets.size - 1, AT_ONCE):
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


def _distinct(name: str, keys: np.ndarray) -> Iterator[Finding]:
    """The first of the `keys` that is not larger than the preceding one."""
    for first in pieces_of_rows(keys.size - 1, AT_ONCE):
        piece = keys[first : first + AT_ONCE + 1]
        for row in np.flatnonzero(piece[1:] <= piece[:-1])[:1] + 1:
            yield name, f"{piece[row]} at {first + row}, expected more than {piece[row - 1]}, the key before"
            return


def _probabilities(name: str, array: np.ndarray, n_columns: int) -> Iterator[Finding]:
    """The first value in the first columns that is ln of a probability above 1."""
    for first, piece in _pieces(array[:, :n_columns] if n_columns else array[:0]):
        wrong = np.argwhere(piece > HIGHEST_LN)
        if wrong.size:
            yield name, f"{piece[tuple(wrong[0])]} at {first + wrong[0, 0]}, expected ln of a probability, at most 0"
            return


def _pieces(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of `array` in pieces of up to AT_ONCE values and BYTES_AT_ONCE, each with the number of its first row.

    Reading some columns of a mapped array reads the pages of all columns.
    """
    n_rows = max(1, min(AT_ONCE * len(array) // max(array.size, 1), BYTES_AT_ONCE // max(array.strides[0], 1)))
    return ((first, array[first : first + n_rows]) for first in pieces_of_rows(len(array), n_rows))
