"""Where a training is: its iterations so far, and the weights and the optimizer's state for the next one."""

from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.iterations import Progress


class ExpectedBleuIteration(Section):
    """Weights that were reached, and what they are worth."""

    objective: float
    expected_bleu: float = Field(description="mean of the lists, brevity not clipped")
    penalty: float = Field(description="sum of the squares of all weights; of gt, of KL divergences")
    seconds: float = Field(description="of computing the objective, its gradient and the next weights")
    score: float | None = Field(None, description="of the development set, 0 to 100; of TER negative")


class ExpectedBleuProgress(Progress[ExpectedBleuIteration]):
    """What was reached so far; iteration 0 is the model before."""

    format: Literal["phrasebeam expected BLEU 1"] = "phrasebeam expected BLEU 1"

    def with_score(self, number: int, score: float) -> "ExpectedBleuProgress":
        """The same with the score of an iteration."""
        iterations = list(self.iterations)
        iterations[number] = iterations[number].model_copy(update={"score": score})
        return self.model_copy(update={"iterations": iterations})
