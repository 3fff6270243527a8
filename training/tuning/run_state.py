"""How far a run has come, on disk: after every iteration what it found, so that it can be killed and resumed."""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section, load_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights, open_sparse_weights, save_sparse_weights

STATE = "run.yaml"


class TuningIteration(Section):
    """One iteration: decoding with the weights of the one before, then optimizing."""

    score: float = Field(description="of the translations by the weights before, higher is better")
    hypotheses: int = Field(description="of all lists, duplicates left out")
    found: int = Field(description="hypotheses of this iteration")
    new: int = Field(description="those of them that no iteration had before")
    list_score: float | None = Field(None, description="of what the weights after choose from the lists")
    updates: int = 0
    epoch: int = 0
    decode_seconds: float = Field(0.0, description="of all processors together, as those below")
    optimize_seconds: float = 0.0


class RunState(Section):
    """All iterations of a run so far; the last one of a finished run only decodes."""

    format: Literal["phrasebeam tuning run 1"] = "phrasebeam tuning run 1"
    signature: str = Field(description="of settings and data; who resumes must have the same")
    iterations: list[TuningIteration] = Field([])
    finished: bool = False

    @property
    def best(self) -> int:
        """The iteration whose weights were best, the first of several; 0: those before tuning."""
        scores = [iteration.score for iteration in self.iterations]
        return int(np.argmax(scores))

    @property
    def best_score(self) -> float:
        """The score of those weights."""
        return self.iterations[self.best].score


class TuningRun:
    """The directory of a run: its state, the weights after each iteration, its n-best lists."""

    def __init__(self, directory: Path, signature: str):
        """Begin, or resume. Raises ConfigError where the directory has a run of other settings or data."""
        self.directory = directory
        if (directory / STATE).exists():
            self.state = load_config(directory / STATE, RunState)
            if self.state.signature != signature:
                what = f"{self.state.signature}, expected {signature}"
                raise ConfigError(f"{directory}: tuned with {what}; choose another output, or give the same settings")
        else:
            self.state = RunState(signature=signature)
            save_config(self.state, directory / STATE)

    @property
    def nbest(self) -> Path:
        """Where the n-best lists are."""
        return self.directory / "nbest"

    def add(self, iteration: TuningIteration, finished: bool) -> None:
        """Record an iteration, whose weights are saved already."""
        iterations = [*self.state.iterations, iteration]
        self.state = self.state.model_copy(update={"iterations": iterations, "finished": finished})
        save_config(self.state, self.directory / STATE)

    def extend(self, iterations: int) -> None:
        """Let a run that ended only because it had fewer `iterations` to make go on."""
        done = self.state.iterations
        if self.state.finished and done[-1].found == 0 and len(done) <= iterations:
            self.state = self.state.model_copy(update={"iterations": done[:-1], "finished": False})

    def save_weights(self, number: int, weights: Weights, sparse: SparseWeights | None = None) -> None:
        """Keep the weights after iteration `number`; those of sparse features where they are tuned."""
        if sparse is not None:
            save_sparse_weights(sparse, self._sparse(number))
        save_config(weights, self.directory / f"weights.{number:02}.yaml")

    def weights(self, number: int) -> Weights:
        """What was saved."""
        return load_config(self.directory / f"weights.{number:02}.yaml", Weights)

    def sparse_weights(self, number: int) -> SparseWeights | None:
        """What was saved of sparse features, if anything."""
        return open_sparse_weights(self._sparse(number)) if self._sparse(number).exists() else None

    def _sparse(self, number: int) -> Path:
        return self.directory / f"sparse.{number:02}"
