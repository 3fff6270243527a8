"""Checks of scores and alignment points of a model when sentences use them, as tables are too large to read whole."""

import math

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import NOT_FINITE, REORDERING_NOT_FINITE, TOO_LONG, TOO_MANY, Candidates
from phrasebeam.decoder.tables.phrase_table import TRAIN_AGAIN, PhraseTable

LANGUAGE_MODEL = "a language model gives scores that are not finite"


def check_candidates(candidates: Candidates, tables: Tables) -> None:
    """Raise ModelError if candidates.wrong has an error of pairs that were ranked, and clear it."""
    wrong = candidates.wrong
    if not wrong.any():
        return
    if wrong[TOO_MANY]:
        most = candidates.score.size
        message = f"model.yaml: max_pairs_per_source_phrase is {most}, a source phrase has {wrong[TOO_MANY]}"
    elif wrong[TOO_LONG]:
        longest = candidates.words.size
        message = f"model.yaml: max_target_phrase_length is {longest}, a target phrase has {wrong[TOO_LONG]} words"
    elif wrong[NOT_FINITE]:
        message = f"phrases/ln_scores.npy: {_shown(tables.phrases.ln_scores[wrong[NOT_FINITE] - 1])}"
    elif wrong[REORDERING_NOT_FINITE]:
        message = f"reordering/ln_scores.npy: {_shown(tables.ln_reordering[wrong[REORDERING_NOT_FINITE] - 1])}"
    else:
        message = LANGUAGE_MODEL
    wrong[:] = 0
    raise ModelError(f"{message}; {TRAIN_AGAIN}")


def check_score(score: float) -> None:
    """Raise ModelError if a score is no finite number, though those of the tables are."""
    if not math.isfinite(score):
        raise ModelError(f"{LANGUAGE_MODEL}; {TRAIN_AGAIN}")


def alignment_in(table: PhraseTable, pair: int, n_source: int, n_target: int) -> list[list[int]]:
    """The alignment points of a pair of so many words. Raises ModelError unless they lie inside it."""
    first, last = table.alignment_offsets[pair : pair + 2].tolist()
    if not 0 <= first <= last <= len(table.alignment_points):
        limit = len(table.alignment_points)
        message = f"alignment_offsets.npy: {first} and {last} at {pair}, expected ascending offsets from 0 to {limit}"
        raise ModelError(f"phrases/{message}; {TRAIN_AGAIN}")
    points: list[list[int]] = table.alignment_points[first:last].tolist()
    for at, (i, j) in enumerate(points, first):
        if i >= n_source or j >= n_target:
            message = f"{i}-{j} at {at}, expected points of {n_source} source and {n_target} target words"
            raise ModelError(f"phrases/alignment_points.npy: {message}; {TRAIN_AGAIN}")
    return points


def _shown(ln_scores: np.ndarray) -> str:
    return f"scores {' '.join(map(str, ln_scores.tolist()))} of a phrase pair, expected finite numbers"
