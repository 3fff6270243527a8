"""The linear model over n-best lists: scores of hypotheses, the best of them, and sums of their features."""

import numpy as np

from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.training.nbest.nbest_store import Lists


@inlined_kernel
def score_row(lists: Lists, weights, row):
    """Model score of the hypothesis `row` (int64) by `weights` (float64[D + C]: dense features, then sparse features).

    It is computed as four sums, so that additions need not wait for each other.
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
    for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        b += weights[n_dense + np.int64(lists.sparse_column[z])] * lists.sparse_value[z]
    return (a + b) + (c + d)


@inlined_kernel
def add_row(lists: Lists, row, factor, vector):
    """Add `factor` (float64) times the features of the hypothesis `row` (int64) to `vector` (float64[D + C])."""
    dense = lists.dense[row]
    for j in range(dense.size):
        vector[j] += factor * dense[j]
    for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
        vector[dense.size + np.int64(lists.sparse_column[z])] += factor * lists.sparse_value[z]


@kernel
def fill_scores(lists: Lists, weights, begin, end, scores):
    """Write model scores of the hypotheses begin:end (int64) by `weights` (float64[F]) to `scores` (float64[H])."""
    for row in range(begin, end):
        scores[row] = score_row(lists, weights, row)


@kernel
def add_variances(lists: Lists, sums, squares, variances):
    """Add each feature's variance within each list to `variances` (float64[F]).

    `sums` and `squares` (float64[F]) are work space, 0 before and after. The values of the list's first hypothesis are
    subtracted from dense features, so that a feature that is the same in the whole list adds exactly 0.
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
            for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
                j, value = n_dense + np.int64(lists.sparse_column[z]), np.float64(lists.sparse_value[z])
                sums[j] += value
                squares[j] += value * value
        for j in range(n_dense):
            take_variance(j, end - begin, sums, squares, variances)
        for k in range(begin, end):
            row = lists.row[k]
            for z in range(lists.sparse_first[row], lists.sparse_first[row + 1]):
                take_variance(n_dense + np.int64(lists.sparse_column[z]), end - begin, sums, squares, variances)


@inlined_kernel
def take_variance(j, size, sums, squares, variances):
    """Add the variance of feature `j` (int64) in a list of `size` (int64) hypotheses to `variances` (float64[F]).

    Sets its `sums` and `squares` (float64[F]) to 0, so that a second call adds nothing.
    """
    mean = sums[j] / size
    variances[j] += max(0.0, squares[j] / size - mean * mean)
    sums[j], squares[j] = 0.0, 0.0


@kernel
def add_rows(lists: Lists, rows, factors, vector):
    """Add the features of the hypotheses `rows` (int64[K]), times `factors` (float64[K]), to `vector` (float64[F])."""
    for k in range(rows.size):
        add_row(lists, rows[k], factors[k], vector)


@kernel
def fill_best(lists: Lists, scores, gains, factor, begin, end, best):
    """Write the hypothesis with the largest score + factor * gain of each sentence in begin:end (int64) to `best`.

    Among equals, the first one is written; without hypotheses, -1. `scores`, `gains`: float64[H]; `factor`: float64;
    `best`: int64[M]. If a list has hypotheses, one of them is chosen even if scores or gains are not numbers.
    """
    for i in range(begin, end):
        most, best_row = -np.inf, np.int64(-1)
        if lists.first[i] < lists.first[i + 1]:
            best_row = lists.row[lists.first[i]]
        for k in range(lists.first[i], lists.first[i + 1]):
            row = lists.row[k]
            value = scores[row] + factor * gains[row]
            if value > most:
                most, best_row = value, row
        best[i] = best_row
