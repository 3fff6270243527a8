"""train_model: a model built from a bitext."""

from typing import Annotated, Unpack

from phrasebeam.api.arguments import (
    Config,
    EngineOptions,
    File,
    Files,
    Force,
    PairOptions,
    TargetIfApart,
    optional_path,
    paths,
    resources,
)
from phrasebeam.api.trainers.trainer_options import (
    LanguageModelText,
    RawOptions,
    RawSource,
    ResourceOptions,
    build_settings,
    with_language_models,
)
from phrasebeam.base.options import Option, described, settings_of
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.training.bitext.pair_files import reads_pairs
from phrasebeam.training.model_building import train_model as building
from phrasebeam.training.model_building.config import TrainModelConfig


class BuildOptions(ResourceOptions, EngineOptions, RawOptions, PairOptions, total=False):
    """Options of word alignment, language models and resources."""

    config: Config
    force: Force
    alignment: Annotated[
        File | None,
        Option(
            "Use this word alignment (0-0 1-2 ...) instead of aligning the text; several per line are "
            "separated by |||.",
            unset="align the text",
        ),
    ]
    lm_text: LanguageModelText
    lm_classes: Annotated[
        Files | None,
        "Word classes, as cluster writes them, for additional language models over classes; one file for each model.",
    ]


@described(TrainModelConfig)
@reads_pairs(("source", "target"))
def train_model(
    source: RawSource,
    target: TargetIfApart,
    output: Annotated[File, "Directory of the model."],
    **options: Unpack[BuildOptions],
) -> ModelDescription:
    """Build a model from parallel text: word alignment, phrase table, reordering model, language model.

    Returns the description in model.yaml. Raises SmtError or OSError, and then leaves `output` unchanged.

    >>> train_model("train.de", "train.en", "new-model", config={"language_model": {"order": 3}}).sentence_pairs
    600
    """
    settings = settings_of(train_model, TrainModelConfig, options)
    settings = with_language_models(settings, paths(options["lm_text"]), paths(options["lm_classes"]))
    with resources(settings.memory, options, options["workers"]):
        alignment, settings = optional_path(options["alignment"]), build_settings(settings, options)
        return building.train_model(source, paths(target)[0], output, settings, alignment, options["force"])
