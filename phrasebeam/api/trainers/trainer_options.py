"""Options that trainers share, and the data files that they name."""

from pathlib import Path
from typing import Annotated, TypedDict

from phrasebeam.api.arguments import (
    OR_PAIRS,
    UNLESS_PAIRS,
    Config,
    File,
    Files,
    Force,
    LanguageOptions,
    MemoryBound,
    RawOrTokens,
    optional_path,
    paths,
)
from phrasebeam.base.config import parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.options import Option, heading
from phrasebeam.decoder.input.raw_text_settings import (
    TOKENIZER_OF_LANGUAGE,
    RawTextSettings,
    TextLanguages,
    TokenizerName,
    raw_preprocessing,
)
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.model_building.config import TrainModelConfig

DevSource = Annotated[File, "Source sentences of a development set, which chooses the best weights."]
References = Annotated[Files, "Reference translations of the development set; one file for each set of references."]
LanguageModelText = Annotated[
    Files | None,
    "Target-language text for additional language models, raw or tokenized like the target; one file for each model.",
]
ReferencesIfApart = Annotated[
    Files | None, f"Reference translations, one file for each set of references, {UNLESS_PAIRS}."
]
NewModel = Annotated[File, "Directory of the new model; an unfinished run in it is continued."]
RawSource = Annotated[File, f"Source sentences, one per line, tokenized or `raw`, plain, .gz or .zst; {OR_PAIRS}."]


@heading("Test data")
class TestOptions(TypedDict, total=False):
    """A test set, whose scores are only reported."""

    test_source: Annotated[File | None, "Source sentences of a test set, whose scores are only reported."]
    test_reference: Annotated[
        Files | None, "Reference translations of `test_source`; one file for each set of references."
    ]


@heading("Resources")
class ResourceOptions(TypedDict, total=False):
    """Processors and memory for training."""

    threads: int | None
    memory: MemoryBound


class TrainerOptions(ResourceOptions, total=False):
    """Options of trainers that have settings."""

    config: Config
    force: Force
    raw: RawOrTokens
    iterations: int | None


class CorpusOptions(TrainerOptions, total=False):
    """Options of trainers that decode training data."""

    alignment: Annotated[
        File | None,
        Option("Word alignment (0-0 1-2 ...) of the training data.", unset="the alignment stored in the model"),
    ]
    leave_one_out: LeaveOneOut | None
    lm_folds: int | None


@heading("Raw text")
class TokenizerOptions(LanguageOptions, total=False):
    """Languages of raw text, and their tokenizers."""

    source_tokenizer: Annotated[TokenizerName | None, Option(section=RawTextSettings, unset=TOKENIZER_OF_LANGUAGE)]
    target_tokenizer: Annotated[TokenizerName | None, Option(section=RawTextSettings, unset=TOKENIZER_OF_LANGUAGE)]


class RawOptions(TokenizerOptions, total=False):
    """Whether text is raw, and its languages."""

    raw: Annotated[bool, "The text is raw: tokenize and truecase it, also when translating."]
    clean: Annotated[bool | None, Option("Leave out bad sentence pairs and repair characters.", unset="only raw text")]


def build_settings(config: TrainModelConfig, options: RawOptions) -> TrainModelConfig:
    """`config` with preprocessing of raw text and with cleaning, if the options ask for it."""
    config = raw_settings(config, options)
    return config if options["clean"] is None else config.model_copy(update={"clean": options["clean"]})


def raw_settings(config: TrainModelConfig, options: RawOptions) -> TrainModelConfig:
    """`config` with preprocessing of raw text, if the options ask for it; languages may come from the options.

    If languages are given without raw text, they are noted as those of the tokenized text.
    """
    names = ("source_language", "target_language", "source_tokenizer", "target_tokenizer")
    given = {name: options[name] for name in names if options[name]}  # type: ignore[literal-required]
    if not (options["raw"] or given):
        return config
    if not (options["raw"] or config.preprocessing):
        if options["source_tokenizer"] or options["target_tokenizer"]:
            raise ConfigError("tokenizers are for raw text; give --raw, too")
        if len(given) < 2:
            raise ConfigError("give both --source-language and --target-language; for raw text, give --raw, too")
        return config.model_copy(update={"languages": parse_config(given, TextLanguages, "options")})
    section = config.preprocessing.model_dump() if config.preprocessing else {}
    return config.model_copy(update={"preprocessing": raw_preprocessing(section, given)})


def with_language_models(config: TrainModelConfig, texts: list[Path], classes: list[Path]) -> TrainModelConfig:
    """`config` with a further language model for each file of `texts` and for each file of word `classes`."""
    if not texts and not classes:
        return config
    options = config.model_dump(mode="json", exclude_unset=True)
    further = [{"text": [str(path)]} for path in texts] + [{"classes": str(path)} for path in classes]
    options["language_models"] = options.get("language_models", []) + further
    return parse_config(options, TrainModelConfig, "options")


def training_data(source: File, target: File | None, alignment: File | None) -> BitextFiles:
    return BitextFiles(Path(source), paths(target), optional_path(alignment))


def development_data(source: File, references: Files | None) -> BitextFiles:
    return BitextFiles(Path(source), paths(references))


def optional_data(name: str, source: File | None, references: Files | None) -> BitextFiles | None:
    """The data of the two options NAME-source and NAME-reference, or None if both are missing.

    Raises ConfigError if only one is given.
    """
    if (source is None) != (not references):
        raise ConfigError(f"--{name}-source and --{name}-reference need each other; give both")
    return development_data(source, references) if source and references else None
