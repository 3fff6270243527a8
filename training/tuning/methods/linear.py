"""The linear model over n-best lists: scores of hypotheses, the best of them, and sums of their features."""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def score_row(lists, weights, row):
    """w . h of the hypothesis `row`; weights float64[D + C], of dense features and then of sparse columns.

    Four sums, so that additions need not wait for each other.
    """
    dense = lists.dense[row]
    n_dense = dense.size
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    quads = n_dense - n_dense % 4
    for j in range(0, quads, 4):
        a += weights[j] * dense[j]
        b += weights[j + 1] * dense[j + 1]
        c += weights[j + 2] * dense[j + 2]
        d += weights[j + 3] * dense[j + 3]
    for j in range(quads, n_dense):
        a += weights[j] * dense[j]
    for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        b += weights[n_dense + np.int64(lists.sparse_column[place])] * lists.sparse_value[place]
    return (a + b) + (c + d)


@inlined_kernel
def add_row(lists, row, factor, vector):
    """Add `factor` times the features of the hypothesis `row` to `vector` (float64[D + C])."""
    dense = lists.dense[row]
    for j in range(dense.size):
        vector[j] += factor * dense[j]
    for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        vector[dense.size + np.int64(lists.sparse_column[place])] += factor * lists.sparse_value[place]


@kernel
def fill_scores(lists, weights, begin, end, scores):
    """w . h of the hypotheses begin:end into `scores` (float64[H])."""
    for row in range(begin, end):
        scores[row] = score_row(lists, weights, row)


@kernel
def add_variances(lists, sums, squares, variances):
    """Add each feature's variance within each list to `variances` (float64[F]).

    sums, squares: float64[F], work space, 0 before and after. Dense features are counted from those of the list's
    first hypothesis, so that one that is the same in the whole list adds exactly 0.
    """
    n_dense = lists.dense.shape[1]
    for i in range(lists.first.size - 1):
        begin, end = lists.first[i], lists.first[i + 1]
        for k in range(begin, end):
            row = lists.row[k]
            for j in range(n_dense):
                value = np.float64(lists.dense[row, j]) - lists.dense[lists.row[begin], j]
                sums[j] += value
                squares[j] += value * value
            for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
                j, value = n_dense + np.int64(lists.sparse_column[place]), np.float64(lists.sparse_value[place])
                sums[j] += value
                squares[j] += value * value
        for j in range(n_dense):
            take_variance(j, end - begin, sums, squares, variances)
        for k in range(begin, end):
            row = lists.row[k]
            for place in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
                take_variance(n_dense + np.int64(lists.sparse_column[place]), end - begin, sums, squares, variances)


@inlined_kernel
def take_variance(j, size, sums, squares, variances):
    """Move what was summed up of feature `j` in a list of `size` to its variance; nothing the second time."""
    mean = sums[j] / size
    variances[j] += max(0.0, squares[j] / size - mean * mean)
    sums[j], squares[j] = 0.0, 0.0


@kernel
def add_rows(lists, rows, factors, vector):
    """Add the features of the hypotheses `rows` (int64[K]), times `factors` (float64[K]), to `vector`."""
    for k in range(rows.size):
        add_row(lists, rows[k], factors[k], vector)


@kernel
def fill_best(lists, scores, gains, factor, begin, end, best):
    """The hypothesis with the largest score + factor * gain, the first of several, of sentences begin:end.

    scores, gains: float64[H]; best: int64[M].
    """
    for i in range(begin, end):
        most, found = -np.inf, np.int64(-1)
        for k in range(lists.first[i], lists.first[i + 1]):
            row = lists.row[k]
            value = scores[row] + factor * gains[row]
            if value > most:
                most, found = value, row
        best[i] = found
