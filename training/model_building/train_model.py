"""Building a model directory from a bitext: language models, word alignment, phrase table, reordering table."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np

from phrasebeam.base.config import format_size, save_config
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import atomic_directory, check_keeps_inputs, read_lines, real_path
from phrasebeam.base.memory_bound import memory_left
from phrasebeam.base.progress import stage
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.input.raw_text_settings import Side
from phrasebeam.decoder.model.description import MODEL_FORMAT, LanguageModelFile, ModelDescription
from phrasebeam.decoder.model.readme import save_model
from phrasebeam.decoder.model.replacement import check_replaceable
from phrasebeam.decoder.raw_text.casing import begin_with_capitals
from phrasebeam.decoder.tables.model_files import ALIGNMENT
from phrasebeam.decoder.tables.phrase_table import open_phrase_table
from phrasebeam.decoder.tables.provenance import DataSize, Stage, check_output, file_digests, signature, version
from phrasebeam.decoder.tables.score_codes import EXACT, quantize_scores
from phrasebeam.lm.estimate import estimate
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.bitext.cleaning import cleaned_files
from phrasebeam.training.bitext.operation_sequences import build_operations
from phrasebeam.training.bitext.parallel_text import Bitext, check_bars, read_bitext
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.scoring import BuiltTables, PhraseTableSettings, build_phrase_table
from phrasebeam.training.model_building.word_alignments import KeptAlignments, check_alignments, word_alignments
from phrasebeam.training.model_building.word_counting import write_word_counts
from phrasebeam.training.word_alignment.alignment_points import Alignments, write_pharaoh

# Left out of the settings in model.yaml, since they are stored elsewhere, or do not change the model.
NOT_SETTINGS = ("weights", "memory", "threads", "languages")

FOR_CAPITALS = 100_000  # number of first lines of the target text by which `capitalize` is chosen
PROGRAM_BYTES = 200 << 20  # memory of interpreter, libraries and kernels


def train_model(
    source: str | Path,
    target: str | Path,
    output: str | Path,
    config: TrainModelConfig,
    alignment: str | Path | None = None,
    is_forced: bool = False,
    kept: Sequence[KeptAlignments] = (),
    kept_models: Mapping[str, Path] = {},
) -> ModelDescription:
    """Build the model of the bitext `source`, `target` in the directory `output`.

    An existing model is replaced if it was made with the same files and settings or `is_forced`.
    The text must be tokenized, unless config.preprocessing is set. `alignment` is a file in Pharaoh's format, used in
    place of a computed word alignment. Two things are not computed again: word alignments that other models of the same
    bitext have (`kept`), and language models of the same text (`kept_models`, by the names of their files in a model).
    Raises ConfigError, FormatError or OSError, and then leaves `output` as it was.
    """
    output = real_path(output)
    check_output(output)
    check_keeps_inputs([output], [source, target, alignment, *_monolingual_paths(config)])
    check_alignments(config, alignment)
    config = with_capitals(config, target)
    data = _digests(source, target, config, alignment)
    check_replaceable(output, "train-model", _settings(config, data), data, config.starting_weights, is_forced)
    with atomic_directory(output) as directory:
        with _prepared(source, target, directory, config) as texts:
            bitext = _read(*texts[:2])
            _check_memory(bitext, config.memory)
            _tell_round_trips((Path(source), Path(target)), directory, config)
            _build_language_models(texts[1:], directory, config, kept_models)
        alignments = word_alignments(bitext, config, alignment, kept)
        write_pharaoh(alignments, directory / ALIGNMENT)
        if config.operations:
            build_operations(bitext, alignments[0], directory, config.operations.order, config.memory)
        built = _build_tables(bitext, alignments, directory, config)
        bitext.source_vocabulary.save(directory / "source.vocab")
        bitext.target_vocabulary.save(directory / "target.vocab")
        write_word_counts(bitext, directory)
        description = _describe(bitext, directory, built, config, data)
        save_config(config.starting_weights, directory / "weights.yaml")
        return save_model(description, directory)


def with_capitals(config: TrainModelConfig, target: str | Path) -> TrainModelConfig:
    """The settings with `capitalize` chosen by the target text; Moses' rules capitalize all sentences."""
    raw = config.preprocessing
    if raw is None or raw.capitalize is not None or raw.target_tokenizer == "moses":
        return config
    has_capitals = begin_with_capitals(islice(read_lines(target), FOR_CAPITALS))
    return config.model_copy(update={"preprocessing": raw.model_copy(update={"capitalize": has_capitals})})


