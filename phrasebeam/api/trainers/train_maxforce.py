"""train_maxforce: dense and sparse weights by the violation-fixing perceptron (Yu et al. 2013)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Unpack

from phrasebeam.api.arguments import EngineOptions, Model, Source, Target, resources
from phrasebeam.api.trainers import trainer_options as shared
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.training.bitext.tokenized_files import tokenized_files
from phrasebeam.training.common.gain import TrainingOutcome
from phrasebeam.training.maxforce import maxforce_model
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.updates import Strategy


class MaxforceOptions(shared.CorpusOptions, EngineOptions, total=False):
    """Options of the update strategy and of random seeds."""

    update: Strategy | None
    seed: Annotated[int | Sequence[int] | None, Option(setting="seeds")]


@described(MaxforceConfig)
def train_maxforce(
    model: Model,
    source: Source,
    target: Target,
    dev_source: shared.DevSource,
    dev_reference: shared.References,
    output: shared.NewModel,
    **options: Unpack[MaxforceOptions],
) -> TrainingOutcome[maxforce_model.TrainingResult]:
    """Train dense and sparse weights on training data: the violation-fixing perceptron with forced decoding.

    Returns the iterations by seed, and the gain on the development data. Raises SmtError or OSError.

    >>> outcome = train_maxforce("model", "train.de", "train.en", "dev.de", "dev.en", "learned", config=SHORT)
    >>> outcome.gain.before <= outcome.gain.best
    True
    """
    settings = settings_of(train_maxforce, MaxforceConfig, options)
    corpus = shared.training_data(source, target, options["alignment"])
    development = shared.development_data(dev_source, dev_reference)
    token_files = tokenized_files(Path(model), options["raw"])
    with resources(settings.memory, options, options["workers"]), token_files as tokens:
        result = maxforce_model.train_maxforce(
            Path(model), tokens(corpus), tokens(development), Path(output), settings, options["force"]
        )
    return TrainingOutcome(result, result.gain(settings.metric))
