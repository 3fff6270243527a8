"""The iterations of a training that ranks n-best lists."""

from pydantic import Field

from phrasebeam.base.config import Count
from phrasebeam.training.online.progress import OnlineIteration


class ListIteration(OnlineIteration):
    """One epoch over the training data; number 0 is only the score before the first."""

    wrong: Count = Field(0, description="pairs in which the better hypothesis did not score higher, when looked at")
    loss: float = Field(0.0, description="summed over pairs, each when it is looked at")

    def text(self) -> str:
        """The counts in words, for the log."""
        score = "" if self.example_score is None else f", {self.example_score:.2f} on the training data"
        return f"{super().text()}{score}, {self.features} features"
