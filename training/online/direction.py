"""A direction in the space of weights: dense values, and those of sparse features by key."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class FeatureDirection(NamedTuple):
    """By how much weights rise, before learning rates: minus the gradient of a loss."""

    dense: np.ndarray  # float64[F], laid out as FeatureLayout
    keys: np.ndarray  # uint64[K], ascending
    values: np.ndarray  # float64[K], none 0
    groups: np.ndarray  # int64[K], index of GROUPS


def sum_of(directions: Sequence[FeatureDirection]) -> FeatureDirection:
    """The sum of one or more directions, added up in their order."""
    keys, first, key_index = np.unique(
        np.concatenate([one.keys for one in directions]), return_index=True, return_inverse=True
    )
    values = np.bincount(key_index, np.concatenate([one.values for one in directions]), keys.size)
    groups = np.concatenate([one.groups for one in directions])[first]
    differs = values != 0
    dense = sum((one.dense for one in directions[1:]), directions[0].dense.copy())
    return FeatureDirection(dense, keys[differs], values[differs], groups[differs])
