"""The progress of a training: scores of its iterations, the best one, and when to stop."""

import math
from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section
from phrasebeam.training.common.checkpoint import SignedSection

AnyIteration = TypeVar("AnyIteration", bound=Section)


class Progress(SignedSection, Generic[AnyIteration]):
    """All iterations of a training so far. Each has a `score` on the development set; None if it was not scored.

    Higher scores are better. Iteration 0 has the weights before training.
    """

    iterations: list[AnyIteration] = Field([])

    @property
    def scores(self) -> list[float]:
        """The score of each iteration; -inf if it was not scored."""
        iterations: Sequence[Any] = self.iterations  # of a class that has scores
        return [-math.inf if iteration.score is None else iteration.score for iteration in iterations]

    @property
    def best(self) -> int:
        """The iteration whose weights have the best score; among equal scores, the first one."""
        return int(np.argmax(self.scores))

    @property
    def best_score(self) -> float:
        return self.scores[self.best]

    def has_stopped(self, patience: int) -> bool:
        """Whether none of the last `patience` iterations was better than the best one before them."""
        return len(self.iterations) - 1 - self.best >= patience

    def with_iteration(self, iteration: AnyIteration, **update: object) -> Self:
        return self.model_copy(update={"iterations": [*self.iterations, iteration], **update})

    def rows(self) -> list[dict[str, Any]]:
        """The fields of each iteration and its number, from 0, for a curve."""
        return [{"iteration": number, **row.model_dump()} for number, row in enumerate(self.iterations)]
