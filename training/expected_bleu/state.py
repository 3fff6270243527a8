"""Where a training is: its iterations so far, and the weights and the optimizer's state for the next one."""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.checkpoint import load_checkpoint
from phrasebeam.training.common.curve import Panel, write_curve
from phrasebeam.training.common.iterations import Progress
from phrasebeam.training.expected_bleu.optimizers import State


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


def arrays_of(parameters: np.ndarray, state: State) -> dict[str, np.ndarray]:
    """The parameters and the optimizer's state as arrays of a checkpoint."""
    return {"weights": parameters} | {f"state_{name}": array for name, array in state.items()}


def load_learned(path: Path, signature: str) -> tuple[ExpectedBleuProgress, np.ndarray, State]:
    """Progress, parameters and state of a checkpoint. Raises ConfigError where it is of other settings or data."""
    progress, arrays = load_checkpoint(path, ExpectedBleuProgress, signature)
    state = {name.removeprefix("state_"): array for name, array in arrays.items() if name.startswith("state_")}
    return progress, arrays["weights"], state


def write_expected_bleu_curve(directory: Path, progress: ExpectedBleuProgress, title: str) -> None:
    """Write curve.csv and curve.png: expected BLEU as in Figure 2 of Wuebker et al. (2015), and the score."""
    expected = {number: one.expected_bleu for number, one in enumerate(progress.iterations)}
    scores = {number: one.score for number, one in enumerate(progress.iterations) if one.score is not None}
    panels = [
        Panel("expected BLEU of the training data", {"": expected}, title),
        Panel("score of the development set", {"": scores}),
    ]
    write_curve(directory, progress.rows(), panels)
