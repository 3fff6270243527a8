"""Import of Moses' text phrase tables, with any number of scores (LoaderStandard.cpp; Koehn et al. 2007)."""

from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_blocks
from phrasebeam.base.progress import stage
from phrasebeam.base.spill import RowFile
from phrasebeam.decoder.moses.odd_lines import plain_line
from phrasebeam.decoder.moses.table_lines import (
    FEATURES,
    FULL,
    MOST_FIELDS,
    N_COUNTS,
    NEXT,
    NO_ROOM,
    NO_WORDS,
    PAIRS,
    POINTS,
    READ,
    SOURCE_BEGIN,
    SOURCE_WORDS,
    SOURCES,
    TARGET_WORDS,
    LineReading,
    grown,
    new_columns,
    read_pairs,
)
from phrasebeam.decoder.tables.phrase_table import ABSENT, PhraseTable, floored_ln, open_phrase_table
from phrasebeam.decoder.tables.source_slots import hash_phrases
from phrasebeam.decoder.tables.table_writer import MEMORY, TableSizes, TableWriter
from phrasebeam.kernels.hashing import MURMUR
from phrasebeam.lm.text.fields import line_at
from phrasebeam.lm.text.text_vocabulary import TextVocabulary

LARGEST_COUNT = 2**31 - 1
PAIRS_AT_ONCE = 1 << 16
SORT = "sort the table: zcat TABLE.gz | LC_ALL=C sort -u | gzip"


class SparseColumns(NamedTuple):
    """The sparse features of P pairs, mapped from files that have been removed from their directory."""

    offsets: np.ndarray  # int64[P + 1]; pair i has those at offsets[i]:offsets[i + 1]
    numbers: np.ndarray  # int32[Z], numbers of their names
    values: np.ndarray  # float32[Z]


SPARSE_TYPES = np.int64, np.int32, np.float32


