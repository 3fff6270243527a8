"""Several phrase tables joined as alternatives, like Moses' decoding paths: each phrase pair comes from one of them.

The joined table has the columns of all tables. Each pair of each table becomes a pair of it, with its scores in its own
table's columns and ln 1 = 0 in the others; a pair that is in two tables is there twice. A score of ln 1 in its own
column is -0.0: it counts the same, but shows to which table a pair belongs.

For each source phrase, Moses considers the best pairs of each table, up to the table's limit. A model directory has
only one table, so the limits are applied when it is made, with the weights of the moses.ini.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.base.spill import RowFile
from phrasebeam.decoder.features.dense import dense_weights
from phrasebeam.decoder.features.reordering import orientations
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.moses.ini import MosesModel
from phrasebeam.decoder.moses.reordering import all_pairs, find_sources
from phrasebeam.decoder.moses.tables import SPARSE_TYPES, PhraseTableReader, SparseColumns
from phrasebeam.decoder.options.candidates import Lookup, RankingWeights, choose, lookup_of_pairs, new_candidates
from phrasebeam.decoder.options.score_checks import check_candidates
from phrasebeam.decoder.sparse.sparse_features import Sparse, no_sparse, only_groups
from phrasebeam.decoder.sparse.sparse_weights import sparse_weights_of
from phrasebeam.decoder.sparse.templates import GROUPS, PAIR_SPARSE
from phrasebeam.decoder.tables.language_models import LN10, LanguageModels, TargetModel, join_language_models
from phrasebeam.decoder.tables.model_files import ORIENTATIONS
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    PhraseTable,
    ReorderingTable,
    longest,
    open_phrase_table,
    open_reordering_table,
)
from phrasebeam.decoder.tables.table_writer import TableSizes, TableWriter
from phrasebeam.decoder.tables.text_hashes import name_keys
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

SOURCES_AT_ONCE = 1 << 14
NO_SLOTS = np.zeros(0, np.int64)


class Alternative(NamedTuple):
    """A phrase table with P pairs, and its reordering table."""

    phrases: PhraseTable
    ln_reordering: np.ndarray  # float32[P, C]
    sparse: SparseColumns
    first_name: int  # offset of the numbers of its sparse features
    chosen: np.ndarray  # bool[P], the pairs that are used


class Rows(NamedTuple):
    """R rows of several tables: the number of the table, and the number of the row in it."""

    table: np.ndarray  # int64[R]
    row: np.ndarray  # int64[R]


def open_alternatives(
    moses: MosesModel,
    readers: Sequence[PhraseTableReader],
    folders: Sequence[Path],
    language_models: Sequence[Path],
    target: FixedVocabulary,
) -> list[Alternative]:
    """The tables that the `readers` read into `folders`, each reduced to the pairs within its limit."""
    models = [TargetModel(LanguageModel.load(path), None) for path in language_models]
    lms, opened, first, first_name = join_language_models(models, target), list[Alternative](), 0, 0
    with stage("ranking the phrase pairs"):
        for table, reader, folder in zip(moses.tables, readers, folders):
            phrases, n_pairs = open_phrase_table(folder / "phrases"), reader.number
            columns = moses.weights.translation[first : first + table.n_scores]
            weights = moses.weights.model_copy(update={"translation": columns, "pair_sparse": 1.0})
            names = [f"{table.name}_{name}" for name in reader.sparse_names]
            sparse = _pair_features(names, reader.sparse, moses.sparse_weights)
            chosen = _within_limit(phrases, table.limit, weights, sparse, (models, lms))
            ln_reordering = np.zeros((n_pairs, 0), np.float32)
            if moses.reordering_tables:
                ln_reordering = open_reordering_table(folder / "reordering", n_pairs).ln_scores
            opened.append(Alternative(phrases, ln_reordering, reader.sparse, first_name, chosen))
            first, first_name = first + table.n_scores, first_name + len(names)
    return opened


def _pair_features(names: list[str], columns: SparseColumns, weights: dict[str, float]) -> Sparse:
    """The sparse features of a table's own pairs, with weights."""
    if not names:
        return no_sparse()
    sparse = no_sparse()._replace(
        weights=sparse_weights_of(name_keys(list(weights)), np.array(list(weights.values()), np.float64)),
        pair_offsets=columns.offsets,
        pair_keys=name_keys(names)[columns.numbers],
        pair_values=columns.values,
    )
    return only_groups(sparse, np.arange(len(GROUPS)) == PAIR_SPARSE)


