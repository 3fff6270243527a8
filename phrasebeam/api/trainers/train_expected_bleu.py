"""train_expected_bleu: scores of phrase pairs by maximum expected BLEU (Wuebker et al. 2015)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Unpack

from phrasebeam.api.arguments import EngineOptions, File, Model, Source, Target, optional_path, resources
from phrasebeam.api.trainers import trainer_options as shared
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.training.bitext.tokenized_files import tokenized_files
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.expected_bleu import expected_bleu_model
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig, Optimizer


class ExpectedBleuOptions(shared.CorpusOptions, EngineOptions, total=False):
    """Options about the features, the optimizer, and the place of the n-best lists."""

    lists: Annotated[File | None, "Directory for the n-best lists, which other training runs can use again."]
    optimizer: Optimizer | None
    features: Annotated[str | Sequence[str] | None, Option(unset="a to d")]


@described(ExpectedBleuConfig)
def train_expected_bleu(
    model: Model,
    source: Source,
    target: Target,
    dev_source: shared.DevSource,
    dev_reference: shared.References,
    output: shared.NewModel,
    **options: Unpack[ExpectedBleuOptions],
) -> TrainingOutcome[expected_bleu_model.ExpectedBleuProgress]:
    """Train scores of phrase pairs on training data to maximize the expected BLEU of n-best lists.

    Returns the iterations, and the gain on the development data. Raises SmtError or OSError.

    >>> outcome = train_expected_bleu("model", "train.de", "train.en", "dev.de", "dev.en", "scored", config=SHORT)
    >>> outcome.result.iterations[1].objective > outcome.result.iterations[0].objective
    True
    """
    if (names := options["features"]) is not None:
        texts = [names] if isinstance(names, str) else names
        options["features"] = [name.strip() for text in texts for name in text.split(",")]
    settings = settings_of(train_expected_bleu, ExpectedBleuConfig, options)
    corpus = shared.training_data(source, target, options["alignment"])
    development, lists = shared.development_data(dev_source, dev_reference), optional_path(options["lists"])
    token_files = tokenized_files(Path(model), options["raw"])
    with resources(settings.memory, options, options["workers"]), token_files as tokens:
        progress = expected_bleu_model.train_expected_bleu(
            Path(model), tokens(corpus), tokens(development), Path(output), settings, lists, options["force"]
        )
    return TrainingOutcome(progress, Gain.of(progress, settings.metric))
