"""The progress of a perceptron training, in a checkpoint from which a killed training goes on."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.checkpoint import SignedSection, load_checkpoint
from phrasebeam.training.common.iterations import Progress

CHECKPOINT, BEST = "checkpoint.npz", "best.npz"  # in the directory of a training


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
    score: float = Field(0.0, description="of the development set by the averaged weights, 0 to 100; of TER negative")
    development_words: int = Field(0, description="of the translations of the development set")
    features: int = Field(0, description="sparse ones that were ever updated")

    @property
    def invalid_ratio(self) -> float:
        """Invalid updates divided by all updates."""
        return self.invalid / max(self.updates, 1)


class MaxforceProgress(Progress[MaxforceIteration]):
    """All iterations so far, and the next mini-batch of the current one."""

    format: Literal["phrasebeam maxforce 2"] = "phrasebeam maxforce 2"
    current: MaxforceIteration = Field(MaxforceIteration(), description="the iteration at hand, so far")
    next_example: int = Field(0, description="in the order of the iteration at hand")
    logged: int = Field(0, description="bytes of the log of updates")


def directory_of(work: Path, seed: int) -> Path:
    """The directory of the training with this seed."""
    return work / f"seed-{seed}"


def load_best(directory: Path, signature: str) -> BestWeights:
    """The weights of a training that were best so far."""
    return BestWeights(**load_checkpoint(directory / BEST, SignedSection, signature)[1])
