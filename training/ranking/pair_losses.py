"""Losses over the pairs of a list, whose gradients are given by a coefficient for each hypothesis.

The perceptron is that of Simianer et al. (2012), section 4, the logistic loss that of Green et al. (2013), equation 2.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.output.list_features import ListFeatures
from phrasebeam.kernels.jit import kernel
from phrasebeam.training.online.per_feature import FeatureDirection, PerFeature
from phrasebeam.training.ranking.gram import gram_matrix
from phrasebeam.training.ranking.pairs import Pairs

LARGEST_LEAD = 700.0  # exp of larger numbers overflows
ROUNDING = 1e-12  # a sum that is smaller, relative to its terms, is a rounding error


class Ranking(NamedTuple):
    """The loss of the pairs of a list, or of the list as a whole, and its negative gradient."""

    coefficients: np.ndarray  # float64[K], the direction is the sum of coefficients[i] * features of hypothesis i
    loss: float  # sum over the pairs, see the functions that return it
    n_updates: int  # number of pairs with an update; of a list as a whole, at most 1
    n_wrong: int  # pairs whose better hypothesis did not have the higher score when the pair was processed


def decoded_perceptron(scores: np.ndarray, pairs: Pairs, margin: float) -> Ranking:
    """The updates of a perceptron by all pairs at once, with the `scores` (float64[K]) of the search.

    If the better hypothesis leads by `margin` or less, the weights move by rate * (x_better - x_worse). The sum of
    these updates is a negative subgradient of the list's loss, the sum of max(0, margin - lead). The software of
    Simianer et al. (2012), dtrain of cdec, does the same; their pseudo code is sequential_perceptron.
    """
    leads = scores[pairs.better] - scores[pairs.worse]
    updates = leads <= margin
    better, worse = (np.bincount(side[updates], minlength=scores.size) for side in (pairs.better, pairs.worse))
    loss = float(np.maximum(0.0, margin - leads).sum())
    return Ranking((better - worse).astype(np.float64), loss, int(updates.sum()), int((leads <= 0).sum()))


def ranking_by(
    loss: Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]], scores: np.ndarray, pairs: Pairs, margin: float
) -> Ranking:
    """The ranking by a `loss` of leads (see phrasebeam.plugins.pair_loss), with the `scores` (float64[K]) of a list."""
    leads = scores[pairs.better] - scores[pairs.worse]
    losses, slopes = (np.asarray(one, np.float64) for one in loss(leads, margin))
    if losses.shape != leads.shape or slopes.shape != leads.shape or not np.isfinite([losses, slopes]).all():
        raise ConfigError(
            f"the loss of a plugin returns arrays of {losses.shape} and {slopes.shape}, or numbers that are not "
            f"finite; expected a loss and a slope of each of {leads.size} pairs"
        )
    better, worse = (np.bincount(side, slopes, scores.size) for side in (pairs.better, pairs.worse))
    return Ranking(better - worse, float(losses.sum()), int((slopes != 0).sum()), int((leads <= 0).sum()))


def sequential_perceptron(
    features: ListFeatures, scores: np.ndarray, pairs: Pairs, rates: PerFeature, margin: float
) -> Ranking:
    """The updates of a perceptron by one pair after the other; each pair sees the weights after the pair before it.

    Otherwise as decoded_perceptron: `scores` (float64[K]) are those before the first pair, and the loss of a pair is
    computed when it is processed. The coefficients do not include the rates: the weights move by rate * direction.
    """
    coefficients, moving = np.zeros(scores.size), np.array(scores, np.float64)
    losses, counts = np.zeros(1), np.zeros(2, np.int64)
    run_pairs(pairs, gram_matrix(features, rates), float(margin), moving, coefficients, losses, counts)
    return Ranking(coefficients, float(losses[0]), int(counts[0]), int(counts[1]))


@kernel
def run_pairs(pairs: Pairs, gram, margin, scores, coefficients, losses, counts):
    """Process the `pairs` in order; an update adds a difference of rows of `gram` (float64[K, K]) to `scores`.

    `scores`: float64[K]. An update adds 1 to the better hypothesis in `coefficients` (float64[K]), and -1 to the worse.
    Results are added to `losses` (float64[1]) and `counts` (int64[2]: updates, wrong pairs). `margin`: float64.
    """
    for p in range(pairs.better.size):
        better, worse = pairs.better[p], pairs.worse[p]
        lead = scores[better] - scores[worse]
        losses[0] += max(0.0, margin - lead)
        counts[1] += lead <= 0.0
        if lead <= margin:
            counts[0] += 1
            coefficients[better] += 1.0
            coefficients[worse] -= 1.0
            for i in range(scores.size):
                scores[i] += gram[better, i] - gram[worse, i]


def logistic_ranking(scores: np.ndarray, pairs: Pairs) -> Ranking:
    """The ranking by the sum of log(1 + exp(-lead)) over the pairs, all of them with the same `scores`."""
    leads = scores[pairs.better] - scores[pairs.worse]
    share = 1.0 / (1.0 + np.exp(np.minimum(leads, LARGEST_LEAD)))
    coefficients = np.bincount(pairs.better, share, scores.size) - np.bincount(pairs.worse, share, scores.size)
    return Ranking(coefficients, float(np.logaddexp(0.0, -leads).sum()), leads.size, int((leads <= 0).sum()))


def direction(features: ListFeatures, ranking: Ranking) -> FeatureDirection:
    """The sum of coefficients times the features of the hypotheses, and the loss.

    Features whose sum is 0 are left out, also if it differs from 0 only by rounding.
    """
    dense, sparse = np.zeros((2, features.dense.shape[1])), np.zeros((2, features.keys.size))
    add_hypotheses(features, ranking.coefficients, dense, sparse)
    kept = np.flatnonzero(np.abs(sparse[0]) > ROUNDING * sparse[1])
    kept = kept[np.argsort(features.keys[kept])]
    return FeatureDirection(
        np.where(np.abs(dense[0]) > ROUNDING * dense[1], dense[0], 0.0),
        features.keys[kept],
        sparse[0, kept],
        features.groups[kept].astype(np.int64),
        ranking.loss,
    )


@kernel
def add_hypotheses(features: ListFeatures, coefficients, dense, sparse):
    """Add `coefficients` (float64[K]) times features to `dense` (float64[2, F]) and `sparse` (float64[2, C]).

    The second rows are sums of absolute values.
    """
    for i in range(coefficients.size):
        factor = coefficients[i]
        if factor != 0.0:
            for f in range(dense.shape[1]):
                dense[0, f] += factor * features.dense[i, f]
                dense[1, f] += abs(factor * features.dense[i, f])
            for k in range(features.first[i], features.first[i + 1]):
                sparse[0, features.column[k]] += factor * features.value[k]
                sparse[1, features.column[k]] += abs(factor * features.value[k])
