"""Estimation of a phrase table with Moses' four scores, and of a lexicalized reordering table, from an aligned bitext.

The scores are p(f|e), lex(f|e), p(e|f), lex(e|f), as `extract`, `score` and `consolidate` of Moses compute them without
smoothing (Koehn et al. 2003, 2007); the first and the third can be smoothed. Orientation probabilities are those of
Moses' `lexical-reordering-score`. Occurrences of phrase pairs are divided into pieces by source phrase and scored piece
by piece, then divided by target phrase for c(e). So memory is bounded, and the result does not depend on the number of
pieces.
"""

import shutil
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.array_file import new_array_file
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory, scratch_directory
from phrasebeam.base.progress import log, stage
from phrasebeam.base.spill import BucketFiles
from phrasebeam.decoder.extraction.agreement import Agreement
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.pairs import LONGEST_PAIR, AlignedBitext
from phrasebeam.decoder.tables.model_files import TYPES
from phrasebeam.decoder.tables.phrase_table import SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE, open_phrase_table
from phrasebeam.decoder.tables.score_smoothing import Method, ScoreSmoothing, open_discounting, smoothed_scores
from phrasebeam.decoder.tables.table_writer import TableSizes, TableWriter
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.engine.protocols import Engine
from phrasebeam.lm.kneser_ney import LARGEST_COUNT, discounts
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.model_building.config import N_SCORES
from phrasebeam.training.model_building.extraction import align_bitext, count_occurrences, extract
from phrasebeam.training.model_building.lexical import lexical_table
from phrasebeam.training.model_building.map_and_reduce import SHARDS_OF_WORKER, ShardExtraction, Shuffle, on_disk
from phrasebeam.training.model_building.piece_scoring import (
    PhraseTableSettings,
    PieceScoring,
    TargetCounting,
    TargetCounts,
    count_targets,
    load_scored,
    score_piece,
    source_hashes,
)
from phrasebeam.training.word_alignment.alignment_points import Alignments

BYTES_PER_OCCURRENCE = 400  # measured memory of grouping and scoring
MAPPED_BYTES_PER_PAIR = 100  # four times the bytes of a pair that are read and written for c(e) and p(f|e)
MAX_PIECES = 4096
FOLDER = "smoothing"  # in the model directory
GOOD_TURING_COUNTS = 10  # counts from 10 on are not discounted, as in Moses
ADDED = 0.1  # added to counts of counts, as in Moses
COUNTS_AT_ONCE = 1 << 20


class BuiltTables(NamedTuple):
    """Data about built tables for model.yaml."""

    sizes: TableSizes
    smoothing: ScoreSmoothing | None
    agreement: Agreement


def build_phrase_table(
    source: Corpus, target: Corpus, alignments: Sequence[Alignments], output: Path, settings: PhraseTableSettings
) -> BuiltTables:
    """Write output/phrases/ and output/reordering/, for `open_phrase_table` and `open_reordering_table`.

    With Kneser-Ney smoothing also output/smoothing/, for `open_discounting`. Raises ConfigError if corpora and
    alignments differ in their numbers of sentences, or settings.scratch is not a directory.
    """
    _check_sizes(source, target, alignments)
    if settings.scratch is not None and not settings.scratch.is_dir():
        raise ConfigError(f"scratch: {settings.scratch} is not a directory; name one that exists, or leave it out")
    bitext, agreement = align_bitext(source, target, *alignments), Agreement(len(alignments), settings.agreement)
    counts = count_occurrences(bitext, settings.max_phrase_length, agreement)
    _tell_too_long(source, target)
    engine, n_columns = current_engine(), settings.reordering.n_columns
    with (
        atomic_directory(output / "reordering") as reordering,
        atomic_directory(output / "phrases") as phrases,
        scratch_directory(settings.scratch or output) as scratch,
    ):
        writer = TableWriter(phrases, reordering, n_columns, N_SCORES, settings.memory_budget)
        build = Build(bitext, counts, agreement, settings, scratch, phrases, writer)
        types = build.in_pieces() if engine.processes == 1 else build.by_processes(engine)
        smoothing = None
        if settings.score_smoothing != "none":
            with stage("smooth the scores"):
                smoothing = _smooth_scores(scratch, phrases, settings.score_smoothing, build.pairs_at_once)
        if types:
            types.copy(output)
    return BuiltTables(writer.sizes, smoothing, agreement)


def _check_sizes(source: Corpus, target: Corpus, alignments: Sequence[Alignments]) -> None:
    """Raise ConfigError if corpora and alignments have different numbers of sentences."""
    for one in alignments:
        sizes = [len(part.offsets) - 1 for part in (source, target, one)]
        if len(set(sizes)) > 1:
            found = "{} source sentences, {} target sentences and {} alignments".format(*sizes)
            raise ConfigError(f"{found}; a bitext has the same number of each")


