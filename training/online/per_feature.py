"""Numbers by feature: learning rates, for each dense feature and each sparse group; directions, for each feature."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.sparse.templates import GROUPS


class PerFeature(NamedTuple):
    """A number for each dense feature, and one for all features of a sparse group."""

    dense: np.ndarray  # float64[F], laid out as FeatureLayout
    groups: np.ndarray  # float64[len(GROUPS)]


class FeatureDirection(NamedTuple):
    """A direction in which weights move, before learning rates: minus the gradient of the loss of an example."""

    dense: np.ndarray  # float64[F], laid out as FeatureLayout
    keys: np.ndarray  # uint64[K], ascending
    values: np.ndarray  # float64[K], not 0
    groups: np.ndarray  # int64[K], index of GROUPS
    loss: float  # under the weights at which the gradient is computed; 0 or more


def sum_of(directions: Sequence[FeatureDirection]) -> FeatureDirection:
    """The sum of one or more directions, which are added in their order."""
    keys, first, key_index = np.unique(
        np.concatenate([one.keys for one in directions]), return_index=True, return_inverse=True
    )
    values = np.bincount(key_index, np.concatenate([one.values for one in directions]), keys.size)
    groups = np.concatenate([one.groups for one in directions])[first]
    differs = values != 0
    dense = sum((one.dense for one in directions[1:]), directions[0].dense.copy())
    loss = sum(one.loss for one in directions)
    return FeatureDirection(dense, keys[differs], values[differs], groups[differs], loss)


def per_feature(layout: FeatureLayout, value_of: Callable[[str], float]) -> PerFeature:
    """`value_of` each dense feature and group by name; 0 for scales of groups, whose features are learned instead."""
    sizes = [1 if size is None else size for _, size in layout.groups]
    dense = np.repeat([0.0 if name in GROUPS else value_of(name) for name, _ in layout.groups], sizes)
    return PerFeature(dense, np.array([value_of(name) for name in GROUPS]))


def check_learns(rates: PerFeature, active: np.ndarray) -> None:
    """Raise ConfigError unless a dense feature or an active group has a learning rate above 0.

    `active`: bool[GROUPS].
    """
    if not rates.dense.any() and not (rates.groups > 0)[active].any():
        message = "all features are fixed or have rate 0, nothing can be learned"
        raise ConfigError(f"{message}; give templates, fix fewer, or give rates")