def _within_limit(
    phrases: PhraseTable,
    limit: int,
    weights: Weights,
    sparse: Sparse,
    language_models: tuple[Sequence[TargetModel], LanguageModels],
) -> np.ndarray:
    """bool[P], whether each pair is among the best `limit` pairs (0: all) of its source phrase.

    They are ranked with `weights` as in the search, with the language model's score of the target phrase alone;
    `sparse` has the table's own sparse features.
    """
    most, longest_target = longest(phrases.pair_offsets), longest(phrases.target_offsets)
    if limit == 0 or most <= limit:
        return np.ones(phrases.n_pairs, np.bool_)
    models, lms = language_models
    dense = dense_weights(weights, phrases.ln_scores.shape[1], None, len(models))
    lms = lms._replace(ln_weights=dense.language_model * LN10)
    tables = Tables(phrases, np.zeros((0, 0), np.float32), orientations(None), lms, sparse)
    candidates = new_candidates(most, max(longest_target, 1), limit, lms.orders.size, sparse)
    lookup = lookup_of_pairs(tables, dense, RankingWeights(dense, lms.ln_weights, is_own=False), limit, candidates)
    chosen = np.zeros(phrases.n_pairs, np.bool_)
    _mark_chosen(lookup, chosen)
    check_candidates(lookup, models)
    return chosen


@kernel
def _mark_chosen(lookup: Lookup, chosen: np.ndarray) -> None:
    """Set `chosen` (bool[P]) for the pairs of each source phrase of lookup.tables that are within lookup.limit."""
    offsets = lookup.tables.phrases.pair_offsets
    for source in range(offsets.size - 1):
        for k in range(choose(source, source + 1, lookup)):
            chosen[offsets[source] + lookup.candidates.heap[k]] = True


def join_alternatives(
    alternatives: Sequence[Alternative], directory: Path, memory: int
) -> tuple[TableSizes, SparseColumns]:
    """Write the joined table to the folders phrases and reordering of `directory`; return sizes and sparse features.

    `memory`: as in TableWriter.
    """
    phrases, reordering = directory / "phrases", directory / "reordering"
    n_columns = alternatives[0].ln_reordering.shape[1]
    n_scores = sum(one.phrases.ln_scores.shape[1] for one in alternatives)
    phrases.mkdir()
    if n_columns:
        reordering.mkdir()
    files = [RowFile(directory / f".{name}", dtype) for name, dtype in zip(SparseColumns._fields, SPARSE_TYPES)]
    files[0].append(np.zeros(1, np.int64))
    writer = TableWriter(phrases, reordering if n_columns else None, n_columns, n_scores, memory)
    with stage("joining the phrase tables"), writer:
        sources = _joined_sources([one.phrases for one in alternatives])
        for begin in range(0, len(sources), SOURCES_AT_ONCE):
            piece = sources[begin : begin + SOURCES_AT_ONCE]
            pairs, source_ends = _pairs(alternatives, piece)
            writer.append(
                _phrases(alternatives, piece, pairs, source_ends),
                _reordering(alternatives, pairs) if n_columns else None,
            )
            ends, numbers = _gather([(one.sparse.offsets, one.sparse.numbers) for one in alternatives], pairs)
            _, values = _gather([(one.sparse.offsets, one.sparse.values) for one in alternatives], pairs)
            shift = np.repeat(np.array([one.first_name for one in alternatives])[pairs.table], np.diff(ends))
            for file, rows in zip(files, (ends[1:] + files[1].n_rows, numbers + shift, values)):
                file.append(rows)
    columns = SparseColumns(*(file.map() for file in files))
    for file in files:
        file.path.unlink()
    return writer.sizes, columns


def table_of(ln_scores: np.ndarray, widths: Sequence[int]) -> np.ndarray:
    """int64[K], the table to which each of K pairs of a joined table belongs; `widths`: columns of each table."""
    begins = np.cumsum([0, *widths[:-1]])
    return np.argmax(np.logical_or.reduceat((ln_scores != 0) | np.signbit(ln_scores), begins, axis=1), axis=1)


