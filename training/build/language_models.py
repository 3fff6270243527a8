"""The language models of a model: one of the target side, and further ones, over words or over classes of words."""

import shutil
from itertools import islice
from pathlib import Path

from phrasebeam.base.progress import stage
from phrasebeam.decoder.model.description import LanguageModelFile
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.build.bitext import BitextFiles
from phrasebeam.training.build.config import TrainModelConfig


def further_texts(config: TrainModelConfig) -> list[Path]:
    """All files of further target-language text, those of the first model first; see Texts.more."""
    texts = [config.language_model.text, *(one.text for one in config.language_models)]
    return [Path(path) for paths in texts for path in paths]


def language_model_paths(config: TrainModelConfig) -> dict[str, str]:
    """The files that language models are made of beside the bitext, by the names of their digests."""
    paths = {f"language_model_text_{i}": path for i, path in enumerate(config.language_model.text, 1)}
    for number, one in enumerate(config.language_models, 2):
        paths |= {f"language_model_{number}_text_{i}": path for i, path in enumerate(one.text, 1)}
        if one.classes:
            paths[f"language_model_{number}_classes"] = one.classes
    return paths


def language_model_files(config: TrainModelConfig) -> list[LanguageModelFile]:
    """How the models' files are called in the model directory."""
    further = [
        LanguageModelFile(file=f"lm{number}.bin", classes=f"lm{number}.classes" if one.classes else None)
        for number, one in enumerate(config.language_models, 2)
    ]
    return [LanguageModelFile(), *further]


def build_language_models(texts: BitextFiles, directory: Path, config: TrainModelConfig) -> None:
    """Write all language models, and the word classes that they need, to `directory`.

    A model without text of its own is of the first one's. Raises ConfigError, FormatError or OSError.
    """
    more = iter(texts.more)
    first = [texts.target, *islice(more, len(config.language_model.text))]
    (file, *files), order = language_model_files(config), config.language_model.order
    _build(directory / file.file, first, order, config)
    for entry, one in zip(files, config.language_models):
        classes = None
        if one.classes and entry.classes:
            classes = read_word_classes(one.classes)
            shutil.copyfile(one.classes, directory / entry.classes)
        _build(directory / entry.file, list(islice(more, len(one.text))) or first, one.order or order, config, classes)


def _build(
    output: Path, texts: list[Path], order: int, config: TrainModelConfig, classes: dict[str, str] | None = None
) -> None:
    model = estimate(texts, order, config.memory // 2, output.parent, classes)
    with stage("writing the language model"):
        write_probing(model, output)
