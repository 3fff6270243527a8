"""train_model: the model of a bitext."""

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
    """The word alignment and the further language models of a model, and what the building may use."""

    config: Config
    force: Force
    alignment: Annotated[
        File | None,
        Option(
            "A word alignment (0-0 1-2 ...), or several set apart by |||, to use as it is.", unset="the text is aligned"
        ),
    ]
    lm_text: LanguageModelText
    lm_classes: Annotated[
        Files | None, "Word classes, as cluster writes them, for further language models over these, one for each file."
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

    Returns what is said of it in its model.yaml. Raises SmtError or OSError, and then leaves `output` as it was.

    >>> train_model("train.de", "train.en", "new-model", config={"language_model": {"order": 3}}).sentence_pairs
    600
    """
    settings = settings_of(train_model, TrainModelConfig, options)
    settings = with_language_models(settings, paths(options["lm_text"]), paths(options["lm_classes"]))
    with resources(settings.memory, options, options["workers"]):
        alignment, settings = optional_path(options["alignment"]), build_settings(settings, options)
        return building.train_model(source, paths(target)[0], output, settings, alignment, options["force"])