@contextmanager
def _prepared(
    source: str | Path, target: str | Path, directory: Path, config: TrainModelConfig
) -> Iterator[Sequence[Path]]:
    """Yield the texts; if the settings say so, the bitext is cleaned, and all texts are tokenized."""
    with ExitStack() as stack:
        sides: Sequence[Path] = [Path(source), Path(target)]
        if config.is_cleaned:
            sides = stack.enter_context(cleaned_files(sides, directory / "cleaned", config.cleaner))
        yield stack.enter_context(_tokenized([*sides, *_monolingual_paths(config)], directory, config))


def _tokenized(
    texts: Sequence[Path], directory: Path, config: TrainModelConfig
) -> AbstractContextManager[Sequence[Path]]:
    if config.preprocessing is None:
        return nullcontext(texts)
    from phrasebeam.training.model_building.preprocessing import (
        preprocessed,  # slow: compiles patterns of Unicode's tables
    )

    return preprocessed(texts, config.preprocessing, directory, config.threads)


def _tell_round_trips(texts: Sequence[Path], directory: Path, config: TrainModelConfig) -> None:
    if config.preprocessing:
        from phrasebeam.training.model_building.round_trip import tell_round_trips  # slow, as above

        tell_round_trips(texts, config.preprocessing, directory)


def _read(source: str | Path, target: str | Path) -> Bitext:
    with stage("reading the bitext"):
        bitext = read_bitext(source, target)
    if not bitext.source.tokens.size:
        raise FormatError(source, f"no sentence pair with {target} has words on both sides; give another bitext")
    check_bars(bitext, source, target)
    return bitext


def _monolingual_paths(config: TrainModelConfig) -> list[Path]:
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


def _language_model_files(config: TrainModelConfig) -> list[LanguageModelFile]:
    """The name of the file of each language model in the model directory, and of its word classes."""
    further = [
        LanguageModelFile(file=f"lm{number}.bin", classes=f"lm{number}.classes" if section.classes else None)
        for number, section in enumerate(config.language_models, 2)
    ]
    return [LanguageModelFile(), *further]


def _build_language_models(
    texts: Sequence[Path], directory: Path, config: TrainModelConfig, kept: Mapping[str, Path]
) -> None:
    """Estimate all language models, or copy those in `kept`; write them, and their word classes, to `directory`.

    A further language model without its own text uses the text of the first one. Raises ConfigError, FormatError or
    OSError.
    """
    target, *further = texts
    monolingual = iter(further)
    first_texts = [target, *islice(monolingual, len(config.language_model.text))]
    (file, *files), order = _language_model_files(config), config.language_model.order
    _build_language_model(directory / file.file, first_texts, order, config)
    for entry, section in zip(files, config.language_models):
        classes = None
        if section.classes and entry.classes:
            classes = read_word_classes(section.classes)
            shutil.copyfile(section.classes, directory / entry.classes)
        section_texts = list(islice(monolingual, len(section.text))) or first_texts
        if entry.file in kept:
            shutil.copyfile(kept[entry.file], directory / entry.file)
            continue
        _build_language_model(directory / entry.file, section_texts, section.order or order, config, classes)


def _build_language_model(
    output: Path, texts: list[Path], order: int, config: TrainModelConfig, classes: dict[str, str] | None = None
) -> None:
    model = estimate(texts, order, config.memory, output.parent, classes)
    with stage("writing the language model"):
        write_probing(model, output, config.memory)


def _build_tables(
    bitext: Bitext, alignments: list[Alignments], directory: Path, config: TrainModelConfig
) -> BuiltTables:
    model = config.reordering.model
    settings = PhraseTableSettings(
        max_phrase_length=config.phrases.max_length,
        agreement=config.phrases.agreement,
        reordering=model or Reordering(),
        score_smoothing=config.phrases.smoothing,
        memory_budget=_memory_left(bitext, alignments, config.memory),
        scratch=directory,
    )
    built = build_phrase_table(bitext.source, bitext.target, alignments, directory, settings)
    if model is None:
        shutil.rmtree(directory / "reordering")
    return built


