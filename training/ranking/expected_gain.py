"""The expected gain of a list as what is learned from it, in place of pairs (Gao & He 2013; Auli et al. 2014).

Those learn so from lists that are decoded once, as `train-expected-bleu` does (Wuebker et al. 2015); here each list is
decoded by the weights of the moment.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from pydantic import Field

from phrasebeam.base.config import PositiveFactor, Section
from phrasebeam.decoder.output.list_features import ListFeatures
from phrasebeam.training.ranking.pair_losses import Ranking


class ListLoss(Protocol):
    """A loss over the hypotheses of a list, or over pairs of them."""

    def ranking(
        self, features: ListFeatures, scores: np.ndarray, gains: np.ndarray, rng: np.random.Generator
    ) -> Ranking:
        """Coefficients and loss; `scores` and `gains` (float64[K]) are those of model and metric."""


class ListLossSettings(Section):
    """Objective of learning sparse weights from an n-best list."""

    loss: Literal["pairs", "expected"] = Field(
        "pairs",
        description="objective: pairs ranks pairs of hypotheses, expected maximizes the expected sentence score",
    )
    loss_scale: PositiveFactor = Field(
        1.0,
        description="factor by which model scores are multiplied before they become probabilities, for the expected"
        " sentence score",
    )


@dataclass(frozen=True)
class ExpectedGain:
    """The mean of the sentence scores of a list, each weighted by the probability that the model gives to it."""

    scale: float  # of model scores, before they become probabilities

    def ranking(
        self, features: ListFeatures, scores: np.ndarray, gains: np.ndarray, rng: np.random.Generator
    ) -> Ranking:
        """The gradient of the expected gain; `features` and `rng` are not used."""
        return expected_ranking(scores, gains, self.scale)


def loss_of(settings: ListLossSettings, pairs: ListLoss) -> ListLoss:
    """The loss that the settings name; `pairs`: the loss over pairs."""
    return ExpectedGain(settings.loss_scale) if settings.loss == "expected" else pairs


def expected_ranking(scores: np.ndarray, gains: np.ndarray, scale: float) -> Ranking:
    """The gradient of the expected gain of a list, by the `scores` and `gains` (float64[K]) of its hypotheses.

    With p the softmax of scale * scores, the coefficients are scale * p * (gain - expected gain). The loss is the
    largest gain less the expected one; the list is one update, and wrong if the hypothesis with the highest score has a
    lower gain.
    """
    exponents = np.exp(scale * (scores - scores.max()))
    probabilities = exponents / exponents.sum()
    expected = float(probabilities @ gains)
    coefficients = scale * probabilities * (gains - expected)
    is_wrong = gains[np.argmax(scores)] < gains.max()
    return Ranking(coefficients, float(gains.max()) - expected, int(coefficients.any()), int(is_wrong))
