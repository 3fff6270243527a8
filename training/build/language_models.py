"""The language models of `train-model`: that of the target side, and further ones, over words or word classes."""

import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from phrasebeam.base.progress import stage
from phrasebeam.decoder.model.description import LanguageModelFile
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.build.config import TrainModelConfig


def monolingual_paths(config: TrainModelConfig) -> list[Path]:
    """The text files of all language models in their order, those of the first model first."""
    texts = [config.language_model.text, *(section.text for section in config.language_models)]
    return [Path(path) for paths in texts for path in paths]


def language_model_paths(config: TrainModelConfig) -> dict[str, str]:
    """Files of text and of word classes of the language models, by the names of their digests in model.yaml."""
    paths = {f"language_model_text_{i}": path for i, path in enumerate(config.language_model.text, 1)}
    for number, section in enumerate(config.language_models, 2):
        paths |= {f"language_model_{number}_text_{i}": path for i, path in enumerate(section.text, 1)}
        if section.classes:
            paths[f"language_model_{number}_classes"] = section.classes
    return paths


def language_model_files(config: TrainModelConfig) -> list[LanguageModelFile]:
    """Names of the files of each language model in the model directory."""
    further = [
        LanguageModelFile(file=f"lm{number}.bin", classes=f"lm{number}.classes" if section.classes else None)
        for number, section in enumerate(config.language_models, 2)
    ]
    return [LanguageModelFile(), *further]


def build_language_models(texts: Sequence[Path], directory: Path, config: TrainModelConfig) -> None:
    """Estimate all language models of `texts`, the target side and monolingual_paths; write them to `directory`.

    A further model without text is of the first one's text. Raises ConfigError, FormatError or OSError.
    """
    target, *further = texts
    monolingual = iter(further)
    first_texts = [target, *islice(monolingual, len(config.language_model.text))]
    (file, *files), order = language_model_files(config), config.language_model.order
    _build(directory / file.file, first_texts, order, config)
    for entry, section in zip(files, config.language_models):
        classes = None
        if section.classes and entry.classes:
            classes = read_word_classes(section.classes)
            shutil.copyfile(section.classes, directory / entry.classes)
        section_texts = list(islice(monolingual, len(section.text))) or first_texts
        _build(directory / entry.file, section_texts, section.order or order, config, classes)


def _build(
    output: Path, texts: list[Path], order: int, config: TrainModelConfig, classes: dict[str, str] | None = None
) -> None:
    model = estimate(texts, order, config.memory, output.parent, classes)
    with stage("writing the language model"):
        write_probing(model, output, config.memory)
