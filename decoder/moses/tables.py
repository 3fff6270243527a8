"""Import of Moses' text phrase tables, with any number of scores (LoaderStandard.cpp; Koehn et al. 2007)."""

import math
from array import array
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import stage
from phrasebeam.base.spill import RowFile
from phrasebeam.decoder.tables.phrase_table import ABSENT, LONGEST_PHRASE, PhraseTable, floored_ln, open_phrase_table
from phrasebeam.decoder.tables.table_writer import MEMORY, TableSizes, TableWriter
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.vocabulary import Vocabulary

LARGEST_COUNT = 2**31 - 1
PAIRS_AT_ONCE = 1 << 16
SEPARATOR = "|||"
SORT = "sort the table: zcat TABLE.gz | LC_ALL=C sort -u | gzip"


class _Pairs:
    """The arrays of a piece of a PhraseTable while lines are read."""

    def __init__(self, first: int, first_sparse: int = 0):
        # The row of the first pair, and the number of sparse features, counted from the beginning of the file.
        self.first, self.first_sparse = first, first_sparse
        self.source_words, self.target_words = array("i"), array("i")
        self.source_ends, self.pair_ends, self.target_ends, self.point_ends = (array("q", [0]) for _ in range(4))
        self.scores, self.counts = array("d"), array("d")  # counts: c(e), c(f), c(f, e)
        self.points = array("q")
        self.sparse_ends, self.sparse_numbers, self.sparse_values = array("q"), array("i"), array("f")

    @property
    def n_pairs(self) -> int:
        return len(self.target_ends) - 1

    def end_source(self) -> None:
        """The next pair has another source phrase."""
        self.source_ends.append(len(self.source_words))
        self.pair_ends.append(self.n_pairs)


class SparseColumns(NamedTuple):
    """The sparse features of P pairs, mapped from files that are no longer in their directory."""

    offsets: np.ndarray  # int64[P + 1]; pair i has those at offsets[i]:offsets[i + 1]
    numbers: np.ndarray  # int32[Z], of their names
    values: np.ndarray  # float32[Z]


SPARSE_TYPES = np.int64, np.int32, np.float32


