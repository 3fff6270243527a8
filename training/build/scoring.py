"""Estimation of a phrase table with Moses' four scores, and of a lexicalized reordering table, from an aligned bitext.

p(f|e), lex(f|e), p(e|f), lex(e|f) as `extract`, `score` and `consolidate` of Moses compute them without smoothing
(Koehn et al. 2003, 2007), the first and third smoothed if wanted, and the orientation probabilities
of its `lexical-reordering-score`. Occurrences of phrase pairs are divided into pieces by source phrase and scored piece
by piece, then divided by target phrase for c(e): memory is bounded, and the result does not depend on the number of
pieces.
"""

import shutil
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Bytes, Factor, Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory, scratch_directory
from phrasebeam.base.progress import stage
from phrasebeam.base.side_by_side import Advance
from phrasebeam.base.spill import BucketFiles
from phrasebeam.decoder.extraction.occurrences import all_orientations
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.features.reordering import BACKWARD, COLUMNS, FORWARD, SMOOTHING
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.tables.phrase_table import PhraseTable, ReorderingTable, floored_ln
from phrasebeam.decoder.tables.score_smoothing import Method, ScoreSmoothing
from phrasebeam.decoder.tables.table_writer import TableSizes, TableWriter
from phrasebeam.engine.engine import Engine, current_engine
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.build.extraction import align_bitext, count_occurrences, extract
from phrasebeam.training.build.lexical import LexicalTable, lexical_table, ln_lexical_weights
from phrasebeam.training.build.map_and_reduce import (
    SHARDS_OF_WORKER,
    ShardExtraction,
    Shuffle,
    append_rows,
    divided,
    new_directory,
    occurrences_of,
    on_disk,
    pairs_of,
    save_tuple,
)
from phrasebeam.training.build.phrase_pairs import (
    PairGroups,
    Sequences,
    gather,
    group_pairs,
    hash_sequences,
    internal_alignments,
    number_sequences,
    source_phrases,
    target_phrases,
)
from phrasebeam.training.build.score_smoothing import TypeFile, smooth_scores
from phrasebeam.training.word_alignment.alignment_points import Alignments

BYTES_PER_OCCURRENCE = 400  # that grouping and scoring take, measured
MAPPED_BYTES_PER_PAIR = 100  # four times what is read and written of a pair for c(e) and p(f|e)
MAX_PIECES = 4096
NO_SLOTS = np.zeros(0, np.int64)


class PhraseTableSettings(Section):
    """How phrase pairs are extracted and scored."""

    max_phrase_length: int = Field(7, ge=1, le=255)  # words, on either side
    reordering: Reordering = Reordering()
    smoothing: Factor = SMOOTHING  # added to each orientation's count
    score_smoothing: Literal[Method, "none"] = "none"  # of p(f|e) and p(e|f)
    memory_budget: Bytes = Field(1 << 28, gt=0)  # bytes for phrase pairs, beside the bitext and its links
    scratch: Path | None = None  # where pairs are spilled beyond the budget; None: in the output directory


class BuiltTables(NamedTuple):
    """What model.yaml tells of tables that were built."""

    sizes: TableSizes
    smoothing: ScoreSmoothing | None


def build_phrase_table(
    source: Corpus, target: Corpus, alignments: Alignments, output: Path, settings: PhraseTableSettings
) -> BuiltTables:
    """Write output/phrases/ and output/reordering/, for `open_phrase_table` and `open_reordering_table`.

    With smoothing by Kneser-Ney also output/smoothing/, for `open_discounting`. Raises ConfigError if corpora and
    alignments differ in number, or settings.scratch is not a directory.
    """
    sizes = [len(part.offsets) - 1 for part in (source, target, alignments)]
    if len(set(sizes)) > 1:
        found = "{} source sentences, {} target sentences and {} alignments".format(*sizes)
        raise ConfigError(f"{found}; a bitext has the same number of each")
    if settings.scratch is not None and not settings.scratch.is_dir():
        raise ConfigError(f"scratch: {settings.scratch} is not a directory; name one that exists, or leave it out")
    bitext = align_bitext(source, target, alignments)
    counts = count_occurrences(bitext, settings.max_phrase_length)
    engine, n_columns = current_engine(), settings.reordering.n_columns
    with (
        atomic_directory(output / "reordering") as reordering,
        atomic_directory(output / "phrases") as phrases,
        scratch_directory(settings.scratch or output) as scratch,
    ):
        writer = TableWriter(phrases, reordering, n_columns, memory=settings.memory_budget)
        build = Build(bitext, counts, settings, scratch, phrases, writer)
        types = build.in_pieces() if engine.processes == 1 else build.by_processes(engine)
        smoothing = _smooth(scratch, phrases, settings.score_smoothing, build.pairs_at_once)
        if types:
            shutil.copytree(types.path.parent, output / "smoothing")
    return BuiltTables(writer.sizes, smoothing)


