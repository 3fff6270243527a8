"""Growth transformation of the two phrase channel models, p(f|e) and p(e|f) (He & Deng 2012).

The objective is ln <beta> - tau * sum of KL(prior || p) over the distributions of a channel model. Distributions stay
normalized: if the probability of one pair changes, all probabilities of its distribution change. So this takes more
memory and time than steps along a gradient (Wuebker et al. 2015, section 4.1).
"""

from typing import NamedTuple

import numpy as np

SMOOTHING = 2.0  # first value of the factor `smoothing` of the constants D, see grow


class Channel(NamedTuple):
    """A channel model over P phrase pairs: one distribution for each phrase that is given."""

    given: np.ndarray  # int64[P], number of the phrase on which the pair's probability is conditioned
    prior: np.ndarray  # float64[P], probabilities before training
    ln_weight: float  # lambda, the weight of ln p in the model score


class GrowthStep(NamedTuple):
    """The best probabilities so far, from which the next step starts."""

    value: float  # of the objective with these probabilities
    probabilities: tuple[np.ndarray, ...]  # float64[P] of each channel
    gradient: np.ndarray  # float64[P] of ln <beta>, see grow
    smoothing: float


def ascend(
    before: GrowthStep | None, value: float, probabilities: tuple[np.ndarray, ...], gradient: np.ndarray
) -> GrowthStep:
    """The point from which the next step starts: `probabilities`, or the point `before` if the objective decreased.

    A step increases the objective if its constants D are large enough. How large is not known, so they are doubled
    after each step that decreased it.
    """
    if before is not None and value < before.value:
        return before._replace(smoothing=2 * before.smoothing)
    return GrowthStep(value, probabilities, gradient, before.smoothing if before else SMOOTHING)


def step(channels: tuple[Channel, ...], ascent: GrowthStep, tau: float) -> tuple[np.ndarray, ...]:
    """The probabilities of all channels after a step (float64[P] each)."""
    return tuple(
        grow(channel, probabilities, ascent.gradient, tau, ascent.smoothing)
        for channel, probabilities in zip(channels, ascent.probabilities, strict=True)
    )


def grow(channel: Channel, probabilities: np.ndarray, gradient: np.ndarray, tau: float, smoothing: float) -> np.ndarray:
    """The probabilities (float64[P]) after a step; the sum of each distribution does not change.

    `gradient` (float64[P]): derivative of ln <beta> by the contribution of each pair to the model score, with the signs
    of optimizers.py. The constant D of each distribution keeps it near its last value. D is `smoothing` (> 1) times the
    larger of two numbers: the sum of the absolute values of all amounts (He & Deng: of the negative ones, hypothesis by
    hypothesis), and the least D that keeps probabilities positive.
    """
    given = channel.given
    counts = channel.ln_weight * gradient + tau * channel.prior  # p times the derivative of the objective by p
    negative = np.maximum(-counts, 0.0)
    constants = np.bincount(given, np.abs(counts))
    positive = probabilities > 0
    needed = np.divide(negative, probabilities, out=np.zeros(given.size), where=positive)
    np.maximum.at(constants, given, needed)
    shares = np.where(positive, counts + smoothing * constants[given] * probabilities, 0.0)
    totals, masses = np.bincount(given, shares), np.bincount(given, probabilities)
    factors = np.divide(masses, totals, out=np.zeros(totals.size), where=totals > 0)
    return np.where(totals[given] > 0, shares * factors[given], probabilities)


def ln_ratio(channel: Channel, probabilities: np.ndarray) -> np.ndarray:
    """The change of each pair's contribution to the model score since the prior (float64[P]); 0 if the prior is 0."""
    positive = channel.prior > 0
    ratio = np.divide(probabilities, channel.prior, out=np.ones(positive.size), where=positive)
    return channel.ln_weight * np.log(ratio)


def divergence(channel: Channel, probabilities: np.ndarray) -> float:
    """The sum of KL(prior || p) over all distributions."""
    positive = channel.prior > 0
    prior = channel.prior[positive]
    return float(np.sum(prior * np.log(prior / probabilities[positive])))
