"""Scores of the phrase pairs of a piece, as `score` of Moses computes them, and counts of target phrases.

Phrase pairs are divided into pieces by source phrase. For c(e) and p(f|e) they are divided again, by target phrase.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Bytes, Factor, Section
from phrasebeam.base.side_by_side import Advance
from phrasebeam.decoder.extraction.occurrences import all_orientations
from phrasebeam.decoder.extraction.pairs import AlignedBitext
from phrasebeam.decoder.features.reordering import BACKWARD, COLUMNS, FORWARD, SMOOTHING
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.tables.phrase_table import PhraseTable, ReorderingTable, floored_ln
from phrasebeam.decoder.tables.score_smoothing import Method
from phrasebeam.training.model_building.config import N_SCORES
from phrasebeam.training.model_building.lexical import LexicalTable, ln_lexical_weights
from phrasebeam.training.model_building.map_and_reduce import (
    Shuffle,
    append_rows,
    divided,
    new_directory,
    occurrences_of,
    pairs_of,
    save_tuple,
)
from phrasebeam.training.model_building.phrase_pairs import (
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

NO_SLOTS = np.zeros(0, np.int64)


class PhraseTableSettings(Section):
    """How phrase pairs are extracted and scored."""

    max_phrase_length: int = Field(7, ge=1, le=255)  # words, on either side
    agreement: int = Field(1, ge=1, le=100)  # number of word alignments that must allow a phrase pair
    reordering: Reordering = Reordering()
    smoothing: Factor = SMOOTHING  # added to each orientation's count
    score_smoothing: Literal[Method, "none"] = "none"  # of p(f|e) and p(e|f)
    memory_budget: Bytes = Field(1 << 28, gt=0)  # bytes for phrase pairs, beside the bitext and its links
    scratch: Path | None = None  # directory for pairs beyond the budget; None: in the output directory


def source_hashes(bitext: AlignedBitext, occurrences: np.ndarray) -> np.ndarray:
    """The hash of the source phrase of each occurrence (uint64[K])."""
    return hash_sequences(source_phrases(bitext, occurrences))


class ScoredPiece(NamedTuple):
    """The phrase pairs of a piece of source phrases; c(e) and ln p(f|e) are still 0."""

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
    """Scores the phrase pairs of a piece of source phrases."""

    bitext: AlignedBitext
    lexicon: LexicalTable
    settings: PhraseTableSettings
    shuffle: Shuffle

    def __call__(self, piece: int, advance: Advance) -> Path:
        """Score the piece, and write it to files; return their directory."""
        scored = score_piece(self.bitext, self.lexicon, occurrences_of(self.shuffle, piece), self.settings)
        pieces = self.shuffle.piece_of(scored.target_hashes, self.shuffle.n_pieces)
        with new_directory(self.shuffle.scratch, f"scored-{piece}") as directory:
            save_tuple(scored.table._asdict(), directory / "phrases")
            save_tuple(scored.reordering._asdict(), directory / "reordering")
            for target_piece, rows in divided(pieces, scored.targets):
                append_rows(directory / f"target-{target_piece}", rows)
        advance(1)
        return self.shuffle.scratch / f"scored-{piece}"


def load_scored(directory: Path) -> tuple[PhraseTable, ReorderingTable]:
    """Read the tables of a piece that PieceScoring wrote, and remove their files."""
    kinds: dict[str, Any] = {"phrases": PhraseTable, "reordering": ReorderingTable}
    tables = []
    for name, kind in kinds.items():
        tables.append(kind(**{field: np.load(directory / name / f"{field}.npy") for field in kind._fields}))
        shutil.rmtree(directory / name)
    return tables[0], tables[1]


class TargetCounts(NamedTuple):
    """The missing values of P pairs, by their rows in the table; these are all pairs of some target phrases."""

    rows: np.ndarray  # int64[P], ascending, with gaps
    totals: np.ndarray  # float64[P], c(e)
    ln_inverse: np.ndarray  # float64[P], ln p(f|e)
    target_of: np.ndarray  # int64[P], number of the target phrase
    joint: np.ndarray  # int32[P]


@dataclass(frozen=True)
class TargetCounting:
    """Counts the target phrases of a piece of target phrases."""

    bitext: AlignedBitext
    shuffle: Shuffle
    first_rows: Sequence[int]  # first row in the table of each piece of source phrases

    def __call__(self, piece: int, advance: Advance) -> TargetCounts:
        """Count the target phrases of `piece`."""
        advance(1)
        return count_targets(self.bitext, pairs_of(self.shuffle, piece, self.first_rows))


def count_targets(bitext: AlignedBitext, rows: np.ndarray) -> TargetCounts:
    """Count the target phrases of P pairs; rows: int64[P, 4], see ScoredPiece.targets."""
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
    ln_scores = np.zeros((joint_counts.size, N_SCORES))
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

    If the model is conditioned on the source phrase alone, the counts of all pairs of a source phrase are summed first.
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
