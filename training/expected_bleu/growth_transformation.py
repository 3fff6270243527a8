"""Growth transformation of the two phrase channel models, p(f|e) and p(e|f) (He & Deng 2012).

The objective is ln <beta> - tau * sum of KL(prior || p) over the distributions of a channel model. Distributions stay
normalized: if one of its pairs changes, all of them do, which makes this larger and slower than steps along a gradient
(Wuebker et al. 2015, section 4.1).
"""

from typing import NamedTuple

import numpy as np

SMOOTHING = 2.0  # of the constants D, at first


class Channel(NamedTuple):
    """A channel model over P phrase pairs: one distribution for each phrase that is given."""

    given: np.ndarray  # int64[P], number of the phrase on whose side the pair's probability is conditioned
    prior: np.ndarray  # float64[P], probabilities before training
    ln_weight: float  # lambda, of ln p in the model score


class GrowthStep(NamedTuple):
    """The best probabilities so far, from which the next step is made."""

    value: float  # of the objective there
    probabilities: tuple[np.ndarray, ...]  # float64[P] of each channel
    gradient: np.ndarray  # float64[P] of ln <beta>, see grow
    smoothing: float


def ascend(
    before: GrowthStep | None, value: float, probabilities: tuple[np.ndarray, ...], gradient: np.ndarray
) -> GrowthStep:
    """The point from which the next step is made: `probabilities`, or those `before` if the objective went down.

    A step goes up if its constants D are large enough, which is not known before: they double after each failure.
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
    """float64[P] probabilities after a step; those of each distribution add up to what they did before.

    `gradient` (float64[P]) is that of ln <beta> by a pair's share of the model score, as optimizers.py has it. The
    constant D of each distribution, which keeps it near what it was, is `smoothing` (> 1) times the larger one of the
    sum of all amounts (He & Deng: of negative ones, hypothesis by hypothesis) and what keeps probabilities positive.
    """
    given = channel.given
    counts = channel.ln_weight * gradient + tau * channel.prior  # p times the derivative by p
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
    """float64[P], the change of the model score by each pair against the prior; 0 if the prior is 0."""
    positive = channel.prior > 0
    ratio = np.divide(probabilities, channel.prior, out=np.ones(positive.size), where=positive)
    return channel.ln_weight * np.log(ratio)


def divergence(channel: Channel, probabilities: np.ndarray) -> float:
    """The sum of KL(prior || p) over all distributions."""
    positive = channel.prior > 0
    prior = channel.prior[positive]
    return float(np.sum(prior * np.log(prior / probabilities[positive])))
