"""Selection of rows of different lengths that are concatenated in an array."""

import numpy as np


def taken(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64[K + 1] offsets of the selected `rows` (int64[K]) when concatenated, and the present places of their items.

    Row i is items[offsets[i]:offsets[i + 1]]; with the second result, int64[...], items[columns] are the items of
    `rows`.
    """
    first, last = offsets[rows], offsets[rows + 1]
    new_offsets = np.zeros(rows.size + 1, np.int64)
    np.cumsum(last - first, out=new_offsets[1:])
    columns = np.repeat(first - new_offsets[:-1], last - first) + np.arange(new_offsets[-1])
    return new_offsets, columns