class PhraseTableReader:
    """Reads one text phrase table into a directory, and adds its words to the vocabularies `source` and `target`."""

    def __init__(self, path: Path, n_scores: int, source: Vocabulary, target: Vocabulary):
        self.path, self.n_scores, self.source, self.target = path, n_scores, source, target
        self.number = 0  # of the line, which is one pair
        self.pairs = _Pairs(0)
        self.source_text = ""
        self.targets = dict[str, int]()  # of this source phrase, with the row of their first pair
        self._repeated = array("q")  # rows in turn: of a pair, and of the first one of the same phrases
        self.sparse_names: dict[str, int] = {}  # sparse features, with their numbers
        self.sparse = SparseColumns(*(np.zeros(0, dtype) for dtype in SPARSE_TYPES))  # of all pairs, when read

    @property
    def repeated(self) -> np.ndarray:
        """int64[D, 2] rows of pairs, ascending, whose phrases stand further up, and those of the first of these."""
        return np.array(self._repeated, np.int64).reshape(-1, 2)

    def read(self, directory: Path, memory: int = MEMORY) -> TableSizes:
        """Write the table to `directory`, see `open_phrase_table`. Raises FormatError, naming the line.

        `memory`: bytes for arrays that grow with the table, besides the pairs of one source phrase.
        """
        directory.mkdir()
        writer = TableWriter(directory, n_scores=self.n_scores, memory=memory)
        names = SparseColumns._fields
        self.files = [RowFile(directory / f"sparse_{name}", dtype) for name, dtype in zip(names, SPARSE_TYPES)]
        self.files[0].append(np.zeros(1, np.int64))
        with stage("reading the phrase table"), writer:
            for line in read_lines(self.path):
                self.number += 1
                self._add(line, writer)
            if not self.number:
                raise FormatError(self.path, "no phrase pairs; give a text phrase table")
            self._write(writer)
        self.sparse = SparseColumns(*(file.map() for file in self.files))
        for file in self.files:
            file.path.unlink()
        if writer.repeated_source != ABSENT:
            self._refuse_repeated(open_phrase_table(directory), writer.repeated_source)
        return writer.sizes

    def _add(self, line: str, writer: TableWriter) -> None:
        fields = [field.strip(" \t") for field in line.split(SEPARATOR)]
        if not 3 <= len(fields) <= 7:
            self._refuse(f"{len(fields)} fields, expected 3 to 7: source ||| target ||| scores ||| alignment ...")
        source, target, scores, alignment, counts, sparse = (fields + [""] * 3)[:6]
        if source != self.source_text:
            self._begin_source(source, writer)
        self._add_sparse(sparse)
        pairs, words = self.pairs, self._words(target, "target")
        if (first := self.targets.setdefault(" ".join(words), self.number - 1)) != self.number - 1:
            self._repeated.extend((self.number - 1, first))
        pairs.target_words.extend([self.target.add(word) for word in words])
        pairs.target_ends.append(len(pairs.target_words))
        numbers = self._numbers(scores, "scores")
        if len(numbers) != self.n_scores:
            self._refuse(f"{len(numbers)} scores, expected {self.n_scores} as moses.ini says")
        pairs.scores.extend(numbers)
        for point in alignment.split():
            pairs.points.extend(self._point(point))
        pairs.point_ends.append(len(pairs.points) // 2)
        numbers = self._numbers(counts, "counts")
        if len(numbers) > 3:
            self._refuse(f"{len(numbers)} counts, expected at most 3: c(e) c(f) c(e,f)")
        pairs.counts.extend(numbers + [0.0] * (3 - len(numbers)))

    def _add_sparse(self, text: str) -> None:
        """Add the sparse features of a pair, names and values in turn."""
        fields = text.split()
        if len(fields) % 2:
            self._refuse(f"sparse features {excerpt(text)}, expected names and values in turn")
        for name, value in zip(fields[::2], self._numbers(" ".join(fields[1::2]), "values of sparse features")):
            if not math.isfinite(value):
                self._refuse(f"value {value} of the sparse feature {excerpt(name)}, expected a finite number")
            self.pairs.sparse_numbers.append(self.sparse_names.setdefault(name, len(self.sparse_names)))
            self.pairs.sparse_values.append(value)
        self.pairs.sparse_ends.append(self.pairs.first_sparse + len(self.pairs.sparse_numbers))

    def _begin_source(self, source: str, writer: TableWriter) -> None:
        if self.pairs.n_pairs:
            self.pairs.end_source()
        if self.pairs.n_pairs >= PAIRS_AT_ONCE:
            self._flush(writer)
        self.source_text, self.targets = source, {}
        self.pairs.source_words.extend([self.source.add(word) for word in self._words(source, "source")])

    def _words(self, text: str, side: str) -> list[str]:
        words = split(text)
        if not 0 < len(words) <= LONGEST_PHRASE:
            self._refuse(f"{len(words)} {side} words, expected 1 to {LONGEST_PHRASE}; remove the line")
        if "|" in text:
            found = f"factors or an unescaped | in the {side} phrase {excerpt(text)}"
            self._refuse(f"{found}; train without factors, write | as &#124;")
        return words

    def _numbers(self, text: str, what: str) -> list[float]:
        try:
            return [float(number) for number in text.split()]
        except ValueError:
            self._refuse(f"{what} {excerpt(text)}, expected numbers")

    def _point(self, text: str) -> tuple[int, int]:
        source, _, target = text.partition("-")
        if not ((source + target).isascii() and source.isdecimal() and target.isdecimal() and len(text) < 16):
            self._refuse(f"alignment point {excerpt(text)}, expected SOURCE-TARGET such as 0-1")
        return int(source), int(target)

    def _write(self, writer: TableWriter) -> None:
        self.pairs.end_source()
        self._flush(writer)

    def _flush(self, writer: TableWriter) -> None:
        """Write the pairs, which end with a whole source phrase, and begin a new piece."""
        pairs = self.pairs
        source_ends, pair_ends, target_ends, point_ends = (
            np.array(ends, np.int64)
            for ends in (pairs.source_ends, pairs.pair_ends, pairs.target_ends, pairs.point_ends)
        )
        points = np.array(pairs.points, np.int64).reshape(-1, 2)
        lengths = np.column_stack((np.repeat(np.diff(source_ends), np.diff(pair_ends)), np.diff(target_ends)))
        outside = np.any(points >= np.repeat(lengths, np.diff(point_ends), axis=0), axis=1)
        if outside.any():
            first = int(np.argmax(outside))
            self.number = pairs.first + int(np.searchsorted(point_ends, first, "right"))
            self._refuse("alignment point {}-{} lies outside the phrases".format(*points[first]))
        scores = self._checked(np.array(pairs.scores).reshape(-1, self.n_scores), "score", np.finfo(np.float64).max)
        counts = self._checked(np.array(pairs.counts).reshape(-1, 3), "count", LARGEST_COUNT).round().astype(np.int32)
        table = PhraseTable(
            slots=np.zeros(0, np.int64),
            source_offsets=source_ends,
            source_words=np.array(pairs.source_words, np.int32),
            pair_offsets=pair_ends,
            target_offsets=target_ends,
            target_words=np.array(pairs.target_words, np.int32),
            ln_scores=floored_ln(scores),
            alignment_offsets=point_ends,
            alignment_points=points.astype(np.uint8),
            joint_counts=counts[:, 2],
            source_counts=counts[pair_ends[:-1], 1],
            target_counts=counts[:, 0],
        )
        writer.append(table)
        columns = pairs.sparse_ends, pairs.sparse_numbers, pairs.sparse_values
        for file, dtype, column in zip(self.files, SPARSE_TYPES, columns):
            file.append(np.array(column, dtype))
        self.pairs = _Pairs(pairs.first + pairs.n_pairs, pairs.first_sparse + len(pairs.sparse_numbers))

    def _checked(self, numbers: np.ndarray, what: str, most: float) -> np.ndarray:
        """`numbers` (float64[P, K]) of the pairs of this piece. Raises FormatError unless they are from 0 to `most`."""
        wrong = ~((numbers >= 0) & (numbers <= most))
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            self.number = self.pairs.first + row + 1
            self._refuse(f"{what} {numbers[row][wrong[row]][0]:g}, expected a number from 0 to {most:g}")
        return numbers

    def _refuse_repeated(self, table: PhraseTable, source: int) -> NoReturn:
        words = [self.source.words[i] for i in table.source_words[slice(*table.source_offsets[source : source + 2])]]
        self.number = int(table.pair_offsets[source]) + 1
        found = f"{excerpt(' '.join(words))} has other pairs further up"
        self._refuse(f"{found}; those of a source phrase must be neighbours; {SORT}")

    def _refuse(self, message: str) -> NoReturn:
        raise FormatError(self.path, message, self.number)
