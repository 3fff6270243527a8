"""A tuning run on disk: progress, weights and lists after every iteration, so that a killed run can be resumed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from phrasebeam.base.config import Count, Section, load_config, save_config
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, open_sparse_weights, save_sparse_weights
from phrasebeam.training.common.checkpoint import begin
from phrasebeam.training.common.curve import score_panels, write_curve
from phrasebeam.training.common.development_set import DevelopmentSet
from phrasebeam.training.common.iterations import Progress

PROGRESS = "run.yaml"


class TuningIteration(Section):
    """One iteration: decoding with the weights of the one before, then optimizing."""

    score: float = Field(description="of the translations by the weights before, 0 to 100; error rates negative")
    chrfpp: float | None = Field(None, description="chrF++ of the same translations")
    hypotheses: Count = Field(description="of all lists, duplicates left out")
    found: Count = Field(description="hypotheses of this iteration")
    new: Count = Field(description="those of them that no iteration had before")
    list_score: float | None = Field(None, description="of what the weights after choose from the lists, likewise")
    updates: Count = 0
    epoch: Count = 0
    decode_seconds: float = Field(0.0, description="by the clock, as those below")
    optimize_seconds: float = 0.0


class TuningProgress(Progress[TuningIteration]):
    """All iterations of a run so far; the last one of a finished run only decodes."""

    format: Literal["phrasebeam tuning run 2"] = "phrasebeam tuning run 2"
    finished: bool = False


class TuningRun:
    """The directory of a run: its progress, the weights after each iteration, and its n-best lists."""

    def __init__(self, directory: Path, signature: str):
        """Begin a run, or resume it. Raises ConfigError if the directory has a run with other settings or data."""
        self.directory = directory
        self.progress = begin(directory / PROGRESS, TuningProgress(signature=signature))

    @property
    def nbest(self) -> Path:
        return self.directory / "nbest"

    def add(self, iteration: TuningIteration, finished: bool) -> None:
        """Record an iteration; its weights must already be saved."""
        self.progress = self.progress.with_iteration(iteration, finished=finished)
        save_config(self.progress, self.directory / PROGRESS)

    def extend(self, iterations: int) -> None:
        """Reopen a run that ended only because its maximum number of iterations was less than `iterations`."""
        done = self.progress.iterations
        if self.progress.finished and done[-1].found == 0 and len(done) <= iterations:
            self.progress = self.progress.model_copy(update={"iterations": done[:-1], "finished": False})

    def save_weights(self, number: int, weights: Weights, sparse: SparseWeights | None = None) -> None:
        """Write the weights after iteration `number`; `sparse`: those of sparse features, if they are tuned."""
        if sparse is not None:
            save_sparse_weights(sparse, self._sparse(number))
        save_config(weights, self.directory / f"weights.{number:02}.yaml")

    def weights(self, number: int) -> Weights:
        return load_config(self.directory / f"weights.{number:02}.yaml", Weights)

    def sparse_weights(self, number: int) -> SparseWeights | None:
        """The sparse weights after iteration `number`; None if they are not tuned."""
        return open_sparse_weights(self._sparse(number)) if self._sparse(number).exists() else None

    def _sparse(self, number: int) -> Path:
        return self.directory / f"sparse.{number:02}"


def write_curves(directory: Path, runs: Mapping[str, TuningProgress], development: DevelopmentSet) -> None:
    """Write curve.csv and curve.png of `runs` (by name), with scores in their usual units (error rates positive).

    A row has the scores of the weights after its iteration, on the development set and on the lists; row 0 has the
    initial weights.
    """
    rows = []
    for name, progress in runs.items():
        on_lists = [None, *(iteration.list_score for iteration in progress.iterations)]
        rows += [{"run": name} | row | {"list_score": score} for row, score in zip(progress.rows(), on_lists)]
    reported = [
        row | {name: development.reported(row[name]) for name in ("score", "list_score") if row[name] is not None}
        for row in rows
    ]
    best = {name: progress.best for name, progress in runs.items()}
    panels = score_panels(development.metric.name, {"score": "development set"}, is_reported=True)
    write_curve(directory, reported, "Weights after each iteration", panels, best)


@dataclass(frozen=True)
class RunResult:
    """The result of a run; scores are in the metric's usual units (BLEU in percent, error rates positive)."""

    name: str
    c: float | None  # C of MIRA, if several values are compared
    iterations: int
    best: int  # the iteration with the best weights
    before: float  # score on the development set before tuning
    score: float
    test_score: float | None
    chrfpp: float | None  # chrF++ of the same translations of the development set
    test_chrfpp: float | None
    updates: int
    optimize_seconds: float
    decode_seconds: float
