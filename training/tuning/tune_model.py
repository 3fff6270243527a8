"""Tuning of a model directory: all runs, and a new model directory with the weights of the best one."""

from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.sparse.sparse_weights import save_sparse_weights
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.derived_model import DerivedModel, Making
from phrasebeam.training.common.development_set import DevelopmentSet, read_development
from phrasebeam.training.common.gain import Gain
from phrasebeam.training.common.settings import changed_settings, settings_with_effect
from phrasebeam.training.metrics.score_hints import hint_at_low_score
from phrasebeam.training.tuning.carried_search import save_search, with_search
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_model import WORK, OnlineData, tune_online
from phrasebeam.training.tuning.run_state import RunResult, TuningRun, write_curves
from phrasebeam.training.tuning.tune import Tuner, all_runs, starting_weights


@alone_in_output
def tune_model(
    model: Path,
    corpus: BitextFiles,
    output: Path,
    config: TuneConfig,
    test: BitextFiles | None = None,
    online: OnlineData | None = None,
    is_forced: bool = False,
) -> list[RunResult]:
    """Tune the weights of `model` on `corpus`, and write the model with the best ones to `output`.

    Work of an earlier call with the same settings and data is continued; another model or run in `output` is
    refused or, if `is_forced`, deleted. `online`: additional data of the method online. Returns the results of all
    runs.
    """
    if config.method == "online":
        return tune_online(model, corpus, output, config, test, online or OnlineData(), is_forced)
    if online is not None:
        raise ConfigError("a word alignment and held-out data are only for method online; leave them out")
    derived = DerivedModel.begin(model, output, WORK, corpus.sets_by_name)
    form = derived.opened.has_tags, config.source_format == "plf"
    development, test_set = (
        read_development(corpus, config, *form),
        read_development(test, config, *form) if test else None,
    )
    starting_weights(derived.opened, config)  # raises its errors before any work
    asked, config = config, with_search(config, model)
    derived.begin_work("tune", settings_with_effect(config), is_forced, corpus, config.source_format != "plf")
    results, tuners = [], []
    for settings in all_runs(config):
        signature = derived.signature(settings_with_effect(settings.config))
        run = TuningRun(derived.work / settings.name, signature)
        tuner = Tuner(derived.opened, development, settings, run)
        tuner.finish()
        tuners.append(tuner)
        results.append(_result(tuner, test_set))
        write_curves(derived.work, {tuner.settings.name: tuner.run.progress for tuner in tuners}, development)
    _write_model(derived, max(tuners, key=lambda tuner: tuner.run.progress.best_score), asked)
    hint_at_low_score(config.metric, max(result.score for result in results))
    return results


def _result(tuner: Tuner, test: DevelopmentSet | None) -> RunResult:
    progress, reported = tuner.run.progress, tuner.development.reported
    iterations, best = progress.iterations, progress.best
    tested = test.score(tuner.decoder(best)) if test else None
    return RunResult(
        tuner.settings.name,
        tuner.settings.c,
        len(iterations),
        best,
        reported(iterations[0].score),
        reported(progress.best_score),
        reported(tested.score) if tested else None,
        iterations[best].chrfpp,
        tested.chrfpp if tested else None,
        sum(iteration.updates for iteration in iterations),
        sum(iteration.optimize_seconds for iteration in iterations),
        sum(iteration.decode_seconds for iteration in iterations),
    )


def _write_model(derived: DerivedModel, tuner: Tuner, config: TuneConfig) -> None:
    """Write the model with the tuned weights, also of sparse features if they were tuned, and the search settings."""
    best, output = tuner.run.progress.best, derived.output
    sparse, own = tuner.run.sparse_weights(best), save_search(config, derived)
    if sparse is not None:
        own += [str(path.relative_to(output)) for path in save_sparse_weights(sparse, output / "sparse")]
    settings = {
        "tune": tuner.config.model_dump(mode="json", exclude={"threads", "memory"}),
        "tuned_from": derived.opened.description.signature,
    }
    gain = str(Gain.of(tuner.run.progress, config.metric))
    making = Making("tune", settings, changed_settings(config), gain, "tune", tuner.settings.name)
    derived.write(tuner.run.weights(best), making, own)
