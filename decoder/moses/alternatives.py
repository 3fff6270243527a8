"""Several phrase tables in one, as alternatives: Moses' decoding paths, of which a phrase takes the one or the other.

The joined table has the columns of all tables. Each pair of each table is a pair of it, with scores in its own table's
columns and ln 1 = 0 in the others, so that what stands in two tables is there twice. A score of ln 1 in its own column
is -0.0: it counts the same, and tells which table a pair is of. Reordering models of one type are joined as columns
beside each other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.progress import stage
from phrasebeam.base.spill import RowFile
from phrasebeam.decoder.moses.reordering import all_pairs, find_sources
from phrasebeam.decoder.moses.tables import SPARSE_TYPES, SparseColumns
from phrasebeam.decoder.tables.model_files import ORIENTATIONS
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    PhraseTable,
    ReorderingTable,
    open_phrase_table,
    open_reordering_table,
)
from phrasebeam.decoder.tables.table_writer import TableSizes, TableWriter

SOURCES_AT_ONCE = 1 << 14
NO_SLOTS = np.zeros(0, np.int64)


class Alternative(NamedTuple):
    """A phrase table with P pairs, and the reordering tables beside it."""

    phrases: PhraseTable
    ln_reordering: tuple[np.ndarray, ...]  # float32[P, C] of each reordering model
    sparse: SparseColumns
    chosen: np.ndarray  # bool[P], pairs that are taken


class Rows(NamedTuple):
    """R rows of several tables: the number of the table, and that of the row in it."""

    table: np.ndarray  # int64[R]
    row: np.ndarray  # int64[R]


def open_alternative(phrases: Path, reordering: Sequence[Path], sparse: SparseColumns) -> Alternative:
    """A table and its reordering tables in these directories, all pairs of it."""
    table = open_phrase_table(phrases)
    n_pairs = len(table.ln_scores)
    scores = tuple(open_reordering_table(path, n_pairs).ln_scores for path in reordering)
    return Alternative(table, scores, sparse, np.ones(n_pairs, np.bool_))


def join_alternatives(
    alternatives: Sequence[Alternative], first_names: Sequence[int], directory: Path, memory: int
) -> tuple[TableSizes, SparseColumns]:
    """Write the joined table to the folders phrases and reordering of `directory`; its sizes and sparse features.

    `first_names`: for each table, the number that the first of its sparse features gets. Other parameters are those of
    TableWriter.
    """
    phrases, reordering = directory / "phrases", directory / "reordering"
    n_columns = sum(scores.shape[1] for scores in alternatives[0].ln_reordering)
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
            shift = np.repeat(np.array(first_names)[pairs.table], np.diff(ends))
            for file, rows in zip(files, (ends[1:] + files[1].n_rows, numbers + shift, values)):
                file.append(rows)
    columns = SparseColumns(*(file.map() for file in files))
    for file in files:
        file.path.unlink()
    return writer.sizes, columns


def table_of(ln_scores: np.ndarray, widths: Sequence[int]) -> np.ndarray:
    """int64[K], the table that each of K pairs of a joined table is of; `widths`: columns of each table."""
    begins = np.cumsum([0, *widths[:-1]])
    return np.argmax(np.logical_or.reduceat((ln_scores != 0) | np.signbit(ln_scores), begins, axis=1), axis=1)


def _joined_sources(tables: Sequence[PhraseTable]) -> np.ndarray:
    """int64[J, T]: for each source phrase of any table its number in each of them, or ABSENT."""
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
    """The pairs of `sources` (int64[J, T]), those of a source phrase by table, and int64[J + 1], where each begins."""
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
    models = zip(*(one.ln_reordering for one in alternatives))
    scores = [_pick(tables, pairs) for tables in models]
    return ReorderingTable(np.concatenate(scores, axis=1), np.zeros((pairs.row.size, ORIENTATIONS), np.int32))


def _pick(tables: Sequence[np.ndarray], rows: Rows) -> np.ndarray:
    """The rows, dtype[R] or dtype[R, width], of arrays of the same width."""
    found = np.empty((rows.row.size, *tables[0].shape[1:]), tables[0].dtype)
    for i, table in enumerate(tables):
        found[rows.table == i] = table[rows.row[rows.table == i]]
    return found


def _gather(tables: Sequence[tuple[np.ndarray, np.ndarray]], rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The rows, one behind the other, of tables (offsets, values): int64[R + 1] their offsets, and their values."""
    starts = _pick([offsets[:-1] for offsets, _ in tables], rows)
    sizes = _pick([offsets[1:] for offsets, _ in tables], rows) - starts
    ends = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    values = _pick(
        [values for _, values in tables], Rows(np.repeat(rows.table, sizes), np.repeat(starts, sizes) + within)
    )
    return ends, values
