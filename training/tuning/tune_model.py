"""Tuning of a model directory: all runs, and a new model directory with the weights of the best one."""

from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.training.common.derived_model import DerivedModel
from phrasebeam.training.common.development_set import DevelopmentData, DevelopmentSet
from phrasebeam.training.common.settings import settings_with_effect
from phrasebeam.training.metrics.score_hints import hint_at_low_score
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_model import WORK, OnlineData, check_method, tune_online
from phrasebeam.training.tuning.run_result import RunResult
from phrasebeam.training.tuning.run_state import TuningRun, write_curves
from phrasebeam.training.tuning.tune import Tuner, all_runs, starting_weights


@alone_in_output
def tune_model(
    model: Path,
    corpus: DevelopmentData,
    output: Path,
    config: TuneConfig,
    test: DevelopmentData | None = None,
    online: OnlineData | None = None,
) -> list[RunResult]:
    """Tune the weights of `model` on `corpus`, and write it with the best ones to `output`; the results of all runs.

    What an earlier call with the same settings and data did is not done again. `online`: further data of the method
    of that name.
    """
    if config.method == "online":
        return tune_online(model, corpus, output, config, test, online or OnlineData())
    if online is not None:
        raise ConfigError("a word alignment and held-out data are for method online alone; leave them out")
    derived = DerivedModel.begin(model, output, WORK, corpus.files)
    has_tags = derived.opened.has_tags
    development, test_set = corpus.read(config, has_tags), test.read(config, has_tags) if test else None
    check_method(derived.work, is_online=False)
    starting_weights(derived.opened, config)  # raises its errors before any work
    results, tuners = [], []
    for settings in all_runs(config):
        signature = derived.signature(settings_with_effect(settings.config))
        run = TuningRun(derived.work / settings.name, signature)
        tuner = Tuner(derived.opened, development, settings, run)
        tuner.finish()
        tuners.append(tuner)
        results.append(_result(tuner, test_set))
        write_curves(derived.work, {tuner.settings.name: tuner.run.progress for tuner in tuners}, development)
    _write_model(derived, max(tuners, key=lambda tuner: tuner.run.progress.best_score))
    hint_at_low_score(config.metric, max(result.score for result in results))
    return results


def _result(tuner: Tuner, test: DevelopmentSet | None) -> RunResult:
    progress, reported = tuner.run.progress, tuner.development.reported
    iterations, best = progress.iterations, progress.best
    return RunResult(
        tuner.settings.name,
        tuner.settings.c,
        len(iterations),
        best,
        reported(iterations[0].score),
        reported(progress.best_score),
        reported(test.score(tuner.decoder(best)).score) if test else None,
        sum(iteration.updates for iteration in iterations),
        sum(iteration.optimize_seconds for iteration in iterations),
        sum(iteration.decode_seconds for iteration in iterations),
    )


def _write_model(derived: DerivedModel, tuner: Tuner) -> None:
    """Write the tuned weights; those of sparse features, where they were tuned."""
    best, output = tuner.run.progress.best, derived.output
    sparse, written = tuner.run.sparse_weights(best), list[Path]()
    if sparse is not None:
        written = save_sparse_weights(sparse, output / "sparse")
    settings = {
        "tune": tuner.config.model_dump(mode="json", exclude={"threads", "memory"}),
        "tuned_from": derived.opened.description.signature,
    }
    names = "tune", tuner.settings.name
    derived.write(tuner.run.weights(best), settings, names, lambda path: output / path not in written)
