"""Numbers that differ by feature, such as learning rates: one for each dense feature and each group of sparse ones."""

from typing import NamedTuple

import numpy as np


class PerFeature(NamedTuple):
    """A number for each dense feature, and one for all features of a sparse group."""

    dense: np.ndarray  # float64[F], laid out as FeatureLayout
    groups: np.ndarray  # float64[len(GROUPS)]
