"""The scales of groups of learned features, chosen among factors by the score of the development set."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.base.progress import log
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.training.common.development_set import DevelopmentScorer


def with_best_scales(
    development: DevelopmentScorer,
    weights: Weights,
    sparse: SparseWeights,
    learned: Sequence[str],
    factors: Sequence[float],
) -> Weights:
    """The weights with the scales of the `learned` groups times that one of the `factors` whose score is best."""
    groups = {name: getattr(weights, name) for name in learned if getattr(weights, name) is not None}
    if list(factors) == [1.0] or not groups or not sparse.n_used[0]:
        return weights
    tried = [weights.model_copy(update={name: factor * scale for name, scale in groups.items()}) for factor in factors]
    scores = [development.score(scaled, sparse).score for scaled in tried]
    listed = ", ".join(f"{factor:g}: {score:.2f}" for factor, score in zip(factors, scores, strict=True))
    log.info(f"scales of sparse features: {listed}")
    return tried[int(np.argmax(scores))]
