"""A model directory, opened: its files (model_files.py) mapped into memory, its parts checked against each other."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.reordering import orientations
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.description import LanguageModelFile, ModelDescription, open_description
from phrasebeam.decoder.model.digests import verify_on_opening
from phrasebeam.decoder.model.moses_names import MosesFeature, fitting_names
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.operations.operation_model import open_operations
from phrasebeam.decoder.sparse.levels import Levels
from phrasebeam.decoder.sparse.sparse_files import open_pair_names, open_sparse
from phrasebeam.decoder.sparse.templates import Templates, needs_tags
from phrasebeam.decoder.tables.language_models import TargetModel, join_language_models
from phrasebeam.decoder.tables.model_files import LETTERS, MODEL, TRAIN_AGAIN
from phrasebeam.decoder.tables.model_paths import LARGEST_TEXT, check_model_files, model_file
from phrasebeam.decoder.tables.phrase_table import ReorderingTable, longest, open_phrase_table, open_reordering_table
from phrasebeam.decoder.tables.score_smoothing import NO_DISCOUNTING, Discounting, open_discounting
from phrasebeam.decoder.tables.word_counts import NO_COUNTS, NO_IDF, WordCounts, WordIdf, counts_of_words, word_idf
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.word_classes import read_word_classes


class Model(NamedTuple):
    """An open model; its arrays are shared by all threads and, as they are mapped from files, by all processes."""

    description: ModelDescription
    weights: Weights
    source: FixedVocabulary
    target: FixedVocabulary
    language_models: tuple[TargetModel, ...]
    tables: Tables
    most_pairs: int  # the most pairs of one source phrase
    reordering_counts: np.ndarray  # int32[P, 8], see ReorderingTable; no rows without a reordering model
    discounting: Discounting = NO_DISCOUNTING  # for computing scores in leave-one-out
    templates: Templates | None = None  # of sparse features
    levels: Levels | None = None  # word classes for sparse features
    pair_names: Mapping[int, str] = {}  # names of the sparse features of single phrase pairs, by key
    word_idf: Callable[[], WordIdf] = lambda: NO_IDF  # computed when a feature first needs it
    operation_names: FixedVocabulary | None = None  # of an operation sequence model, in the order of its keys
    # Stored by train-model, otherwise estimated when a feature first needs them
    word_counts: Callable[[], WordCounts] = lambda: NO_COUNTS
    letters: "Model | None" = None  # translates the letters of unknown words

    @property
    def moses_names(self) -> list[MosesFeature]:
        """The features with their names in Moses' n-best lists: those of its moses.ini, or Moses' defaults."""
        return fitting_names(self.description.moses_names, self.weights, self.description.reordering)

    @property
    def n_scores(self) -> int:
        return int(self.tables.phrases.ln_scores.shape[1])

    @property
    def has_tags(self) -> bool:
        """Whether the model's sparse features need tags of source tokens; see words_and_tags."""
        return needs_tags(self.templates)


