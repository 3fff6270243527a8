"""The gain of a training: its best score on development data, compared with the score of the initial weights."""

from typing import Any, Generic, NamedTuple, Self, TypeVar

from phrasebeam.training.common.iterations import Progress

Found = TypeVar("Found")


class Gain(NamedTuple):
    """Scores in the metric's usual units (BLEU in percent, error rates positive), and the origin of the best one."""

    metric: str
    before: float
    best: float
    found: str  # such as "iteration 3 of 8"; "" if no weights are better than those before training
    first: str = "the weights it began with"
    chrfpp: tuple[float, float] | None = None  # chrF++ before training, and that of the best weights

    @classmethod
    def of(cls, progress: Progress[Any], metric: str) -> Self:
        """The gain of a training whose iteration 0 has the weights before training."""
        number, last = progress.best, len(progress.iterations) - 1
        found = f"iteration {number} of {last}" if number > 0 else ""
        return cls.between(metric, progress.iterations[0], progress.iterations[number], found)

    @classmethod
    def between(cls, metric: str, before: Any, best: Any, found: str) -> Self:
        """The gain from iteration `before` to iteration `best`; their scores are as trainers keep them."""
        chrfpp = before.chrfpp, best.chrfpp
        beside = None if metric == "chrf++" or None in chrfpp else chrfpp
        return cls(metric, abs(before.score), abs(best.score), found, chrfpp=beside)

    def __str__(self) -> str:
        if not self.found:
            return f"nothing gained: the best {self.metric}, {self.best:.2f}, is that of {self.first}"
        beside = f"; chrF++ {self.chrfpp[1]:.2f}, {self.chrfpp[0]:.2f} before" if self.chrfpp else ""
        return f"{self.metric} {self.best:.2f} after {self.found}, {self.before:.2f} before{beside}"


class TrainingOutcome(NamedTuple, Generic[Found]):
    """Result of a training run, and its gain on the development data."""

    result: Found
    gain: Gain
