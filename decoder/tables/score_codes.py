"""Phrase scores in 8 bits: each is a code for one of the 256 scores in the codebook of its column.

Half of the codes are spaced evenly, which bounds the largest difference. The other half are spaced by the cube root of
the density of scores, which makes the mean difference small (Panter & Dite 1951). Some rounds of Lloyd's algorithm
(1982), k-means in one dimension, move both halves towards the scores. Each score gets the code of the nearest one. On
Multi30k the largest and the mean difference of ln lex(e|f) are 0.18 and 0.032; they would be 13.7 and 0.041 with
quantiles, 0.095 and 0.047 with even spacing.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from phrasebeam.base.array_file import ArrayWriter
from phrasebeam.base.config import Section
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.tables.model_files import N_CODES
from phrasebeam.decoder.tables.phrase_table import open_phrase_table

EXACT: Literal[32] = 32  # bits of an uncoded score
BIN_SHIFT, N_BINS = 12, 1 << 20  # bins of a histogram: the upper 20 bits of a float32, steps of at most 0.05 %
ROUNDS = 10  # of Lloyd's algorithm
ROWS_AT_ONCE = 1 << 20
GRID = 4 * N_CODES  # number of parts of the range of scores, for each of which the density is computed


class ScoreSettings(Section):
    """Settings of how the scores of phrase pairs are stored."""

    score_bits: Literal[8, 32] = Field(
        EXACT,
        description=(
            "bits for each score of a phrase pair; 8: the nearest of 256 values, and the differences are reported"
        ),
    )


class ScoreLoss(Section):
    """Loss by 8-bit codes: differences of ln scores, by column of the phrase table."""

    largest: list[float] = Field(max_length=1000)
    mean: list[float] = Field(max_length=1000)

    def __str__(self) -> str:
        columns = zip(self.largest, self.mean)
        return ", ".join(f"{largest:.2g} ({mean:.2g} on average)" for largest, mean in columns)


def quantize_scores(phrases: Path) -> ScoreLoss:
    """Write score_codes.npy and codebook.npy to the folder of a phrase table, replacing its ln_scores.npy."""
    ln_scores = open_phrase_table(phrases).ln_scores
    with stage("choosing 8-bit scores"):
        codebook = np.column_stack([codebook_of(column) for column in ln_scores.T])
    writers = (
        ArrayWriter(phrases / "codebook.npy", np.float32, codebook.shape[1:]),
        ArrayWriter(phrases / "score_codes.npy", np.uint8, codebook.shape[1:]),
    )
    writers[0].append(codebook)
    largest, total = np.zeros(codebook.shape[1]), np.zeros(codebook.shape[1])
    for first in range(0, len(ln_scores), ROWS_AT_ONCE):
        piece = ln_scores[first : first + ROWS_AT_ONCE]
        codes = codes_of(codebook, piece)
        differences = np.abs(np.take_along_axis(codebook, codes, axis=0) - piece)
        np.maximum(largest, differences.max(axis=0, initial=0), out=largest)
        total += differences.sum(axis=0, dtype=np.float64)
        writers[1].append(codes)
    for writer in writers:
        writer.close()
    (phrases / "ln_scores.npy").unlink()
    loss = ScoreLoss(largest=largest.tolist(), mean=(total / max(1, len(ln_scores))).tolist())
    log.info("scores of phrase pairs in 8 bits; ln scores differ by at most %s", loss)
    return loss


def codes_of(codebook: np.ndarray, ln_scores: np.ndarray) -> np.ndarray:
    """uint8[P, K], the codes of `ln_scores` (float32[P, K]) in the codebook (float32[N_CODES, K])."""
    middles = (codebook[:-1].astype(np.float64) + codebook[1:]) / 2
    columns = [np.searchsorted(middle, column) for middle, column in zip(middles.T, ln_scores.T)]
    return np.column_stack(columns).astype(np.uint8)


def codebook_of(scores: np.ndarray) -> np.ndarray:
    """float32[N_CODES], ascending: the scores that represent `scores` (float32[P])."""
    means, counts = _histogram(scores)
    if means.size <= N_CODES:
        return np.pad(means, (0, N_CODES - means.size), "edge").astype(np.float32)
    chosen = _first_choice(means, counts)
    for _ in range(ROUNDS):
        nearest = np.searchsorted((chosen[:-1] + chosen[1:]) / 2, means)
        weights = np.bincount(nearest, counts, N_CODES)
        sums = np.bincount(nearest, counts * means, N_CODES)
        chosen = np.where(weights > 0, sums / np.maximum(weights, 1), chosen)
    return chosen.astype(np.float32)


def _histogram(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float64[B] means of bins of similar scores, ascending, and float64[B] the number of scores in each bin."""
    counts, sums = np.zeros(N_BINS), np.zeros(N_BINS)
    for first in range(0, scores.size, ROWS_AT_ONCE):
        piece = np.ascontiguousarray(scores[first : first + ROWS_AT_ONCE])
        bins = piece.view(np.uint32) >> BIN_SHIFT
        counts += np.bincount(bins, minlength=N_BINS)
        sums += np.bincount(bins, piece, N_BINS)
    used = np.flatnonzero(counts) if scores.size else np.zeros(1, np.int64)
    means = sums[used] / np.maximum(counts[used], 1)
    order = np.argsort(means)
    return means[order], counts[used][order]


def _first_choice(means: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """float64[N_CODES] scores, ascending, with which Lloyd's algorithm starts."""
    edges = np.linspace(means[0], means[-1], GRID + 1)
    roots = np.cbrt(np.histogram(means, edges, weights=counts)[0])
    reached = np.append(0.0, np.cumsum(roots / roots.sum() + 1 / GRID))
    return np.interp((np.arange(N_CODES) + 0.5) / N_CODES * reached[-1], reached, edges)
