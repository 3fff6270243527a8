"""Where a training is: its iterations so far, and the weights and the optimizer's state for the next one."""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.checkpoint import SignedProgress, load_progress, save_progress
from phrasebeam.training.expected_bleu.optimizers import State


class ExpectedBleuIteration(Section):
    """Weights that were reached, and what they are worth."""

    objective: float
    expected_bleu: float = Field(description="mean of the lists, brevity not clipped")
    penalty: float = Field(description="sum of the squares of all weights; of gt, of KL divergences")
    seconds: float = Field(description="of computing the objective, its gradient and the next weights")
    score: float | None = Field(None, description="of the development set, 0 to 100; of TER negative")


class ExpectedBleuProgress(SignedProgress):
    """What was reached so far; iteration 0 is the model before."""

    format: Literal["phrasebeam expected BLEU 1"] = "phrasebeam expected BLEU 1"
    signature: str = Field(description="of settings and data; who resumes must have the same")
    iterations: list[ExpectedBleuIteration] = Field([])

    @property
    def best(self) -> int:
        """The iteration whose weights have the best score, the first of several."""
        return int(np.argmax([-np.inf if one.score is None else one.score for one in self.iterations]))

    def with_score(self, number: int, score: float) -> "ExpectedBleuProgress":
        """The same with the score of an iteration."""
        iterations = list(self.iterations)
        iterations[number] = iterations[number].model_copy(update={"score": score})
        return self.model_copy(update={"iterations": iterations})


def save_checkpoint(path: Path, progress: ExpectedBleuProgress, weights: np.ndarray, state: State) -> None:
    """Write all, whole or not at all."""
    save_progress(path, progress, {"weights": weights} | {f"state_{name}": array for name, array in state.items()})


def load_checkpoint(path: Path, signature: str) -> tuple[ExpectedBleuProgress, np.ndarray, State]:
    """Read it back. Raises ConfigError where it is of other settings or data."""
    progress, arrays = load_progress(path, ExpectedBleuProgress, signature)
    state = {name.removeprefix("state_"): array for name, array in arrays.items() if name.startswith("state_")}
    return progress, arrays["weights"], state
