"""Numbers that differ by feature, such as learning rates: one for each dense feature and each group of sparse ones."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.sparse.templates import GROUPS


class PerFeature(NamedTuple):
    """A number for each dense feature, and one for all features of a sparse group."""

    dense: np.ndarray  # float64[F], laid out as FeatureLayout
    groups: np.ndarray  # float64[len(GROUPS)]


def per_feature(layout: FeatureLayout, value_of: Callable[[str], float]) -> PerFeature:
    """`value_of` each feature or group by its name; 0 for scales of groups, whose features are learned one by one."""
    sizes = [1 if size is None else size for _, size in layout.groups]
    dense = np.repeat([0.0 if name in GROUPS else value_of(name) for name, _ in layout.groups], sizes)
    return PerFeature(dense, np.array([value_of(name) for name in GROUPS]))


def check_learns(rates: PerFeature, active: np.ndarray) -> None:
    """Raises ConfigError where all learning rates are 0 but those of groups that are not `active` (bool[GROUPS])."""
    if not rates.dense.any() and not (rates.groups > 0)[active].any():
        message = "all features are fixed or have rate 0, nothing can be learned"
        raise ConfigError(f"{message}; give templates, fix fewer, or give rates")
