"""The phrase tables and reordering tables of a Moses model, read into the folders of a model directory."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.moses.alternatives import Alternative, join_alternatives, open_alternative
from phrasebeam.decoder.moses.ini import MosesModel, MosesTable
from phrasebeam.decoder.moses.reordering import read_reordering_table
from phrasebeam.decoder.moses.table_limits import within_limit
from phrasebeam.decoder.moses.tables import PhraseTableReader, SparseColumns
from phrasebeam.decoder.sparse.sparse_features import Sparse, no_sparse, only_groups
from phrasebeam.decoder.sparse.sparse_weights import sparse_weights_of
from phrasebeam.decoder.sparse.templates import GROUPS, PAIR_SPARSE
from phrasebeam.decoder.tables.language_models import TargetModel, join_language_models
from phrasebeam.decoder.tables.table_writer import TableSizes
from phrasebeam.decoder.tables.text_hashes import name_keys
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.vocabulary import Vocabulary


class ImportedTables(NamedTuple):
    """What is known of the tables of a model when they are read."""

    sizes: TableSizes
    source_words: int
    target_words: int
    without_reordering: int  # pairs that the reordering tables lack, summed over all of these
    sparse_names: list[str]  # of the features of pairs, with the names of their tables
    sparse: SparseColumns


def import_tables(moses: MosesModel, language_models: Sequence[Path], directory: Path, memory: int) -> ImportedTables:
    """Write the model's phrases, reordering and vocabularies to `directory`.

    Several tables are joined, each with the pairs within its limit, which the `language_models` help to rank. Raises
    FormatError, naming the line, and ConfigError.
    """
    vocabularies = Vocabulary(), Vocabulary()
    is_joined = len(moses.tables) > 1 or len(moses.reordering_tables) > 1
    folders = [directory / f".table{i}" for i in range(len(moses.tables))] if is_joined else [directory]
    readers, sizes, missing = [], [], np.zeros(len(moses.reordering_tables), np.int64)
    for table, folder in zip(moses.tables, folders):
        folder.mkdir(exist_ok=True)
        readers.append(PhraseTableReader(table.path, table.n_scores, *vocabularies))
        sizes.append(readers[-1].read(folder / "phrases", memory // 2))
        missing += np.array(_read_reordering(moses, folder, vocabularies, readers[-1]), np.int64)
    for (path, _), n_missing in zip(moses.reordering_tables, missing):
        if n_missing == sum(reader.number for reader in readers):
            raise FormatError(path, "none of its pairs is in the phrase table; give the table of the same model")
    for side, vocabulary in zip(("source", "target"), vocabularies):
        vocabulary.save(directory / f"{side}.vocab")
    names = [f"{table.name}_{name}" for table, reader in zip(moses.tables, readers) for name in reader.sparse_names]
    found = sizes[0], readers[0].sparse
    if is_joined:
        paths = [[folder / _reordering_folder(i) for i in range(missing.size)] for folder in folders]
        parts = zip(folders, paths, readers)
        opened = [open_alternative(folder / "phrases", names, reader.sparse) for folder, names, reader in parts]
        if len(opened) > 1:
            opened = _limited(moses, opened, readers, language_models, directory)
        firsts = np.cumsum([0, *(len(reader.sparse_names) for reader in readers)])[:-1].tolist()
        found = join_alternatives(opened, firsts, directory, memory // 2)
        for folder in folders:
            shutil.rmtree(folder)
    n_source, n_target = map(len, vocabularies)
    return ImportedTables(found[0], n_source, n_target, int(missing.sum()), names, found[1])


def _reordering_folder(number: int) -> str:
    return f"reordering{number}" if number else "reordering"


def _read_reordering(
    moses: MosesModel, folder: Path, vocabularies: tuple[Vocabulary, Vocabulary], reader: PhraseTableReader
) -> list[int]:
    """Read all reordering tables for the phrase table in a folder; how many of its pairs each of them lacks."""
    repeated = reader.repeated
    if len(repeated):
        found = f"{len(repeated)} lines repeat the phrases of another; each is a translation of its own, as in Moses"
        log.warning("%s: %s", reader.path, found)
    return [
        read_reordering_table(path, type_, folder / "phrases", vocabularies, folder / _reordering_folder(i), repeated)
        for i, (path, type_) in enumerate(moses.reordering_tables)
    ]


def _limited(
    moses: MosesModel,
    opened: Sequence[Alternative],
    readers: Sequence[PhraseTableReader],
    language_models: Sequence[Path],
    directory: Path,
) -> list[Alternative]:
    """Each table with the pairs that are within its limit."""
    models = [TargetModel(LanguageModel.load(path), None) for path in language_models]
    lms = join_language_models(models, FixedVocabulary(directory / "target.vocab"))
    limited, first = [], 0
    with stage("ranking the phrase pairs"):
        for table, one, reader in zip(moses.tables, opened, readers):
            columns = moses.weights.translation[first : first + table.n_scores]
            weights = moses.weights.model_copy(update={"translation": columns, "reordering": []})
            sparse = _pair_features(table, reader, moses.sparse_weights)
            if reader.sparse_names:
                weights = weights.model_copy(update={"pair_sparse": 1.0})
            chosen = within_limit(one.phrases, table.limit, weights, sparse, (models, lms))
            limited.append(one._replace(chosen=chosen))
            first += table.n_scores
    return limited


def _pair_features(table: MosesTable, reader: PhraseTableReader, weights: dict[str, float]) -> Sparse:
    """The sparse features of the table's own pairs, weighted."""
    if not reader.sparse_names:
        return no_sparse()
    keys = name_keys([f"{table.name}_{name}" for name in reader.sparse_names])
    active = np.arange(len(GROUPS)) == PAIR_SPARSE
    columns = reader.sparse
    sparse = no_sparse()._replace(
        weights=sparse_weights_of(name_keys(list(weights)), np.array(list(weights.values()), np.float64)),
        pair_offsets=columns.offsets,
        pair_keys=keys[columns.numbers],
        pair_values=columns.values,
    )
    return only_groups(sparse, active)