def open_model(directory: str | Path, is_verified: bool = True) -> Model:
    """Open the model in `directory`. Raises ModelError, FormatError or ConfigError, naming the file at fault.

    Digests of files are verified if that takes almost no time; unless `is_verified`, none are.
    """
    directory = Path(directory)
    check_parts(directory)
    description = open_description(directory, is_verified)
    if is_verified:
        verify_on_opening(directory, description.files)
    weights = load_config(directory / "weights.yaml", Weights)
    if missing := set(Weights.required()) - weights.model_fields_set:
        raise ModelError(f"{directory / 'weights.yaml'}: no {', '.join(sorted(missing))}; {TRAIN_AGAIN}")
    if description.reordering is None:
        weights = weights.model_copy(update={"reordering": []})  # older trainers wrote six weights without features
    source, target = (FixedVocabulary(directory / f"{side}.vocab") for side in ("source", "target"))
    for side, vocabulary, size in (
        ("source", source, description.source_words),
        ("target", target, description.target_words),
    ):
        if len(vocabulary) != size:
            raise ModelError(f"{directory / f'{side}.vocab'}: {len(vocabulary)} words, expected {size}; {TRAIN_AGAIN}")
    language_models = tuple(_open_language_model(directory, entry) for entry in description.language_models)
    phrases = open_phrase_table(directory / "phrases")
    reordering = _reordering(directory, description.reordering, phrases.n_pairs)
    lms = join_language_models(language_models, target)
    word_counts = counts_of_words(directory, phrases, len(source), len(target))
    templates, levels, sparse = open_sparse(directory, source, target, phrases, word_counts)
    operations, operation_names = open_operations(directory, phrases)
    tables = Tables(
        phrases, reordering.ln_scores, orientations(description.reordering), lms, sparse, operations=operations
    )
    most_pairs = description.max_pairs_per_source_phrase
    if most_pairs is not None and most_pairs > phrases.n_pairs:
        message = f"max_pairs_per_source_phrase is {most_pairs}, the table has {phrases.n_pairs} pairs in all"
        raise ModelError(f"{directory / 'model.yaml'}: {message}; {TRAIN_AGAIN}")
    if most_pairs is None:
        most_pairs = longest(phrases.pair_offsets)
    fields = description, weights, source, target, language_models, tables, most_pairs, reordering.counts
    find_idf = cache(lambda: word_idf(word_counts(), description.sentence_pairs))
    discounting = open_discounting(directory, description.smoothing, phrases.n_pairs)
    names = open_pair_names(directory)
    letters = open_model(directory / LETTERS, is_verified) if (directory / LETTERS / MODEL).exists() else None
    return Model(*fields, discounting, templates, levels, names, find_idf, operation_names, word_counts, letters)


def _open_language_model(directory: Path, entry: LanguageModelFile) -> TargetModel:
    path = model_file(directory, entry.file)
    classes = read_word_classes(model_file(directory, entry.classes, LARGEST_TEXT)) if entry.classes else None
    return TargetModel(LanguageModel.load(path), classes)


def _reordering(directory: Path, reordering: Reordering | None, n_pairs: int) -> ReorderingTable:
    if reordering is None:
        return ReorderingTable(np.zeros((0, 0), np.float32), np.zeros((0, 8), np.int32))
    table = open_reordering_table(directory / "reordering", n_pairs)
    if table.ln_scores.shape[1] != reordering.n_all_columns:
        learned = f", {reordering.learned} times learned," if reordering.learned else ""
        kind = f"{reordering.direction} {reordering.kind}{learned}"
        expected = f"{kind} has {reordering.n_all_columns}; {TRAIN_AGAIN}"
        path = directory / "reordering" / "ln_scores.npy"
        raise ModelError(f"{path}: {table.ln_scores.shape[1]} columns, {expected}")
    return table


def check_parts(directory: Path) -> None:
    """Raise ModelError if `directory` lacks a file that every model has, FormatError if one is too large."""
    if ini := _moses_ini(directory):
        found = f"{directory}: a Moses model; run phrasebeam import-moses {ini} --output DIR"
        raise ModelError(f"{found}, and give that directory")
    if not directory.is_dir():
        raise ModelError(f"{directory}: no such model directory; make one with phrasebeam train-model")
    for name in ("model.yaml", "weights.yaml", "source.vocab", "target.vocab", "phrases"):
        if not (directory / name).exists():
            raise ModelError(f"{directory / name}: missing; {TRAIN_AGAIN}")
    check_model_files(directory)


def _moses_ini(path: Path) -> Path | None:
    """The moses.ini of a Moses model in a directory, or the file itself; None for anything else."""
    if path.is_file() and (path.suffix == ".ini" or path.name.startswith("moses.")):
        return path
    ini = path / "moses.ini"
    return ini if ini.is_file() and not (path / "model.yaml").exists() else None