@dataclass(frozen=True)
class Build:
    """The build of one table."""

    bitext: AlignedBitext
    counts: np.ndarray  # int64[N], phrase pairs of each sentence pair
    settings: PhraseTableSettings
    scratch: Path
    phrases: Path
    writer: TableWriter

    @property
    def pairs_at_once(self) -> int:
        """Rows of the table that are mapped at a time."""
        return max(self.settings.memory_budget // MAPPED_BYTES_PER_PAIR, 1)

    @property
    def kind(self) -> int:
        """Of orientations."""
        return KINDS[self.settings.reordering.orientation]

    def in_pieces(self) -> TypeFile | None:
        """Extract, score and count, one piece after the other."""
        bitext, settings, counts = self.bitext, self.settings, self.counts
        n_pieces = _n_pieces(int(counts.sum()), settings.memory_budget)
        by_source = BucketFiles(self.scratch / "source", np.int32, 4)
        by_target = BucketFiles(self.scratch / "target", np.int64, 4)
        with stage("extract phrase pairs", counts.size, "sentence pairs") as advance:
            chunk = max(1, settings.memory_budget // BYTES_PER_OCCURRENCE)
            for n_sentences, occurrences in extract(bitext, counts, settings.max_phrase_length, self.kind, chunk):
                by_source.scatter(_piece_of(_source_hashes(bitext, occurrences), n_pieces), occurrences)
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
        """Likewise by map and reduce, see map_and_reduce.py."""
        bitext, settings, counts = self.bitext, self.settings, self.counts
        lexicon = lexical_table(bitext)
        if engine.is_remote:
            bitext, lexicon = on_disk(bitext, self.scratch / "bitext"), on_disk(lexicon, self.scratch / "lexicon")
        n_processes, budget = engine.processes, max(1, settings.memory_budget // engine.processes)
        n_pieces = max(_n_pieces(int(counts.sum()), budget), 1 << (SHARDS_OF_WORKER * n_processes - 1).bit_length())
        n_shards = min(counts.size, SHARDS_OF_WORKER * n_processes)
        shuffle = Shuffle(self.scratch, n_shards, min(n_pieces, MAX_PIECES), _piece_of)
        limits = settings.max_phrase_length, self.kind, max(1, budget // BYTES_PER_OCCURRENCE)
        extraction = ShardExtraction(bitext, counts, *limits, _source_hashes, shuffle)
        with stage("extract phrase pairs", counts.size, "sentence pairs") as advance:
            deque(engine.run(extraction, range(n_shards), n_processes, advance), 0)
        scoring, pieces, first_rows = PieceScoring(bitext, lexicon, settings, shuffle), range(shuffle.n_pieces), []
        with self.writer, stage("score phrase pairs", shuffle.n_pieces) as advance:
            for directory in engine.run(scoring, pieces, n_processes, advance):
                first_rows.append(self.writer.n_pairs)
                self.writer.append(*load_scored(directory))
        types, counting = self.new_types(), TargetCounting(bitext, shuffle, first_rows)
        with stage("count target phrases", shuffle.n_pieces) as advance:
            for counted in engine.run(counting, pieces, n_processes, advance):
                self.write_target_counts(counted, types)
        return types

    def new_types(self) -> TypeFile | None:
        """The file of types that smoothing needs."""
        has_types = self.settings.score_smoothing == "kneser-ney"
        return TypeFile(self.scratch, self.writer.n_pairs) if has_types else None

    def write_target_counts(self, counted: "TargetCounts", types: TypeFile | None) -> None:
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


def _smooth(scratch: Path, phrases: Path, method: Literal[Method, "none"], pairs_at_once: int) -> ScoreSmoothing | None:
    if method == "none":
        return None
    with stage("smooth the scores"):
        return smooth_scores(scratch, phrases, method, pairs_at_once)


def _n_pieces(n_occurrences: int, memory_budget: int) -> int:
    """The least power of two, up to MAX_PIECES, such that an equal piece fits into `memory_budget` bytes."""
    n = 1
    while n < MAX_PIECES and n_occurrences * BYTES_PER_OCCURRENCE > n * memory_budget:
        n *= 2
    return n


def _piece_of(hashes: np.ndarray, n_pieces: int) -> np.ndarray:
    """int64[K] piece of each hash (uint64[K]): its high bits, so that pieces in their order are in that of hashes."""
    if n_pieces == 1:
        return np.zeros(hashes.size, np.int64)
    return (hashes >> np.uint64(65 - n_pieces.bit_length())).astype(np.int64)


def _source_hashes(bitext: AlignedBitext, occurrences: np.ndarray) -> np.ndarray:
    """uint64[K] hashes of the source phrases of occurrences."""
    return hash_sequences(source_phrases(bitext, occurrences))


class ScoredPiece(NamedTuple):
    """The phrase pairs of a piece, with 0 for c(e) and ln p(f|e)."""

    table: PhraseTable
    reordering: ReorderingTable
    targets: np.ndarray  # int64[P, 4]: row, first target token, target length, joint count
    target_hashes: np.ndarray  # uint64[P]


def score_piece(
    bitext: AlignedBitext, lexicon: LexicalTable, occurrences: np.ndarray, settings: PhraseTableSettings
) -> ScoredPiece:
    """Score the pairs of the occurrences (int32[K, 4]) of one piece."""
    groups = group_pairs(bitext, occurrences)
    targets = target_phrases(bitext, occurrences[groups.pair_first])
    table, rows = _phrase_table(bitext, lexicon, occurrences, groups), np.arange(groups.pair_first.size)
    columns = np.column_stack((rows, targets.begins, targets.lengths, table.joint_counts)).astype(np.int64)
    return ScoredPiece(table, _reordering_table(occurrences, groups, settings), columns, hash_sequences(targets))


@dataclass(frozen=True)
class PieceScoring:
    """Scores the phrase pairs of a piece by source phrase."""

    bitext: AlignedBitext
    lexicon: LexicalTable
    settings: PhraseTableSettings
    shuffle: Shuffle

    def __call__(self, piece: int, advance: Advance) -> Path:
        """The directory of what was scored."""
        scored = score_piece(self.bitext, self.lexicon, occurrences_of(self.shuffle, piece), self.settings)
        pieces = _piece_of(scored.target_hashes, self.shuffle.n_pieces)
        with new_directory(self.shuffle.scratch, f"scored-{piece}") as directory:
            save_tuple(scored.table._asdict(), directory / "phrases")
            save_tuple(scored.reordering._asdict(), directory / "reordering")
            for target_piece, rows in divided(pieces, scored.targets):
                append_rows(directory / f"target-{target_piece}", rows)
        advance(1)
        return self.shuffle.scratch / f"scored-{piece}"


def load_scored(directory: Path) -> tuple[PhraseTable, ReorderingTable]:
    """The tables of a piece that PieceScoring left; those files are removed."""
    kinds: dict[str, Any] = {"phrases": PhraseTable, "reordering": ReorderingTable}
    tables = []
    for name, kind in kinds.items():
        tables.append(kind(**{field: np.load(directory / name / f"{field}.npy") for field in kind._fields}))
        shutil.rmtree(directory / name)
    return tables[0], tables[1]


class TargetCounts(NamedTuple):
    """What P pairs of some target phrases, by their rows in the table, lacked."""

    rows: np.ndarray  # int64[P], ascending, with gaps
    totals: np.ndarray  # float64[P], c(e)
    ln_inverse: np.ndarray  # float64[P], ln p(f|e)
    target_of: np.ndarray  # int64[P], number of the target phrase
    joint: np.ndarray  # int32[P]


@dataclass(frozen=True)
class TargetCounting:
    """Counts the target phrases of a piece by target phrase."""

    bitext: AlignedBitext
    shuffle: Shuffle
    first_rows: Sequence[int]  # of each piece by source phrase

    def __call__(self, piece: int, advance: Advance) -> TargetCounts:
        """Their counts."""
        advance(1)
        return count_targets(self.bitext, pairs_of(self.shuffle, piece, self.first_rows))


def count_targets(bitext: AlignedBitext, rows: np.ndarray) -> TargetCounts:
    """The counts of the target phrases of P pairs; rows: int64[P, 4], see ScoredPiece.targets."""
    target_of, _ = number_sequences(Sequences(bitext.target_tokens, rows[:, 1].copy(), rows[:, 2].copy()))
    joint = rows[:, 3].astype(np.int32)
    totals = np.bincount(target_of, weights=joint)[target_of] if target_of.size else np.zeros(0)
    return TargetCounts(rows[:, 0].copy(), totals, np.log(joint / totals), target_of, joint)


def _phrase_table(
    bitext: AlignedBitext, lexicon: LexicalTable, occurrences: np.ndarray, groups: PairGroups
) -> PhraseTable:
    """The phrase table of one piece, with 0 for c(e) and ln p(f|e), which need the other pieces."""
    source_offsets, source_words = gather(source_phrases(bitext, occurrences[groups.source_first]))
    target_offsets, target_words = gather(target_phrases(bitext, occurrences[groups.pair_first]))
    alignment_offsets, codes = gather(internal_alignments(bitext, occurrences[groups.target_alignment])[0])
    joint_counts = np.bincount(groups.pair_of, minlength=groups.pair_first.size)
    source_counts = np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(joint_counts)])[groups.pair_offsets])
    ln_scores = np.zeros((joint_counts.size, 4))
    ln_lex = ln_lexical_weights(bitext, lexicon, occurrences, groups.target_alignment, groups.source_alignment)
    ln_scores[:, 1], ln_scores[:, 3] = ln_lex[:, 0], ln_lex[:, 1]
    ln_scores[:, 2] = np.log(joint_counts / np.repeat(source_counts, np.diff(groups.pair_offsets)))
    return PhraseTable(
        slots=NO_SLOTS,
        source_offsets=source_offsets,
        source_words=source_words,
        pair_offsets=groups.pair_offsets,
        target_offsets=target_offsets,
        target_words=target_words,
        ln_scores=ln_scores.astype(np.float32),
        alignment_offsets=alignment_offsets,
        alignment_points=np.column_stack((codes & 255, 255 - (codes >> 8))).astype(np.uint8),
        joint_counts=joint_counts.astype(np.int32),
        source_counts=source_counts.astype(np.int32),
        target_counts=np.zeros(joint_counts.size, np.int32),
    )


def _reordering_table(occurrences: np.ndarray, groups: PairGroups, settings: PhraseTableSettings) -> ReorderingTable:
    """Orientation counts of one piece's pairs, and ln probabilities with `smoothing` added to each orientation's count.

    Where the model is conditioned on the source phrase alone, the counts of all its pairs are added first.
    """
    n_pairs = groups.pair_first.size
    columns = [groups.pair_of * 4 + column for column in all_orientations(occurrences)]
    counted = [np.bincount(column, minlength=4 * n_pairs) for column in columns]
    counts = np.column_stack([count.reshape(n_pairs, 4) for count in counted]).astype(np.int32)
    model, probs, condition_counts = settings.reordering, [], counts.astype(np.int64)
    if model.condition == "f" and n_pairs:
        totals = np.add.reduceat(condition_counts, groups.pair_offsets[:-1])
        condition_counts = np.repeat(totals, np.diff(groups.pair_offsets), axis=0)
    in_column = np.array(COLUMNS[model.kind])[:, np.newaxis] == np.arange(max(COLUMNS[model.kind]) + 1)
    for direction in model.directions:
        first = 4 * (BACKWARD if direction == "backward" else FORWARD)
        smoothed = condition_counts[:, first : first + 4] @ in_column + settings.smoothing
        probs.append(smoothed / smoothed.sum(axis=1, keepdims=True))
    return ReorderingTable(floored_ln(np.column_stack(probs)), counts)  # without smoothing some probabilities are 0


def _spans(rows: np.ndarray, size: int) -> list[slice]:
    """Slices of the ascending `rows` (int64[P]): those below `size`, those below 2 * `size`, and so on."""
    if not rows.size:
        return []
    ends = np.searchsorted(rows, np.arange(size, int(rows[-1]) + size + 1, size)).tolist()
    return [slice(begin, end) for begin, end in pairwise([0, *ends]) if begin < end]
