"""train_model: a model of a bitext."""

from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, Settings, memory_bound, optional_path, paths
from phrasebeam.base.config import config_with_options, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.input.raw_text_settings import raw_preprocessing
from phrasebeam.decoder.model.description import ModelDescription
from phrasebeam.training.build import train_model as building
from phrasebeam.training.build.config import TrainModelConfig


def train_model(
    source: File,
    target: File,
    output: File,
    *,
    config: Settings | None = None,
    raw: bool = False,
    source_language: str | None = None,
    target_language: str | None = None,
    alignment: File | None = None,
    lm_text: Files | None = None,
    lm_classes: Files | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    force: bool = False,
) -> ModelDescription:
    """Build a model from parallel text: word alignment, phrase table, reordering model, language model.

    Args:
        source: Source sentences, tokenized or `raw`, one a line, plain, .gz or .zst.
        target: Their translations, line by line.
        output: Directory of the model.
        config: Settings, see TrainModelConfig; what is given beside them counts instead.
        raw: The text is raw: tokenize and truecase it, as RawText then does with what is to be translated.
        source_language: Of raw text: "de", "en" ...
        target_language: Of raw text.
        alignment: A word alignment (0-0 1-2 ...) to use as it is; None: the text is aligned.
        lm_text: Target-language text for further language models, one for each file.
        lm_classes: Word classes, as `cluster` writes them, for further language models over these.
        threads: Processor cores to use; the model does not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        force: Replace a model of other settings or text that is there.

    Returns what is said of it in its model.yaml. Raises SmtError or OSError, and then leaves `output` as it was.

    >>> train_model("train.de", "train.en", "new-model", config={"language_model": {"order": 3}}).sentence_pairs
    600
    """
    settings = config_with_options(config, TrainModelConfig, {"threads": threads, "memory": memory})
    settings = _with_language_models(settings, paths(lm_text), paths(lm_classes))
    if raw or source_language or target_language:
        settings = _raw_config(settings, raw, source_language, target_language)
    with memory_bound(settings.memory):
        return building.train_model(source, target, output, settings, optional_path(alignment), force)


def _with_language_models(config: TrainModelConfig, texts: list[Path], classes: list[Path]) -> TrainModelConfig:
    """`config` with a further language model for each file of `texts` and for each file of word `classes`."""
    if not texts and not classes:
        return config
    options = config.model_dump(mode="json", exclude_unset=True)
    further = [{"text": [str(path)]} for path in texts] + [{"classes": str(path)} for path in classes]
    options["language_models"] = options.get("language_models", []) + further
    return parse_config(options, TrainModelConfig, "options")


def _raw_config(config: TrainModelConfig, raw: bool, source: str | None, target: str | None) -> TrainModelConfig:
    """`config` with preprocessing of raw text, for the languages `source` and `target` or, where None, its own."""
    if not (raw or config.preprocessing):
        raise ConfigError("--source-language and --target-language are of raw text; give --raw with them")
    section = config.preprocessing.model_dump() if config.preprocessing else {}
    return config.model_copy(update={"preprocessing": raw_preprocessing(section, source, target)})
