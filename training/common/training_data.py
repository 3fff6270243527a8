"""Training data of a model for trainers that decode them: sentence pairs, their alignment, folds of language models."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.adaptation.align_text import paired
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.markup import read_all_markup
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.language_model_folds import Fold, numbers_with_folds, open_folds
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.process.unfinished import unfinished_directory
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.kept_alignment import kept_alignment
from phrasebeam.training.bitext.operation_sequences import write_operation_lines
from phrasebeam.training.bitext.parallel_text import read_bitext
from phrasebeam.training.common.build_lm_folds import FoldedModel, FoldedOperations, build_lm_folds
from phrasebeam.training.common.settings import TrainingDataSettings
from phrasebeam.training.word_alignment.alignment_points import read_pharaoh


def with_alignment(corpus: BitextFiles, model: Path, settings: TrainingDataSettings) -> BitextFiles:
    """`corpus`, with the word alignment in `model` if leave-one-out needs one and none is given.

    Raises ConfigError if `model` has no alignment of these files, and FormatError if the files are not parallel.
    """
    if not settings.leave_one_out or corpus.alignment is not None:
        return corpus
    kept = kept_alignment(model, corpus.source, corpus.target)
    if kept is None:
        check_same_lines(corpus.source, corpus.target)
        known = f"{model} keeps none of {corpus.source} and {corpus.target}"
        raise ConfigError(f"leave-one-out needs the word alignment of the training data; {known}; give --alignment")
    return replace(corpus, alignment=kept)


def training_pairs(
    corpus: BitextFiles, settings: TrainingDataSettings, has_tags: bool = False
) -> Iterator[tuple[Input, tuple[str, ...]]]:
    """The pairs that the settings select, including pairs with more than max_words.

    Raises FormatError if the files differ in their number of lines.

    `has_tags`: whether the model's source tokens have tags, see words_and_tags.
    """
    alignment = corpus.alignment if settings.leave_one_out else None
    files = TrainingFiles(corpus.target, alignment, settings.leave_one_out or "drop", settings.lm_folds or None)
    inputs = read_all_markup(read_lines(corpus.source), "pass-through", corpus.source, has_tags)
    left_out = {int(line) for line in read_lines(corpus.left_out)} if corpus.left_out else set()
    pairs = enumerate(with_references(inputs, files), 1)
    return islice((pair for number, pair in pairs if number not in left_out), settings.sentences or None)


def training_folds(
    corpus: BitextFiles, model: Model, directory: Path, settings: TrainingDataSettings, memory: int
) -> Sequence[Fold]:
    """Open the language models in `directory`, each without a fold of the target side; make them if they are missing.

    Estimating them takes `memory` bytes at most, see `estimate`.
    """
    if not settings.lm_folds:
        return ()
    if not (directory / "folds.yaml").exists():
        all_models = {number: model.language_models[number - 1] for number in numbers_with_folds(model)}
        models = {number: FoldedModel(lm.model.tables.order, lm.classes) for number, lm in all_models.items()}
        with _operations(corpus, model, directory) as operations:
            build_lm_folds(
                corpus.target, directory, settings.lm_folds, models, memory_bytes=memory, operations=operations
            )
    return open_folds(directory, model)


@contextmanager
def _operations(corpus: BitextFiles, model: Model, directory: Path) -> Iterator[FoldedOperations | None]:
    if model.operation_names is None:
        yield None
        return
    if corpus.alignment is None:
        needed = "folds of the operation sequence model need the word alignment of the training data"
        raise ConfigError(f"{needed}; give --alignment, or lm_folds 0")
    bitext = read_bitext(corpus.source, corpus.target)
    alignments = read_pharaoh(corpus.alignment, bitext.source, bitext.target)[0]
    with unfinished_directory(directory.parent, "operations") as scratch:
        write_operation_lines(bitext, alignments, scratch / "lines")
        yield FoldedOperations(scratch / "lines", model.tables.operations.lm.order)


def check_same_lines(source: Path, target: Path) -> None:
    """Raise FormatError unless both files have the same number of lines, at least one."""
    if not sum(1 for _ in paired(read_lines(source), read_lines(target), (source, target))):
        raise FormatError(source, "no lines, expected one sentence per line")


def data_files(corpus: BitextFiles, development: BitextFiles) -> dict[str, Path]:
    """All files that a training learns from, by name."""
    return corpus.by_name | {f"development {name}": path for name, path in development.sets_by_name.items()}