def _tell_too_long(source: Corpus, target: Corpus) -> None:
    """Log how many sentence pairs give no phrase pairs because they are too long."""
    n_words = np.maximum(np.diff(source.offsets), np.diff(target.offsets))
    too_long = np.flatnonzero(n_words > LONGEST_PAIR)
    if too_long.size:
        found = "%d sentence pairs have more than %d words on a side, the first in line %d"
        log.warning(f"{found}: no phrase pairs are extracted from them", too_long.size, LONGEST_PAIR, too_long[0] + 1)


class TypeFile:
    """A file for Kneser-Ney smoothing: for each of `n_pairs`, the numbers of pairs of its target phrase by joint count.

    Rows may be written in any order.
    """

    def __init__(self, directory: Path, n_pairs: int):
        self.path = directory / FOLDER / "target_types.npy"
        self.path.parent.mkdir()
        new_array_file(self.path, np.dtype(np.int32), (n_pairs, TYPES))

    def write(self, rows: np.ndarray, target_of: np.ndarray, joint: np.ndarray, spans: list[slice]) -> None:
        """Write the given `rows` (int64[P]), with target phrases `target_of` (int64[P]) and counts `joint` (int32[P]).

        `spans`: slices of the rows that are mapped into memory together.
        """
        bins = target_of * TYPES + np.minimum(joint, TYPES) - 1
        types = np.bincount(bins, minlength=TYPES * (int(target_of.max(initial=-1)) + 1)).reshape(-1, TYPES)
        for span in spans:
            np.load(self.path, mmap_mode="r+")[rows[span]] = types[target_of[span]]

    def copy(self, directory: Path) -> None:
        """Copy the file to the model in `directory`."""
        (directory / FOLDER).mkdir()
        shutil.copyfile(self.path, directory / FOLDER / self.path.name)