def _joined_sources(tables: Sequence[PhraseTable]) -> np.ndarray:
    """int64[J, T]: for each source phrase of any table, its number in each of them, or ABSENT."""
    found = []
    for i, table in enumerate(tables):
        size = table.source_offsets.size - 1
        numbers = [np.arange(size) if other is table else np.empty(size, np.int64) for other in tables]
        for other, column in zip(tables, numbers):
            if other is not table:
                find_sources(other, table.source_words, table.source_offsets, column)
        rows = np.stack(numbers, axis=1)
        found.append(rows[(rows[:, :i] == ABSENT).all(axis=1)])
    return np.concatenate(found)


def _pairs(alternatives: Sequence[Alternative], sources: np.ndarray) -> tuple[Rows, np.ndarray]:
    """The pairs of `sources` (int64[J, T]), ordered by table within a source phrase, and int64[J + 1], their begins."""
    of_source, table, row = [], [], []
    for i, one in enumerate(alternatives):
        position, pair = all_pairs(one.phrases, sources[:, i])
        is_chosen = one.chosen[pair]
        of_source.append(position[is_chosen])
        row.append(pair[is_chosen])
        table.append(np.full(row[-1].size, i))
    position = np.concatenate(of_source)
    order = np.argsort(position, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(position, minlength=len(sources)))])
    return Rows(np.concatenate(table)[order], np.concatenate(row)[order]), ends


def _phrases(
    alternatives: Sequence[Alternative], sources: np.ndarray, pairs: Rows, source_ends: np.ndarray
) -> PhraseTable:
    tables = [one.phrases for one in alternatives]
    owner = np.argmax(sources != ABSENT, axis=1)
    of_source = Rows(owner, sources[np.arange(len(sources)), owner])
    source_offsets, source_words = _gather([(table.source_offsets, table.source_words) for table in tables], of_source)
    target_offsets, target_words = _gather([(table.target_offsets, table.target_words) for table in tables], pairs)
    points = _gather([(table.alignment_offsets, table.alignment_points) for table in tables], pairs)
    widths = [table.ln_scores.shape[1] for table in tables]
    ln_scores, first = np.zeros((pairs.row.size, sum(widths)), np.float32), 0
    for i, (table, width) in enumerate(zip(tables, widths)):
        is_here = pairs.table == i
        own = table.ln_scores[pairs.row[is_here]]
        ln_scores[is_here, first : first + width] = np.where(own == 0, np.float32(-0.0), own)
        first += width
    return PhraseTable(
        slots=NO_SLOTS,
        source_offsets=source_offsets,
        source_words=source_words,
        pair_offsets=source_ends,
        target_offsets=target_offsets,
        target_words=target_words,
        ln_scores=ln_scores,
        alignment_offsets=points[0],
        alignment_points=points[1],
        joint_counts=_pick([table.joint_counts for table in tables], pairs),
        source_counts=_pick([table.source_counts for table in tables], of_source),
        target_counts=_pick([table.target_counts for table in tables], pairs),
    )


def _reordering(alternatives: Sequence[Alternative], pairs: Rows) -> ReorderingTable:
    scores = _pick([one.ln_reordering for one in alternatives], pairs)
    return ReorderingTable(scores, np.zeros((pairs.row.size, ORIENTATIONS), np.int32))


def _pick(tables: Sequence[np.ndarray], rows: Rows) -> np.ndarray:
    """Collect the rows, dtype[R] or dtype[R, width], from arrays of the same width."""
    found = np.empty((rows.row.size, *tables[0].shape[1:]), tables[0].dtype)
    for i, table in enumerate(tables):
        found[rows.table == i] = table[rows.row[rows.table == i]]
    return found


def _gather(tables: Sequence[tuple[np.ndarray, np.ndarray]], rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate the rows of tables (offsets, values): int64[R + 1] their offsets, and their values."""
    starts = _pick([offsets[:-1] for offsets, _ in tables], rows)
    sizes = _pick([offsets[1:] for offsets, _ in tables], rows) - starts
    ends = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    values = _pick(
        [values for _, values in tables], Rows(np.repeat(rows.table, sizes), np.repeat(starts, sizes) + within)
    )
    return ends, values
