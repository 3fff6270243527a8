"""What a learner adds to weights: a direction in the space of dense and sparse features, and rates by feature."""

from typing import NamedTuple

import numpy as np


class Rates(NamedTuple):
    """Learning rates, one for each dense feature and one for all sparse features of a group."""

    dense: np.ndarray  # float64[F]
    groups: np.ndarray  # float64[len(GROUPS)]


class Direction(NamedTuple):
    """A vector over F dense and C sparse features, of which only those that are not 0 are given."""

    dense: np.ndarray  # float64[F]
    keys: np.ndarray  # uint64[C], ascending
    values: np.ndarray  # float64[C]
    groups: np.ndarray  # int64[C], index of GROUPS
