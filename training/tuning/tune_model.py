"""A model directory with tuned weights out of another: all runs, the best of them, and what is written of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.model.model import open_model
from phrasebeam.decoder.sparse.sparse_files import FORMAT
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.decoder.tables.provenance import file_digests, signature
from phrasebeam.training.common.derived_model import work_directory, write_derived
from phrasebeam.training.metrics.metrics import make_metric
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.curve import write_curves
from phrasebeam.training.tuning.decoding import score_translations
from phrasebeam.training.tuning.run_state import TuningRun
from phrasebeam.training.tuning.tune import DevelopmentSet, RunSettings, Tuner, all_runs, starting_weights

WORK = "tuning"  # in the model directory: all runs
WITHOUT_EFFECT = {"iterations", "threads", "seeds", "c"}  # on what a run has done so far; C is in the name of the run


@dataclass(frozen=True)
class TuningData:
    """Source sentences and their references, a file for each set of these."""

    source: Path
    references: Sequence[Path]

    @property
    def files(self) -> dict[str, Path]:
        """All files by name."""
        return {"source": self.source} | {f"reference {i}": path for i, path in enumerate(self.references, 1)}

    def read(self, config: TuneConfig) -> DevelopmentSet:
        """The sentences and the metric. Raises FormatError where files have not as many lines."""
        lines = {path: list(read_lines(path)) for path in (self.source, *self.references)}
        for path, found in lines.items():
            if not found or len(found) != len(lines[self.source]):
                expected = f"{self.source} has {len(lines[self.source])}; expected as many, one or more, of each"
                raise FormatError(path, f"{len(found)} lines, {expected}")
        references = [lines[path] for path in self.references]
        metric = make_metric(config.metric, references, config.lowercase, config.reference_length)
        return DevelopmentSet(lines[self.source], metric)


@dataclass(frozen=True)
class RunResult:
    """What a run came to; scores in the metric's own units."""

    name: str
    c: float | None  # of MIRA, where several are compared
    iterations: int
    best: int  # iteration whose weights were best
    before: float  # score on the development set before tuning
    score: float
    test_score: float | None
    updates: int
    optimize_seconds: float
    decode_seconds: float


def tune_model(
    model: Path, corpus: TuningData, output: Path, config: TuneConfig, test: TuningData | None = None
) -> list[RunResult]:
    """Tune the weights of `model` on `corpus`, and write it with the best ones to `output`; the results of all runs.

    What an earlier call with the same settings and data did is not done again.
    """
    work = work_directory(model, output, WORK)
    opened, development = open_model(model), corpus.read(config)
    starting_weights(opened, config)  # what is wrong with them is said before any work
    digests = file_digests(corpus.files)
    results, tuners = [], []
    for settings in all_runs(config):
        relevant = settings.config.model_dump(mode="json", exclude=WITHOUT_EFFECT) | {
            "model": opened.description.signature
        }
        if opened.templates is not None:
            relevant["sparse"] = FORMAT
        weights = opened.weights.model_dump(mode="json")
        run = TuningRun(work / settings.name, signature(relevant | {"weights": weights}, digests))
        tuner = Tuner(opened, development, settings, run)
        tuner.finish()
        tuners.append(tuner)
        results.append(_result(tuner, test.read(config) if test else None, settings))
        write_curves(work, {tuner.settings.name: tuner.run.state for tuner in tuners}, development.metric)
    chosen = max(tuners, key=lambda tuner: tuner.run.state.best_score)
    _write_model(model, output, chosen, digests)
    return results


def _result(tuner: Tuner, test: DevelopmentSet | None, settings: RunSettings) -> RunResult:
    iterations, best, reported = tuner.run.state.iterations, tuner.run.state.best, tuner.metric.reported
    test_score = None
    if test is not None:
        score = score_translations(tuner.decoder(best), test.source, test.metric, tuner.config.threads)
        test_score = reported(score)
    return RunResult(
        settings.name,
        settings.c,
        len(iterations),
        best,
        reported(iterations[0].score),
        reported(iterations[best].score),
        test_score,
        sum(iteration.updates for iteration in iterations),
        sum(iteration.optimize_seconds for iteration in iterations),
        sum(iteration.decode_seconds for iteration in iterations),
    )


def _write_model(model: Path, output: Path, tuner: Tuner, digests: dict[str, dict[str, str]]) -> None:
    """Give `output` the files of `model`, and the tuned weights; those of sparse features, where they were tuned."""
    best = tuner.run.state.best
    sparse, own = tuner.run.sparse_weights(best), list[Path]()
    if sparse is not None:
        own = save_sparse_weights(sparse, output / "sparse")
    before = tuner.model.description
    settings = {"tune": tuner.config.model_dump(mode="json", exclude={"threads"}), "tuned_from": before.signature}
    names = "tune", tuner.settings.name
    weights = tuner.run.weights(best)
    write_derived(model, output, before, weights, settings, digests, names, lambda path: output / path not in own)
