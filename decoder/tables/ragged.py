"""Rows of different lengths that lie one after the other in an array, of which some are taken out."""

import numpy as np


def taken(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64[K + 1] offsets of the `rows` (int64[K]) when they lie behind each other, and where their items lie now.

    Row i is items[offsets[i]:offsets[i + 1]]; with the int64[...] that is returned, items[columns] are those of `rows`.
    """
    first, last = offsets[rows], offsets[rows + 1]
    new_offsets = np.zeros(rows.size + 1, np.int64)
    np.cumsum(last - first, out=new_offsets[1:])
    columns = np.repeat(first - new_offsets[:-1], last - first) + np.arange(new_offsets[-1])
    return new_offsets, columns