def _memory_left(bitext: Bitext, alignments: list[Alignments], memory: int) -> int:
    """Bytes of memory for phrase pairs: `memory` less that of the process, but at least 1/16 and at most 1/2 of it."""
    # LexicalTable will add an int32 for each link; with several alignments, there is a copy of the tokens for each.
    copies = (len(alignments) - 1) * (bitext.source.tokens.nbytes + bitext.target.tokens.nbytes)
    expected = len(alignments) * _aligned_bytes(bitext) + copies + 4 * sum(len(one.points) for one in alignments)
    return min(memory // 2, max(memory // 16, memory_left(memory) - expected))


def _aligned_bytes(bitext: Bitext) -> int:
    """Bytes that AlignedBitext adds to the bitext: an int64 for each token."""
    return 8 * (bitext.source.tokens.size + bitext.target.tokens.size)


def _check_memory(bitext: Bitext, memory: int) -> None:
    """Raise ConfigError if the bitext alone, with its links, does not fit into `memory` bytes."""
    # The present memory of this process does not count: a program that calls us may have data of its own.
    tokens = bitext.source.tokens.nbytes + bitext.target.tokens.nbytes
    needed = PROGRAM_BYTES + tokens + _aligned_bytes(bitext)
    if needed > memory:
        n_words, size = bitext.source.tokens.size, -(-needed // 2**20)
        found = f"{format_size(memory)}, but a bitext of {n_words:,} source words takes {size:,}M at least"
        raise ConfigError(f"memory: {found}; give more, or less data")


def _describe(
    bitext: Bitext, directory: Path, built: BuiltTables, config: TrainModelConfig, data: dict[str, dict[str, str]]
) -> ModelDescription:
    open_phrase_table(directory / "phrases")
    sizes = built.sizes
    if not sizes.most_pairs:
        raise FormatError(data["source"]["file"], "no phrase pairs: no words of the bitext are aligned")
    settings = _settings(config, data)
    loss = quantize_scores(directory / "phrases") if config.phrases.score_bits != EXACT else None
    return ModelDescription(
        format=MODEL_FORMAT,
        version=version(),
        signature=signature(settings, data),
        sentence_pairs=int((np.diff(bitext.source.offsets) > 0).sum()),
        source_words=len(bitext.source_vocabulary),
        target_words=len(bitext.target_vocabulary),
        max_source_phrase_length=sizes.longest_source,
        max_target_phrase_length=sizes.longest_target,
        max_pairs_per_source_phrase=sizes.most_pairs,
        language_model_order=config.language_model.order,
        language_models=_language_model_files(config),
        smoothing=built.smoothing,
        score_loss=loss,
        alignments=built.agreement.alignments,
        agreement=built.agreement.least,
        reordering=config.reordering.model,
        preprocessing=config.preprocessing,
        languages=config.languages,
        settings=settings,
        data={**data, "skipped_sentence_pairs": bitext.n_skipped},
        stages=[_stage(bitext, config, data)],
    )


def _settings(
    config: TrainModelConfig, data: Mapping[str, Mapping[str, str]], is_short: bool = False
) -> dict[str, Any]:
    """The settings in model.yaml; if `is_short`, only those that differ from the defaults."""
    left_out = NOT_SETTINGS if config.is_cleaned else (*NOT_SETTINGS, "clean", "cleaning")
    settings = config.model_dump(mode="json", exclude=set(left_out), exclude_defaults=is_short)
    for section in (settings.get("language_model", {}), *settings.get("language_models", ())):
        section.pop("text", None)  # files are identified by their digests
        section.pop("classes", None)
    if config.operations:
        settings["operations"] = config.operations.model_dump(mode="json")  # in full: by default there are none
    if "alignment" in data:
        settings.pop("alignment", None)
    if config.phrases.score_bits == EXACT:
        settings.get("phrases", {}).pop("score_bits", None)
    return settings


def _stage(bitext: Bitext, config: TrainModelConfig, data: Mapping[str, Mapping[str, str]]) -> Stage:
    """Data for README.md: settings that differ from the defaults, files, and the size of the tokenized bitext."""
    texts = {"source": bitext.source, "target": bitext.target}
    sizes = []
    for name, entry in data.items():
        text = texts.get(name)
        size = {"sentences": text.offsets.size - 1, "words": text.tokens.size} if text else {}
        sizes.append(DataSize(name=name, file=entry["file"], **size))
    changed = _settings(config, data, is_short=True)
    return Stage(command="train-model", version=version(), settings=changed, data=sizes)


def _digests(
    source: str | Path, target: str | Path, config: TrainModelConfig, alignment: str | Path | None
) -> dict[str, dict[str, str]]:
    """Name and SHA-256 of every input file. So an unreadable file is reported before any work."""
    paths = {"source": source, "target": target, **language_model_paths(config)}
    if alignment is not None:
        paths["alignment"] = alignment
    if config.preprocessing:
        sides = zip(get_args(Side), config.preprocessing.sides)
        paths |= {f"{name}_subwords": side.subword_model for name, side in sides if side.subword_model}
    return file_digests(paths)