class PhraseTableReader:
    """Reads one text phrase table into a directory, and adds its words to the vocabularies `source` and `target`."""

    def __init__(self, path: Path, n_scores: int, source: TextVocabulary, target: TextVocabulary):
        self.path, self.n_scores, self.source, self.target = path, n_scores, source, target
        self.names = TextVocabulary()  # names of sparse features
        self.number = 0  # number of the line, which is one pair
        self.pairs = new_columns(n_scores)
        self.n_written, self.n_written_features = 0, 0  # pairs, and their sparse features, in earlier pieces
        self.repeated = np.zeros(
            (0, 2), np.int64
        )  # rows of pairs whose phrases occurred before, and rows of the first such pair
        self.sparse = SparseColumns(*(np.zeros(0, dtype) for dtype in SPARSE_TYPES))  # of all pairs, after reading

    @property
    def sparse_names(self) -> list[str]:
        """The names of sparse features, by number."""
        return self.names.words

    def read(self, directory: Path, memory: int = MEMORY) -> TableSizes:
        """Write the table to `directory`, see `open_phrase_table`. Raises FormatError, naming the line.

        `memory`: bytes for arrays that grow with the table, in addition to the pairs of one source phrase.
        """
        directory.mkdir()
        writer = TableWriter(directory, n_scores=self.n_scores, memory=memory)
        names = SparseColumns._fields
        self.files = [RowFile(directory / f"sparse_{name}", dtype) for name, dtype in zip(names, SPARSE_TYPES)]
        self.files[0].append(np.zeros(1, np.int64))
        before = b""
        with stage("reading the phrase table"), writer:
            for block in read_blocks(self.path):
                before = self._add(before, block, writer)
            if not before:
                raise FormatError(self.path, "no phrase pairs; give a text phrase table")
            self._flush(writer)
        self.number = self.n_written
        self.sparse = SparseColumns(*(file.map() for file in self.files))
        for file in self.files:
            file.path.unlink()
        if writer.repeated_source != ABSENT:
            self._refuse_repeated(open_phrase_table(directory), writer.repeated_source)
        return writer.sizes

    def _add(self, before: bytes, lines: bytes, writer: TableWriter, is_plain: bool = False) -> bytes:
        """Read `lines`, which follow the source phrase `before`; return the last source phrase."""
        data = bytearray(before + lines)
        place, fields = np.array([len(before), 0, len(before)]), np.empty((MOST_FIELDS + 1, 2), np.int64)
        while True:
            text = np.frombuffer(data, np.uint8)
            vocabularies = self.source.table, self.target.table, self.names.table
            reading = LineReading(text, place, fields, *vocabularies, self.pairs)
            status = read_pairs(reading, np.int64(PAIRS_AT_ONCE), is_plain)
            before, line = bytes(data[slice(*place[SOURCE_BEGIN:])]), line_at(data, int(place[NEXT]))
            if status == READ:
                return before
            if status == FULL:
                self._flush(writer)
            elif status == NO_ROOM:
                self.pairs = grown(self.pairs, len(line))
            elif status == NO_WORDS:
                for one in (self.source, self.target, self.names):
                    one.make_room(len(line))
            else:
                self._add(before, self._plain(line.decode("utf-8"), before.decode("utf-8")), writer, is_plain=True)
                place[:] = place[NEXT] + len(line), *fields[0]

    def _plain(self, line: str, source_before: str) -> bytes:
        """A line rewritten so that kernels can read it. Raises FormatError."""
        self.number = self.n_written + int(self.pairs.counts[PAIRS]) + 1
        try:
            return plain_line(line, source_before, self.n_scores)
        except ValueError as error:
            self._refuse(str(error))

    def _flush(self, writer: TableWriter) -> None:
        """Write the pairs, which end with a whole source phrase, and begin a new piece."""
        pairs, sizes = self.pairs, self.pairs.counts.tolist()
        source_ends, target_ends, point_ends = (
            np.append(0, ends[: sizes[n]])
            for ends, n in ((pairs.source_ends, SOURCES), (pairs.target_ends, PAIRS), (pairs.point_ends, PAIRS))
        )
        pair_ends = np.append(pairs.first_pairs[: sizes[SOURCES]], sizes[PAIRS])
        points = pairs.points[: sizes[POINTS]]
        self._check_points(
            points, point_ends, np.repeat(np.diff(source_ends), np.diff(pair_ends)), np.diff(target_ends)
        )
        scores = self._checked(_rows(pairs.scores, self.n_scores, sizes[PAIRS]), "score", np.finfo(np.float64).max)
        counts = self._checked(_rows(pairs.pair_counts, int(N_COUNTS), sizes[PAIRS]), "count", LARGEST_COUNT)
        counts = counts.round().astype(np.int32)
        table = PhraseTable(
            slots=np.zeros(0, np.int64),
            source_offsets=source_ends,
            source_words=pairs.source_words[: sizes[SOURCE_WORDS]],
            pair_offsets=pair_ends,
            target_offsets=target_ends,
            target_words=pairs.target_words[: sizes[TARGET_WORDS]],
            ln_scores=floored_ln(scores),
            alignment_offsets=point_ends,
            alignment_points=points.astype(np.uint8),
            joint_counts=counts[:, 2],
            source_counts=counts[pair_ends[:-1], 1],
            target_counts=counts[:, 0],
        )
        writer.append(table)
        source_of = np.repeat(np.arange(sizes[SOURCES]), np.diff(pair_ends))
        repeated = repeated_pairs(source_of, target_ends, table.target_words)
        self.repeated = np.concatenate([self.repeated, repeated + self.n_written])
        ends, names, values = pairs.feature_ends[: sizes[PAIRS]], pairs.feature_names, pairs.feature_values
        columns = ends + self.n_written_features, names[: sizes[FEATURES]], values[: sizes[FEATURES]]
        for file, column in zip(self.files, columns):
            file.append(column)
        self.n_written, self.n_written_features = (
            self.n_written + sizes[PAIRS],
            self.n_written_features + sizes[FEATURES],
        )
        pairs.counts[:] = 0

    def _check_points(self, points: np.ndarray, ends: np.ndarray, n_source: np.ndarray, n_target: np.ndarray) -> None:
        """Raise FormatError for points outside phrases of `n_source` and `n_target` words (int64[P])."""
        lengths = np.repeat(np.column_stack((n_source, n_target)), np.diff(ends), axis=0)
        outside = np.any(points >= lengths, axis=1)
        if outside.any():
            first = int(np.argmax(outside))
            self.number = self.n_written + int(np.searchsorted(ends, first, "right"))
            self._refuse("alignment point {}-{} lies outside the phrases".format(*points[first]))

    def _checked(self, numbers: np.ndarray, what: str, most: float) -> np.ndarray:
        """`numbers` (float64[P, K]) of the pairs of this piece. Raises FormatError unless all are from 0 to `most`."""
        wrong = ~((numbers >= 0) & (numbers <= most))
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            self.number = self.n_written + row + 1
            self._refuse(f"{what} {numbers[row][wrong[row]][0]:g}, expected a number from 0 to {most:g}")
        return numbers

    def _refuse_repeated(self, table: PhraseTable, source: int) -> NoReturn:
        words, ids = self.source.words, table.source_words[slice(*table.source_offsets[source : source + 2])]
        self.number = int(table.pair_offsets[source]) + 1
        found = f"{excerpt(' '.join([words[i] for i in ids]))} has other pairs further up"
        self._refuse(f"{found}; those of a source phrase must be neighbours; {SORT}")

    def _refuse(self, message: str) -> NoReturn:
        raise FormatError(self.path, message, self.number)


def _rows(numbers: np.ndarray, width: int, n_rows: int) -> np.ndarray:
    return numbers[: n_rows * width].reshape(n_rows, width)


def repeated_pairs(source_of: np.ndarray, offsets: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    """int64[D, 2], rows of pairs (ascending) whose phrases occurred before, and the row of their first occurrence.

    Of P pairs, `source_of` (int64[P]) are the source phrases, target_words[offsets[i]:offsets[i + 1]] the target
    phrases.
    """
    keys = hash_phrases(offsets, target_words) + source_of.astype(np.uint64) * MURMUR
    in_order = np.sort(keys)
    suspects = np.flatnonzero(np.isin(keys, in_order[1:][in_order[1:] == in_order[:-1]])).tolist()
    first, found = dict[tuple[int, bytes], int](), []
    for row in suspects:
        phrases = int(source_of[row]), target_words[offsets[row] : offsets[row + 1]].tobytes()
        if first.setdefault(phrases, row) != row:
            found.append((row, first[phrases]))
    return np.array(found, np.int64).reshape(-1, 2)
