"""The command `train-model`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.command_line import Force, Memory, config_option
from phrasebeam.base.config import config_with_options, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import keep_memory
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.raw_text.preprocess_command import raw_preprocessing
from phrasebeam.training.build.config import TrainModelConfig

Threads = Annotated[int | None, typer.Option(help="Processor cores to use; the model does not depend on it.")]


def train_model(
    source: Annotated[Path, typer.Option(help="Source sentences, tokenized or --raw, one a line (or .gz, .zst).")],
    target: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    output: Annotated[Path, typer.Option(help="Directory of the model.")],
    config: Annotated[Path | None, config_option("default")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="The text is raw: tokenize and truecase it; translate --raw does the same.")
    ] = False,
    source_language: Annotated[str | None, typer.Option(help="Of raw text: de, en, fr ...")] = None,
    target_language: Annotated[str | None, typer.Option(help="Of raw text.")] = None,
    alignment: Annotated[Path | None, typer.Option(help="A word alignment (0-0 1-2 ...) to use as it is.")] = None,
    lm_text: Annotated[
        list[str] | None, typer.Option(help="Target-language text for a further language model; repeatable.")
    ] = None,
    lm_classes: Annotated[
        list[str] | None,
        typer.Option(help="Word classes for a further language model over these, as cluster writes them; repeatable."),
    ] = None,
    threads: Threads = None,
    memory: Memory = None,
    force: Force = False,
) -> None:
    """Build a model from parallel text: word alignment, phrase table, reordering model, language model."""
    from phrasebeam.training.build.train_model import train_model as build

    start = time.perf_counter()
    settings = train_model_config(config, threads, memory)
    settings = _with_language_models(settings, lm_text or [], lm_classes or [])
    if raw or source_language or target_language:
        settings = _raw_config(settings, raw, source_language, target_language)
    show_progress()
    keep_memory(settings.memory)
    description = build(source, target, output, settings, alignment, force)
    seconds = time.perf_counter() - start
    print(f"{output}: model of {description.sentence_pairs} sentence pairs, made in {seconds:.1f} s")


def train_model_config(path: Path | None, threads: int | None = None, memory: str | None = None) -> TrainModelConfig:
    """The settings in the file `path`, or the defaults, with what the command line says instead."""
    return config_with_options(path, TrainModelConfig, {"threads": threads, "memory": memory})


def _with_language_models(config: TrainModelConfig, texts: list[str], classes: list[str]) -> TrainModelConfig:
    """`config` with a further language model for each file of `texts` and for each file of word `classes`."""
    if not texts and not classes:
        return config
    options = config.model_dump(mode="json", exclude_unset=True)
    further = [{"text": [path]} for path in texts] + [{"classes": path} for path in classes]
    options["language_models"] = options.get("language_models", []) + further
    return parse_config(options, TrainModelConfig, "options")


def _raw_config(config: TrainModelConfig, raw: bool, source: str | None, target: str | None) -> TrainModelConfig:
    """`config` with preprocessing of raw text, for the languages `source` and `target` or, where None, its own."""
    if not (raw or config.preprocessing):
        raise ConfigError("--source-language and --target-language are of raw text; give --raw with them")
    section = config.preprocessing.model_dump() if config.preprocessing else {}
    return config.model_copy(update={"preprocessing": raw_preprocessing(section, source, target)})
