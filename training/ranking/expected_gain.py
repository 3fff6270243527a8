"""The expected gain of a list as the objective, in place of a loss over pairs (Gao & He 2013; Auli et al. 2014).

These authors learn from lists that are decoded once, as `train-expected-bleu` does (Wuebker et al. 2015). Here each
list is decoded under the current weights.
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
        """Coefficients and loss of a list; `scores` and `gains` (float64[K]) are scores of the model and the metric."""


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
    """The expected sentence score of a list: each hypothesis has the probability that the model gives it."""

    scale: float  # factor of model scores, before they become probabilities

    def ranking(
        self, features: ListFeatures, scores: np.ndarray, gains: np.ndarray, rng: np.random.Generator
    ) -> Ranking:
        """The gradient of the expected gain; `features` and `rng` are not used."""
        return expected_ranking(scores, gains, self.scale)


def loss_of(settings: ListLossSettings, pairs: ListLoss) -> ListLoss:
    """The loss that the settings choose; `pairs`: the loss over pairs."""
    return ExpectedGain(settings.loss_scale) if settings.loss == "expected" else pairs


def expected_ranking(scores: np.ndarray, gains: np.ndarray, scale: float) -> Ranking:
    """The gradient of the expected gain of a list, from the `scores` and `gains` (float64[K]) of its hypotheses.

    With p the softmax of scale * scores, the coefficients are scale * p * (gain - expected gain). The loss is the
    largest gain minus the expected gain. The list counts as one update; it counts as wrong if the hypothesis with the
    highest score does not have the largest gain.
    """
    exponents = np.exp(scale * (scores - scores.max()))
    probabilities = exponents / exponents.sum()
    expected = float(probabilities @ gains)
    coefficients = scale * probabilities * (gains - expected)
    is_wrong = gains[np.argmax(scores)] < gains.max()
    return Ranking(coefficients, float(gains.max()) - expected, int(coefficients.any()), int(is_wrong))
