"""The longest common subsequence of two sentences, by dynamic programming (Wagner & Fischer 1974)."""

import numpy as np

from phrasebeam.kernels.jit import inner_kernel


@inner_kernel
def common_words(first, second, row):
    """How many words (int64) the longest common subsequence of two sentences has.

    first: int32[n], second: int32[m] word ids; row: int32[m + 1 or more], overwritten.
    """
    n_columns = second.size
    for j in range(n_columns + 1):
        row[j] = 0
    for i in range(first.size):
        diagonal = np.int64(0)  # of the words before both
        for j in range(n_columns):
            above = np.int64(row[j + 1])
            best = max(above, np.int64(row[j]))
            if first[i] == second[j]:
                best = diagonal + 1
            diagonal = above
            row[j + 1] = best
    return np.int64(row[n_columns])
