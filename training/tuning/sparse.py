"""The weights of sparse features in tuning.

A group adds to the score its scale times the sum of its features' weights times their values. So the score is not
linear in scales and weights together, and they cannot be tuned at once. Either the scales are tuned, as weights of
dense features, and the weights of sparse features are fixed; or these weights are tuned and the scales are fixed, and
lists have scale times value as the value of a sparse feature.
"""

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.dense import FeatureLayout
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, fill_weights
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.training.nbest.nbest_store import Lists


def is_group(names: FeatureLayout) -> np.ndarray:
    """Whether the weight of each dense feature is the scale of a group of sparse features (bool[F])."""
    return np.array([name in GROUPS for name in names.names()])


def with_scales(weights: Weights, sparse: Sparse) -> Weights:
    """`weights`, with scale 1 for groups of sparse features that have no scale.

    Raises ConfigError if the model has no such groups, or one with scale 0.
    """
    names = [name for name, active in zip(GROUPS, sparse.active) if active]
    if not names:
        raise ConfigError("sparse is weights, but the model has no sparse features; give it a templates.yaml")
    for name in names:
        if getattr(weights, name) == 0:
            raise ConfigError(
                f"the scale of {name} is 0, so its features have no effect; give another scale in weights.yaml"
            )
    return weights.model_copy(update={name: 1.0 for name in names if getattr(weights, name) is None})


def weights_of(weights: SparseWeights, keys: np.ndarray) -> np.ndarray:
    """The weights (float64[K]) of the features `keys` (uint64[K]); 0 if they have none."""
    values = np.zeros(keys.size)
    fill_weights(weights, keys, values)
    return values


def most_frequent(lists: Lists, n_sparse: int, most: int) -> np.ndarray:
    """Whether each of `n_sparse` sparse features is one of the `most` most frequent ones in the lists (bool[K])."""
    counts = np.bincount(lists.sparse_column, minlength=n_sparse)
    chosen = np.zeros(n_sparse, bool)
    chosen[np.argsort(-counts, kind="stable")[:most]] = True
    return chosen