@dataclass(frozen=True)
class Build:
    """The build of one phrase table."""

    bitext: AlignedBitext
    counts: np.ndarray  # int64[N], number of phrase pairs of each sentence pair
    agreement: Agreement
    settings: PhraseTableSettings
    scratch: Path
    phrases: Path
    writer: TableWriter

    @property
    def pairs_at_once(self) -> int:
        """Number of rows of the table that are mapped into memory at a time."""
        return max(self.settings.memory_budget // MAPPED_BYTES_PER_PAIR, 1)

    @property
    def kind(self) -> int:
        """Index in KINDS of the configured orientation model."""
        return KINDS[self.settings.reordering.orientation]

    def in_pieces(self) -> TypeFile | None:
        """Extract, score and count, one piece after the other."""
        bitext, settings, counts = self.bitext, self.settings, self.counts
        n_pieces = _n_pieces(int(counts.sum()), settings.memory_budget)
        by_source = BucketFiles(self.scratch / "source", np.int32, 4)
        by_target = BucketFiles(self.scratch / "target", np.int64, 4)
        with stage("extract phrase pairs", counts.size, "sentence pairs") as advance:
            chunk = max(1, settings.memory_budget // BYTES_PER_OCCURRENCE)
            limits = settings.max_phrase_length, self.kind, chunk
            for n_sentences, occurrences in extract(bitext, counts, *limits, agreement=self.agreement):
                by_source.scatter(_piece_of(source_hashes(bitext, occurrences), n_pieces), occurrences)
                advance(n_sentences)
        with self.writer, stage("score phrase pairs", n_pieces) as advance:
            lexicon = lexical_table(bitext)
            for i in range(n_pieces):
                piece = score_piece(bitext, lexicon, by_source.take(i), settings)
                first = np.array([self.writer.n_pairs, 0, 0, 0])
                self.writer.append(piece.table, piece.reordering)
                by_target.scatter(_piece_of(piece.target_hashes, n_pieces), piece.targets + first)
                advance(1)
        types = self.new_types()
        with stage("count target phrases", n_pieces) as advance:
            for i in range(n_pieces):
                self.write_target_counts(count_targets(bitext, by_target.take(i)), types)
                advance(1)
        return types

    def by_processes(self, engine: Engine) -> TypeFile | None:
        """Extract, score and count by map and reduce, see map_and_reduce.py."""
        bitext, settings, counts = self.bitext, self.settings, self.counts
        lexicon = lexical_table(bitext)
        if engine.is_remote:
            bitext, lexicon = on_disk(bitext, self.scratch / "bitext"), on_disk(lexicon, self.scratch / "lexicon")
        n_processes, budget = engine.processes, max(1, settings.memory_budget // engine.processes)
        n_pieces = max(_n_pieces(int(counts.sum()), budget), 1 << (SHARDS_OF_WORKER * n_processes - 1).bit_length())
        n_shards = min(counts.size, SHARDS_OF_WORKER * n_processes)
        shuffle = Shuffle(self.scratch, n_shards, min(n_pieces, MAX_PIECES), _piece_of)
        limits = settings.max_phrase_length, self.kind, max(1, budget // BYTES_PER_OCCURRENCE)
        extraction = ShardExtraction(bitext, counts, self.agreement, *limits, source_hashes, shuffle)
        with stage("extract phrase pairs", counts.size, "sentence pairs") as advance:
            deque(engine.run(extraction, range(n_shards), n_processes, advance), 0)
        scoring, pieces, first_rows = PieceScoring(bitext, lexicon, settings, shuffle), range(shuffle.n_pieces), []
        with (
            self.writer,
            stage("score phrase pairs", shuffle.n_pieces) as advance,
            closing(engine.run(scoring, pieces, n_processes, advance)) as scored,
        ):
            for directory in scored:
                first_rows.append(self.writer.n_pairs)
                self.writer.append(*load_scored(directory))
        types, counting = self.new_types(), TargetCounting(bitext, shuffle, first_rows)
        with (
            stage("count target phrases", shuffle.n_pieces) as advance,
            closing(engine.run(counting, pieces, n_processes, advance)) as found,
        ):
            for counted in found:
                self.write_target_counts(counted, types)
        return types

    def new_types(self) -> TypeFile | None:
        """A new TypeFile if smoothing needs it; else None."""
        has_types = self.settings.score_smoothing == "kneser-ney"
        return TypeFile(self.scratch, self.writer.n_pairs) if has_types else None

    def write_target_counts(self, counted: TargetCounts, types: TypeFile | None) -> None:
        """Write c(e) and ln p(f|e) to the files of the table, mapping `pairs_at_once` of its rows at a time."""
        spans = _spans(counted.rows, self.pairs_at_once)
        for span in spans:
            target_counts, ln_scores = (
                np.load(self.phrases / f"{name}.npy", mmap_mode="r+") for name in ("target_counts", "ln_scores")
            )
            target_counts[counted.rows[span]] = counted.totals[span].astype(np.int32)
            ln_scores[counted.rows[span], 0] = counted.ln_inverse[span]
        if types:
            types.write(counted.rows, counted.target_of, counted.joint, spans)


def _smooth_scores(directory: Path, phrases: Path, method: Method, pairs_at_once: int) -> ScoreSmoothing:
    """Write smoothed scores to the table in `phrases`, and return the description of the smoothing.

    `directory`/smoothing has the TypeFile, if the method needs it. About `pairs_at_once` pairs are in memory at a time.
    """
    table = open_phrase_table(phrases)
    found = _discounts(table.joint_counts, method)
    smoothing = ScoreSmoothing(method=method, discounts=found, phrase_pairs=max(table.joint_counts.size, 1))
    discounting = open_discounting(directory, smoothing, table.joint_counts.size)
    first, n_sources = 0, table.source_counts.size
    while first < n_sources:
        end = int(np.searchsorted(table.pair_offsets, table.pair_offsets[first] + pairs_at_once, "right")) - 1
        last = max(end, first + 1)
        rows = slice(int(table.pair_offsets[first]), int(table.pair_offsets[last]))
        ln_scores = np.load(phrases / "ln_scores.npy", mmap_mode="r+")
        columns = [SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE]
        ln_scores[rows, columns] = smoothed_scores(table, discounting, first, last)
        first = last
    return smoothing


def _discounts(joint_counts: np.ndarray, method: Method) -> list[float]:
    """Discounts of the counts 0, 1, ...; the last one is also that of all larger counts."""
    size = GOOD_TURING_COUNTS + 1
    histogram = np.zeros(size + 1, np.int64)
    for begin in range(0, joint_counts.size, COUNTS_AT_ONCE):
        piece = np.minimum(joint_counts[begin : begin + COUNTS_AT_ONCE], size)
        histogram += np.bincount(piece, minlength=size + 1)
    if method == "kneser-ney":
        return [float(discount) for discount in discounts(histogram[: LARGEST_COUNT + 1])]
    found = [0.0]
    for count in range(1, GOOD_TURING_COUNTS):
        ratio = (histogram[count + 1] + ADDED) / (histogram[count] + ADDED)
        found.append(float(max(count - (count + 1) * ratio, 0.0)))
    return [*found, 0.0]


def _n_pieces(n_occurrences: int, memory_budget: int) -> int:
    """Number of pieces: the least power of two, up to MAX_PIECES, such that a piece of equal size fits into the budget.

    `memory_budget`: bytes.
    """
    n = 1
    while n < MAX_PIECES and n_occurrences * BYTES_PER_OCCURRENCE > n * memory_budget:
        n *= 2
    return n


def _piece_of(hashes: np.ndarray, n_pieces: int) -> np.ndarray:
    """The piece of each hash (uint64[K]), as int64[K]: its high bits, so that pieces are in the order of hashes."""
    if n_pieces == 1:
        return np.zeros(hashes.size, np.int64)
    return (hashes >> np.uint64(65 - n_pieces.bit_length())).astype(np.int64)


def _spans(rows: np.ndarray, size: int) -> list[slice]:
    """Slices of the ascending `rows` (int64[P]): rows below `size`, then those below 2 * `size`, and so on."""
    if not rows.size:
        return []
    ends = np.searchsorted(rows, np.arange(size, int(rows[-1]) + size + 1, size)).tolist()
    return [slice(begin, end) for begin, end in pairwise([0, *ends]) if begin < end]
