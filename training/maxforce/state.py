"""How far a training has come, in one file: killed at any moment, it goes on behind the last checkpoint."""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.checkpoint import SignedProgress, load_progress, save_progress
from phrasebeam.training.maxforce.learned_weights import LearnedWeights

FORMAT: Literal["phrasebeam maxforce 1"] = "phrasebeam maxforce 1"


class Epoch(Section):
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


class MaxforceProgress(SignedProgress):
    """Which mini-batch comes next, and what was found so far."""

    format: Literal["phrasebeam maxforce 1"] = FORMAT
    signature: str = Field(description="of settings and data; who resumes must have the same")
    epochs: list[Epoch] = Field([])
    current: Epoch = Epoch()
    next_example: int = Field(0, description="in the order of the iteration at hand")
    logged: int = Field(0, description="bytes of the log of updates")

    @property
    def best(self) -> int:
        """The iteration whose averaged weights were best, the first of several; 0: those before training."""
        return int(np.argmax([epoch.score for epoch in self.epochs]))


def directory_of(work: Path, seed: int) -> Path:
    """Where a training of several is."""
    return work / f"seed-{seed}"


def save_checkpoint(path: Path, progress: MaxforceProgress, learned: LearnedWeights) -> None:
    """Write both, whole or not at all."""
    save_progress(path, progress, learned.arrays())


def load_checkpoint(path: Path, signature: str) -> tuple[MaxforceProgress, LearnedWeights]:
    """Read them back. Raises ConfigError where they are of other settings or data."""
    progress, arrays = load_progress(path, MaxforceProgress, signature)
    return progress, LearnedWeights.restored(arrays)
