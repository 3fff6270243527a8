"""How far a training has come, in one file: killed at any moment, it goes on behind the last checkpoint."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.checkpoint import load_checkpoint
from phrasebeam.training.common.curve import Panel, write_curve
from phrasebeam.training.common.iterations import Progress
from phrasebeam.training.maxforce.learned_weights import LearnedWeights


class MaxforceIteration(Section):
    """One iteration over the training data; number 0 is only the score before the first."""

    examples: int = 0
    updates: int = 0
    invalid: int = Field(0, description="updates whose better derivation had the higher score before")
    solved: int = Field(0, description="sentences whose best hypothesis of the last bin was y-good")
    too_large: int = Field(0, description="sentences whose scored lattice was too large, so that they were left out")
    violation: float = Field(0.0, description="sum of the score differences of valid updates")
    place: float = Field(0.0, description="sum of bin / bins of updates")
    seconds: float = Field(0.0, description="of learning")
    development_seconds: float = 0.0
    score: float = Field(0.0, description="of the development set by the averaged weights, as people know it")
    development_words: int = Field(0, description="of the translations of the development set")
    features: int = Field(0, description="sparse ones that were ever updated")

    @property
    def invalid_ratio(self) -> float:
        """Of all updates."""
        return self.invalid / max(self.updates, 1)


class MaxforceProgress(Progress[MaxforceIteration]):
    """Which mini-batch comes next, and what was found so far."""

    format: Literal["phrasebeam maxforce 2"] = "phrasebeam maxforce 2"
    current: MaxforceIteration = Field(MaxforceIteration(), description="the iteration at hand, so far")
    next_example: int = Field(0, description="in the order of the iteration at hand")
    logged: int = Field(0, description="bytes of the log of updates")


def directory_of(work: Path, seed: int) -> Path:
    """Where a training of several is."""
    return work / f"seed-{seed}"


def load_learned(path: Path, signature: str) -> tuple[MaxforceProgress, LearnedWeights]:
    """What was learned up to a checkpoint. Raises ConfigError where it is of other settings or data."""
    progress, arrays = load_checkpoint(path, MaxforceProgress, signature)
    return progress, LearnedWeights.restored(arrays)


def write_maxforce_curve(directory: Path, progress: MaxforceProgress) -> None:
    """Write curve.csv and curve.png: the score, and the ratio of invalid updates (Yu et al. 2013, Figures 8 and 9)."""
    ratios = [iteration.invalid_ratio for iteration in progress.iterations]
    rows = [row | {"invalid_ratio": ratio} for row, ratio in zip(progress.rows(), ratios)]
    scores = {"": dict(enumerate(progress.scores))}
    invalid = {"": {number: 100 * ratio for number, ratio in enumerate(ratios) if number > 0}}
    panels = [
        Panel("score of the development set", scores, "averaged weights after each iteration"),
        Panel("invalid updates, %", invalid),
    ]
    write_curve(directory, rows, panels)
