"""Estimation of a phrase table with Moses' four scores, and of a lexicalized reordering table, from an aligned bitext.

p(f|e), lex(f|e), p(e|f), lex(e|f) as `extract`, `score` and `consolidate` of Moses compute them without smoothing
(Koehn et al. 2003, 2007), the first and third smoothed if wanted, and the orientation probabilities
of its `lexical-reordering-score`. Occurrences of phrase pairs are divided into pieces by source phrase and scored piece
by piece, then divided by target phrase for c(e): memory is bounded, and the result does not depend on the number of
pieces.
"""

from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Bytes, Factor, Section
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_directory, scratch_directory
from phrasebeam.base.progress import stage
from phrasebeam.base.spill import BucketFiles
from phrasebeam.decoder.extraction.occurrences import all_orientations
from phrasebeam.decoder.extraction.orientations import KINDS
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.features.reordering import BACKWARD, COLUMNS, FORWARD, SMOOTHING
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.tables.phrase_table import PhraseTable, ReorderingTable, floored_ln
from phrasebeam.decoder.tables.score_smoothing import Method, ScoreSmoothing
from phrasebeam.decoder.tables.table_writer import TableSizes, TableWriter
from phrasebeam.lm.text.corpus import Corpus
from phrasebeam.training.build.extraction import align_bitext, count_occurrences, extract
from phrasebeam.training.build.lexical import LexicalTable, lexical_table, ln_lexical_weights
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
    n_pieces = _n_pieces(int(counts.sum()), settings.memory_budget)
    with (
        atomic_directory(output / "reordering") as reordering,
        atomic_directory(output / "phrases") as phrases,
        scratch_directory(settings.scratch or output) as scratch,
    ):
        by_source = BucketFiles(scratch / "source", np.int32, 4)
        by_target = BucketFiles(scratch / "target", np.int64, 3)
        with stage("extract phrase pairs", counts.size, "sentence pairs") as advance:
            chunk = max(1, settings.memory_budget // BYTES_PER_OCCURRENCE)
            kind = KINDS[settings.reordering.orientation]
            for n_sentences, occurrences in extract(bitext, counts, settings.max_phrase_length, kind, chunk):
                hashes = hash_sequences(source_phrases(bitext, occurrences))
                by_source.scatter(_piece_of(hashes, n_pieces), occurrences)
                advance(n_sentences)
        writer = TableWriter(phrases, reordering, settings.reordering.n_columns, memory=settings.memory_budget)
        with writer, stage("score phrase pairs", n_pieces) as advance:
            lexicon = lexical_table(bitext)
            for i in range(n_pieces):
                rows, hashes = _score(bitext, lexicon, by_source.take(i), writer, settings)
                by_target.scatter(_piece_of(hashes, n_pieces), rows)
                advance(1)
        at_once = settings.memory_budget // MAPPED_BYTES_PER_PAIR
        types = TypeFile(scratch, writer.n_pairs) if settings.score_smoothing == "kneser-ney" else None
        with stage("count target phrases", n_pieces) as advance:
            for i in range(n_pieces):
                _fill_target_counts(bitext, by_target.take(i), phrases, at_once, types)
                advance(1)
        smoothing = _smooth(scratch, phrases, settings.score_smoothing, at_once)
        if types:
            types.copy(output)
    return BuiltTables(writer.sizes, smoothing)


def _smooth(scratch: Path, phrases: Path, method: Literal[Method, "none"], pairs_at_once: int) -> ScoreSmoothing | None:
    if method == "none":
        return None
    with stage("smooth the scores"):
        return smooth_scores(scratch, phrases, method, max(pairs_at_once, 1))


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


def _score(
    bitext: AlignedBitext,
    lexicon: LexicalTable,
    occurrences: np.ndarray,
    writer: TableWriter,
    settings: PhraseTableSettings,
) -> tuple[np.ndarray, np.ndarray]:
    """Score and append one piece's pairs; return their rows for `_fill_target_counts`, and uint64[P] target hashes."""
    groups = group_pairs(bitext, occurrences)
    targets = target_phrases(bitext, occurrences[groups.pair_first])
    rows = np.arange(writer.n_pairs, writer.n_pairs + groups.pair_first.size)
    writer.append(_phrase_table(bitext, lexicon, occurrences, groups), _reordering_table(occurrences, groups, settings))
    return np.column_stack((rows, targets.begins, targets.lengths)), hash_sequences(targets)


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


def _fill_target_counts(
    bitext: AlignedBitext, rows: np.ndarray, phrases: Path, pairs_at_once: int, types: TypeFile | None
) -> None:
    """Write c(e) and ln p(f|e) of P pairs to the files of the table, mapping `pairs_at_once` of its rows at a time.

    rows: int64[P, 3], row in the table (ascending, with gaps), first target token, target length. `types`: is written,
    too.
    """
    target_of, _ = number_sequences(Sequences(bitext.target_tokens, rows[:, 1].copy(), rows[:, 2].copy()))
    spans = _spans(rows[:, 0], max(pairs_at_once, 1))
    joint = np.zeros(len(rows), np.int32)
    for span in spans:
        joint[span] = np.load(phrases / "joint_counts.npy", mmap_mode="r")[rows[span, 0]]
    totals = np.bincount(target_of, weights=joint)[target_of] if target_of.size else np.zeros(0)
    ln_inverse = np.log(joint / totals)
    for span in spans:
        target_counts, ln_scores = (
            np.load(phrases / f"{name}.npy", mmap_mode="r+") for name in ("target_counts", "ln_scores")
        )
        target_counts[rows[span, 0]] = totals[span].astype(np.int32)
        ln_scores[rows[span, 0], 0] = ln_inverse[span]
    if types:
        types.write(rows[:, 0], target_of, joint, spans)


def _spans(rows: np.ndarray, size: int) -> list[slice]:
    """Slices of the ascending `rows` (int64[P]): those below `size`, those below 2 * `size`, and so on."""
    if not rows.size:
        return []
    ends = np.searchsorted(rows, np.arange(size, int(rows[-1]) + size + 1, size)).tolist()
    return [slice(begin, end) for begin, end in pairwise([0, *ends]) if begin < end]
