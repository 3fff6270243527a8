"""tune: tuning the weights of a model on development data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Unpack

from phrasebeam.api.arguments import OR_PAIRS, EngineOptions, File, Files, Model, PairOptions, optional_path, resources
from phrasebeam.api.trainers import trainer_options as shared
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.decoder.search.search_settings import Algorithm
from phrasebeam.training.bitext.pair_files import reads_pairs
from phrasebeam.training.bitext.tokenized_files import tokenized_files
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.tuning.config import TuneConfig, TuneMethod
from phrasebeam.training.tuning.online_model import OnlineData
from phrasebeam.training.tuning.run_state import RunResult
from phrasebeam.training.tuning.tune_model import tune_model


class TuneOptions(shared.TrainerOptions, shared.TestOptions, EngineOptions, PairOptions, total=False):
    """The tuning method, and additional data for training and testing."""

    method: TuneMethod | None
    nbest: int | None
    seed: Annotated[int | Sequence[int] | None, Option(setting="seeds")]
    c: float | Sequence[float] | None
    metric: MetricName | None
    algorithm: Annotated[Algorithm | None, Option(setting="search.algorithm", unset="the model's")]
    alignment: Annotated[
        File | None,
        Option(
            "For method online, if the sentences are training data: their word alignment (0-0 1-2 ...).",
            unset="the alignment stored in the model",
        ),
    ]
    dev_source: Annotated[
        File | None, "For method online: source sentences of a development set that chooses the best epoch."
    ]
    dev_reference: Annotated[
        Files | None, "Reference translations of `dev_source`; one file for each set of references."
    ]


@described(TuneConfig)
@reads_pairs(("source", "reference"), ("dev_source", "dev_reference"), ("test_source", "test_reference"))
def tune(
    model: Model,
    source: Annotated[File, f"Source sentences to tune on, one per line; {OR_PAIRS}."],
    reference: shared.ReferencesIfApart,
    output: shared.NewModel,
    **options: Unpack[TuneOptions],
) -> TrainingOutcome[list[RunResult]]:
    """Tune the weights of a model: decode n-best lists, merge them, optimize weights, until nothing new is found.

    Returns a result for each seed and C, and the gain of the best of them. Raises SmtError or OSError.

    >>> outcome = tune("model", "dev.de", "dev.en", "tuned", iterations=1, nbest=10)
    >>> outcome.gain.best >= outcome.gain.before
    True
    """
    test = shared.optional_data("test", options["test_source"], options["test_reference"])
    held_out = shared.optional_data("dev", options["dev_source"], options["dev_reference"])
    settings = settings_of(tune, TuneConfig, options)
    alignment = optional_path(options["alignment"])
    raw = False if settings.source_format == "plf" and options["raw"] is None else options["raw"]
    with resources(settings.memory, options, options["workers"]), tokenized_files(Path(model), raw) as tokens:
        online = OnlineData(alignment, tokens(held_out)) if alignment or held_out else None
        data = tokens(shared.development_data(source, reference)), Path(output), settings, tokens(test), online
        results = tune_model(Path(model), *data, options["force"])
    best = next((result for result in results if result.best > 0), results[0])
    return TrainingOutcome(results, Gain(settings.metric, best.before, best.score, best.name if best.best > 0 else ""))
