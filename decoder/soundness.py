"""What a model must not say, looked for as sentences come to use it: its tables are too large to be read whole."""

import math

import numpy as np

from decoder.candidates import NOT_FINITE, TOO_LONG, TOO_MANY, Candidates
from decoder.options import Options
from decoder.phrase_table import TRAIN_AGAIN
from decoder.tables import Tables
from lm.errors import ModelError


def check_options(candidates: Candidates, options: Options, n_options: int, tables: Tables) -> None:
    """Raise ModelError if the options of a sentence show that the model says what cannot be."""
    check_candidates(candidates, tables)
    used = slice(0, max(n_options, 0))
    backward, forward = options.backward[used], options.forward[used]
    if not math.isfinite(backward.sum() + forward.sum()):
        pair = options.pair[used][np.argmin(np.isfinite(backward + forward).all(axis=1))]
        raise ModelError(f"reordering/ln_scores.npy: {_shown(tables.ln_reordering[pair])}; {TRAIN_AGAIN}")
    check_score(options.estimate[used].sum())


def check_candidates(candidates: Candidates, tables: Tables) -> None:
    """Raise ModelError if something was wrong with pairs that were ranked, and forget it."""
    wrong = candidates.wrong
    if not wrong.any():
        return
    pair, message = int(wrong[NOT_FINITE]) - 1, ""
    if wrong[TOO_MANY]:
        most = candidates.score.size
        message = f"model.yaml: max_pairs_per_source_phrase is {most}, a source phrase has {wrong[TOO_MANY]}"
    elif wrong[TOO_LONG]:
        longest = candidates.words.size
        message = f"model.yaml: max_target_phrase_length is {longest}, a target phrase has {wrong[TOO_LONG]} words"
    else:
        message = f"phrases/ln_scores.npy: {_shown(tables.phrases.ln_scores[pair])}"
    wrong[:] = 0
    raise ModelError(f"{message}; {TRAIN_AGAIN}")


def check_score(score: float) -> None:
    """Raise ModelError if a score is no finite number, though those of the tables are."""
    if not math.isfinite(score):
        raise ModelError(f"a language model gives scores that are not finite; {TRAIN_AGAIN}")


def _shown(ln_scores: np.ndarray) -> str:
    return f"scores {' '.join(map(str, ln_scores.tolist()))} of a phrase pair, expected finite numbers"
