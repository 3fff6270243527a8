"""The Gram matrix of a list: scalar products of the features of its hypotheses, weighted by learning rates.

Learners need it only for differences of hypotheses, so that a constant may be subtracted from each feature. For dense
features this is the value in the first hypothesis; for sparse features 0, or the first value if more than half of the
hypotheses have the feature. Then nearly all values are 0.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.output.list_features import ListFeatures
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.training.online.per_feature import PerFeature


class _ByColumn(NamedTuple):
    """The sparse features of a list in the order of their columns, and work space."""

    first: np.ndarray  # int64[C + 1], entries of column c are first[c]:first[c + 1]
    row: np.ndarray  # int64[Z], hypothesis, ascending within a column
    value: np.ndarray  # float64[Z]
    rows: np.ndarray  # int64[K], work space: hypotheses in which a feature differs from its constant
    differences: np.ndarray  # float64[K], work space: feature minus constant in these hypotheses


def gram_matrix(features: ListFeatures, rates: PerFeature) -> np.ndarray:
    """The matrix G (float64[K, K]): the step rates * (x_i - x_k) adds G[i] - G[k], up to a constant, to all scores."""
    size, n_features, n_columns = features.first.size - 1, features.column.size, features.keys.size
    gram, dense = np.zeros((size, size)), np.ascontiguousarray((features.dense - features.dense[:1]).T)
    by_column = _ByColumn(
        np.zeros(n_columns + 1, np.int64),
        np.empty(n_features, np.int64),
        np.empty(n_features),
        np.empty(size, np.int64),
        np.empty(size),
    )
    fill_by_column(features, by_column)
    fill_gram(features, dense, rates, by_column, gram)
    return gram


@kernel
def fill_by_column(features: ListFeatures, by_column: _ByColumn):
    """Fill `by_column` by counting sort; all of `by_column.first` must be 0."""
    first = by_column.first
    for k in range(features.column.size):
        first[features.column[k] + 1] += 1
    for column in range(first.size - 1):
        first[column + 1] += first[column]
    for i in range(features.first.size - 2, -1, -1):
        for k in range(features.first[i], features.first[i + 1]):
            # Filled from the end, so that first[c + 1] becomes the beginning of column c
            end = np.int64(features.column[k]) + 1
            first[end] -= 1
            by_column.row[first[end]], by_column.value[first[end]] = i, features.value[k]
    for column in range(first.size - 1):
        first[column] = first[column + 1]
    first[first.size - 1] = features.column.size


@kernel
def fill_gram(features: ListFeatures, dense, rates: PerFeature, by_column: _ByColumn, gram):
    """Add the products of all features to `gram` (float64[K, K]); `dense` (float64[F, K]): features minus constants."""
    size = gram.shape[0]
    for f in range(dense.shape[0]):
        for i in range(size):
            product = rates.dense[f] * dense[f, i]
            if product != 0.0:
                for k in range(i + 1):
                    gram[i, k] += product * dense[f, k]
    rate, n_columns = 0.0, features.keys.size
    for column in range(n_columns):
        rate += rates.groups[features.groups[column]]
        # Features of the same rule are neighbours, and mostly have the same values: such columns are multiplied once.
        if column + 1 == n_columns or not _equals_next(by_column, column):
            _add_products(by_column, column, rate, gram)
            rate = 0.0
    for i in range(size):
        for k in range(i):
            gram[k, i] = gram[i, k]


@inlined_kernel
def _equals_next(by_column, column):
    """Whether the next column has the same values in the same hypotheses as `column`."""
    begin, end = by_column.first[column], by_column.first[column + 1]
    if by_column.first[column + 2] - end != end - begin:
        return False
    for k in range(begin, end):
        other = k + end - begin
        if by_column.row[k] != by_column.row[other] or by_column.value[k] != by_column.value[other]:
            return False
    return True


@inner_kernel
def _add_products(by_column, column, rate, gram):
    """Add the products of a column's differences from its constant, times `rate`, to the lower triangle of `gram`."""
    count, rows, differences = _differences(by_column, column, gram.shape[0]), by_column.rows, by_column.differences
    for a in range(count):
        product, i = rate * differences[a], rows[a]
        for b in range(a + 1):
            gram[i, rows[b]] += product * differences[b]


@inlined_kernel
def _differences(by_column, column, size):
    """Fill `rows` and `differences` for a column; return the number of hypotheses that differ from its constant."""
    k, end = by_column.first[column], by_column.first[column + 1]
    constant = by_column.value[k] if 2 * (end - k) > size else 0.0
    count = np.int64(0)
    for i in range(size):
        difference = -constant
        if k < end and by_column.row[k] == i:
            difference += by_column.value[k]
            k += 1
        if difference != 0.0:
            by_column.rows[count], by_column.differences[count] = i, difference
            count += 1
    return count
