"""tune: the weights of a model, tuned on development data."""

from collections.abc import Sequence
from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, Settings, memory_bound, optional_path, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import config_with_options
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.engine.current_engine import EngineName
from phrasebeam.engine.engine_options import chosen_engine
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.tuning.config import TuneConfig, TuneMethod
from phrasebeam.training.tuning.online_model import OnlineData
from phrasebeam.training.tuning.run_state import RunResult
from phrasebeam.training.tuning.tune_model import tune_model


@checked
def tune(
    model: File,
    source: File,
    reference: Files,
    output: File,
    *,
    method: TuneMethod | None = None,
    config: Settings | None = None,
    iterations: int | None = None,
    nbest: int | None = None,
    seed: int | Sequence[int] | None = None,
    c: float | Sequence[float] | None = None,
    metric: MetricName | None = None,
    algorithm: Algorithm | None = None,
    alignment: File | None = None,
    dev_source: File | None = None,
    dev_reference: Files | None = None,
    test_source: File | None = None,
    test_reference: Files | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    workers: int | None = None,
    force: bool = False,
) -> TrainingOutcome[list[RunResult]]:
    """Tune the weights of a model on n-best lists: decode, merge, optimize, until nothing new is found.

    Args:
        model: Model directory, as train_model writes it.
        source: Source sentences to tune on, tokenized, one a line.
        reference: Their translations, one file for each set of them.
        output: Directory of the tuned model; a run that was stopped there goes on.
        method: How weights are found; None: that of the settings, as all that follows.
        config: Settings, see TuneConfig; what is given beside them counts instead.
        iterations: At most.
        nbest: Hypotheses of each sentence.
        seed: Of a run, or of several, which are compared.
        c: Of MIRA: the largest step; a run each.
        metric: What is optimized.
        algorithm: Of the search, which the tuned model then carries.
        alignment: Of method "online": the sentences are training data, with this word alignment (0-0 1-2 ...).
        dev_source: Of method "online": other sentences, whose score says which epoch is best.
        dev_reference: Their translations.
        test_source: Other sentences, to score the tuned weights on.
        test_reference: Their translations.
        threads: Processor cores to use; results do not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        workers: Processes that work at the same time; None: Ray's processors, or threads.
        force: Delete the model, or the work, that is there instead.

    Returns a result for each seed and C, and what the best of them gained. Raises SmtError or OSError.

    >>> outcome = tune("model", "dev.de", "dev.en", "tuned", iterations=1, nbest=10)
    >>> outcome.gain.best >= outcome.gain.before
    True
    """
    test, held_out = _data("test", test_source, test_reference), _data("dev", dev_source, dev_reference)
    options = {
        "method": method,
        "iterations": iterations,
        "nbest": nbest,
        "seeds": [seed] if isinstance(seed, int) else seed,
        "c": [c] if isinstance(c, (int, float)) else c,
        "metric": metric,
        "search": {"algorithm": algorithm},
        "threads": threads,
        "memory": memory,
    }
    settings = config_with_options(config, TuneConfig, options)
    given = optional_path(alignment)
    online = OnlineData(given, held_out) if given or held_out else None
    with memory_bound(settings.memory), chosen_engine(engine, address, workers):
        development = BitextFiles(Path(source), paths(reference))
        results = tune_model(Path(model), development, Path(output), settings, test, online, force)
    best = next((result for result in results if result.best > 0), results[0])
    return TrainingOutcome(results, Gain(settings.metric, best.before, best.score, best.name if best.best > 0 else ""))


def _data(name: str, source: File | None, references: Files | None) -> BitextFiles | None:
    if (source is None) != (not references):
        raise ConfigError(f"--{name}-source and --{name}-reference need each other; give both")
    return BitextFiles(Path(source), paths(references)) if source and references else None
