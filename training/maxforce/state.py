"""The iterations of a perceptron training."""

from pathlib import Path

from pydantic import Field

from phrasebeam.base.config import Count
from phrasebeam.training.online.progress import OnlineIteration


class MaxforceIteration(OnlineIteration):
    """One iteration over the training data; number 0 is only the score before the first."""

    invalid: Count = Field(0, description="updates whose better derivation had the higher score before")
    solved: Count = Field(0, description="sentences whose best hypothesis of the last bin was y-good")
    too_large: Count = Field(0, description="sentences whose scored lattice was too large, so that they were left out")
    violation: float = Field(0.0, description="sum of the score differences of valid updates")
    place: float = Field(0.0, description="sum of bin / bins of updates")

    @property
    def invalid_ratio(self) -> float:
        """Invalid updates divided by all updates."""
        return self.invalid / max(self.updates, 1)

    def row(self) -> dict[str, object]:
        """The fields, and the ratio of Figure 9; it is None in an iteration without updates."""
        return super().row() | {"invalid_ratio": self.invalid_ratio if self.updates else None}

    def text(self) -> str:
        """The counts in words, for the log."""
        text = f"{super().text()}, {100 * self.invalid_ratio:.1f}% invalid"
        return f"{text}, {self.too_large} too large" if self.too_large else text


def directory_of(work: Path, seed: int) -> Path:
    """The directory of the training with this seed."""
    return work / f"seed-{seed}"
