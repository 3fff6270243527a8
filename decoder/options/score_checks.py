"""Checks of a model's scores and alignment points when sentences use them; tables are too large to check as a whole."""

from collections.abc import Iterator, Sequence

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.options.candidates import (
    LARGEST_SCORE,
    NOT_FINITE,
    REORDERING_NOT_FINITE,
    TOO_LONG,
    TOO_MANY,
    WRONG_ESTIMATE,
    Lookup,
)
from phrasebeam.decoder.tables.language_models import TargetModel
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tables.phrase_table import PhraseTable


def check_candidates(lookup: Lookup, models: Sequence[TargetModel]) -> None:
    """Raise ModelError if lookup.candidates.wrong records an error in the ranked pairs, and clear it.

    `models` are the language models.
    """
    if lookup.candidates.wrong.any():
        wrong = lookup.candidates.wrong.tolist()
        lookup.candidates.wrong[:] = 0
        raise ModelError(f"{_finding(lookup, wrong, models)}; {TRAIN_AGAIN}")


def _finding(lookup: Lookup, wrong: list[int], models: Sequence[TargetModel]) -> str:
    """The error in the candidates, as text. Raises ModelError if it is in a language model."""
    tables, candidates = lookup.tables, lookup.candidates
    if wrong[TOO_MANY]:
        most = candidates.heap.size
        return f"model.yaml: max_pairs_per_source_phrase is {most}, a source phrase has {wrong[TOO_MANY]}"
    if wrong[TOO_LONG]:
        longest = candidates.words.size
        return f"model.yaml: max_target_phrase_length is {longest}, a target phrase has {wrong[TOO_LONG]} words"
    for name, scores in _scores_of(tables, wrong[NOT_FINITE] - 1, wrong[REORDERING_NOT_FINITE] - 1):
        if not np.isfinite(scores).all():
            shown = " ".join(map(str, scores.tolist()))
            return f"{name}: scores {shown} of a phrase pair, expected finite numbers"
    if wrong[WRONG_ESTIMATE]:
        lm_words = _lm_words(lookup, wrong[WRONG_ESTIMATE] - (wrong[WRONG_ESTIMATE] > 0))
        check_language_models(models, [(ids, False) for ids in lm_words.T])
    return too_large(tables)


def _scores_of(tables: Tables, pair: int, reordered: int) -> Iterator[tuple[str, np.ndarray]]:
    """The file and the scores of a `pair`, then those of the pair `reordered` in the reordering table (-1: none)."""
    if pair >= 0:
        name = "codebook" if tables.phrases.codebook.size else "ln_scores"
        yield f"phrases/{name}.npy", tables.phrases.scores_of(pair)
    if pair >= 0 and tables.sparse.pair_keys.size:
        yield "sparse/pairs/values.npy", tables.sparse.pair_values[slice(*tables.sparse.pair_offsets[pair : pair + 2])]
    if reordered >= 0:
        yield "reordering/ln_scores.npy", tables.ln_reordering[reordered]


def _lm_words(lookup: Lookup, pair: int) -> np.ndarray:
    """int32[n, L], the language models' ids of the target words of `pair`, which is synthetic if negative."""
    table, synthetic = lookup.tables.phrases, lookup.sentence.synthetic
    if pair >= 0:
        return lookup.tables.lms.word_ids[table.target_words[slice(*table.target_offsets[pair : pair + 2])]]
    ids = np.concatenate([lookup.tables.lms.word_ids, synthetic.lm_ids])
    return ids[synthetic.target_words[slice(*synthetic.target_offsets[-1 - pair :][:2])]]


def check_language_models(models: Sequence[TargetModel], texts: Sequence[tuple[np.ndarray, bool]]) -> None:
    """Raise ModelError if a language model is damaged where it scores its text: (LM ids, whether they follow <s>)."""
    for one, (ids, begin) in zip(models, texts):
        one.model.score_ids(np.ascontiguousarray(ids, np.int32), begin)


def too_large(tables: Tables) -> str:
    """The error, as text, for sums of scores that are not finite although the single scores of the model are."""
    if not np.isfinite(tables.sparse.weights.values).all():
        return "weights of sparse features that are not finite"
    return f"weights that make scores not finite, or larger than {LARGEST_SCORE:g}, expected smaller ones"


def alignment_in(table: PhraseTable, pair: int, n_source: int, n_target: int) -> list[list[int]]:
    """The alignment points of a pair with these numbers of words. Raises ModelError unless all lie inside the pair."""
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
