"""The tables of one sentence: the model's best pairs of its phrases and those of confirmed segments, in one table.

They have the layout of a model's tables, like those of held-out sentences, so that the search treats them alike.
"""

from itertools import pairwise
from typing import cast

import numpy as np

from phrasebeam.decoder.adaptation.confirmed_pairs import ConfirmedPairs, ConfirmedStatistics, Rows
from phrasebeam.decoder.adaptation.dynamic_scores import PairScores
from phrasebeam.decoder.held_out.filtered_table import FilteredTables
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.sparse.sparse_features import PairPoints, Sparse
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    LEAST_LN,
    SOURCE_GIVEN_TARGET,
    TARGET_GIVEN_SOURCE,
    PhraseTable,
)
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.decoder.tables.source_slots import build_slots, hash_phrases

NO_ROWS = np.zeros(0, np.int64)


def adapted_tables(
    whole: Tables,
    filtered: FilteredTables,
    statistics: ConfirmedStatistics,
    words: np.ndarray,
    reference: np.ndarray | None,
) -> FilteredTables:
    """Join the pairs of `filtered`, which lack alignment points, and of confirmed segments, for a sentence (int32[n]).

    `whole` are the tables from which `filtered` were taken. With `reference` (int32[m]), only pairs whose target phrase
    occurs in it are added. The pairs are numbered by their rows here, since these tables replace the model's.
    """
    phrases, origin = filtered.tables.phrases, cast(np.ndarray, filtered.origin)
    confirmed, ln_scores = statistics.pairs(words), phrases.ln_scores.copy()
    own = _copied(filtered.tables, ln_scores)
    known = hash_phrases(phrases.source_offsets, phrases.source_words)
    number_of = {key: number for number, key in enumerate(known.tolist())}
    keys = hash_phrases(*confirmed.sources).tolist()
    numbers = np.array([number_of.get(key, ABSENT) for key in keys], np.int64)
    _scale(own.phrases, numbers, confirmed, statistics)
    rows = _rows_of(confirmed.scores.original, origin)
    is_known = rows != ABSENT
    _write(own, rows[is_known], confirmed.scores, np.flatnonzero(is_known))
    is_new = ~is_known
    if reference is not None:
        is_new &= _occur(confirmed.targets, reference)
    new = np.flatnonzero(is_new)
    return _joined(whole, own, origin, confirmed, new, numbers)


def _rows_of(numbers: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """int64[P], rows of pairs (int64[P], numbers in the model's table or ABSENT) in `origin` (int64[R]), or ABSENT."""
    if not origin.size:
        return np.full(numbers.size, ABSENT, np.int64)
    order = np.argsort(origin)
    rows = order[np.minimum(np.searchsorted(origin, numbers, sorter=order), origin.size - 1)]
    return np.where((origin[rows] == numbers) & (numbers != ABSENT), rows, ABSENT)


def _scale(
    phrases: PhraseTable, numbers: np.ndarray, confirmed: ConfirmedPairs, statistics: ConfirmedStatistics
) -> None:
    """Reduce p(e|f) and p(f|e) of the model's pairs by the counts of f and e in confirmed segments.

    `numbers` (int64[E]): numbers of the source phrases of `confirmed` in the table, or ABSENT.
    """
    factors = np.ones(phrases.source_offsets.size - 1)
    factors[numbers[numbers != ABSENT]] = confirmed.factors[numbers != ABSENT]
    ln_factors = np.log(np.maximum(factors, 1e-40))
    phrases.ln_scores[:, TARGET_GIVEN_SOURCE] += np.repeat(ln_factors, np.diff(phrases.pair_offsets))
    keys = hash_phrases(phrases.target_offsets, phrases.target_words)
    of_targets = statistics.target_factors(keys, phrases.target_counts)
    phrases.ln_scores[:, SOURCE_GIVEN_TARGET] += np.log(np.maximum(of_targets, 1e-40))
    np.maximum(phrases.ln_scores, LEAST_LN, out=phrases.ln_scores)


def _occur(targets: Rows, reference: np.ndarray) -> np.ndarray:
    """bool[P], whether each target phrase occurs in the reference."""
    given = reference.tolist()
    found = {tuple(given[i:j]) for i in range(len(given)) for j in range(i + 1, len(given) + 1)}
    offsets, words = targets[0].tolist(), targets[1].tolist()
    return np.array([tuple(words[begin:end]) in found for begin, end in pairwise(offsets)], bool)


def _copied(tables: Tables, ln_scores: np.ndarray) -> Tables:
    """Tables that can be written to: the arrays of a filter belong to the filter."""
    phrases = tables.phrases._replace(ln_scores=ln_scores, joint_counts=tables.phrases.joint_counts.copy())
    return tables._replace(phrases=phrases, ln_reordering=tables.ln_reordering.copy())


def _write(tables: Tables, rows: np.ndarray, scores: PairScores, pairs: np.ndarray) -> None:
    """Write the scores of pairs (int64[K]) with confirmed counts to their rows (int64[K]) in the tables."""
    tables.phrases.ln_scores[rows] = scores.ln_scores[pairs]
    tables.phrases.joint_counts[rows] = scores.counts[pairs, 0]
    if tables.ln_reordering.size:
        tables.ln_reordering[rows] = scores.ln_reordering[pairs]


def _joined(
    whole: Tables, old: Tables, origin: np.ndarray, confirmed: ConfirmedPairs, new: np.ndarray, numbers: np.ndarray
) -> FilteredTables:
    """Join the tables `old`, of the pairs `origin` (int64[R]) of the model, and `new` pairs (int64[K]) of `confirmed`.

    `numbers` (int64[E]): numbers of the source phrases of `confirmed` in the old table, or ABSENT.
    """
    table, scores = old.phrases, confirmed.scores
    sources, numbers = _all_sources(table, confirmed, new, numbers)
    n_sources = sources[0].size - 1
    of_new = numbers[confirmed.source_of[new]]
    source_of = np.repeat(np.arange(table.source_offsets.size - 1), np.diff(table.pair_offsets))
    source_of = np.concatenate([source_of, of_new])
    order = np.argsort(source_of, kind="stable")
    offsets, columns = taken(whole.phrases.alignment_offsets, origin)
    points = offsets, whole.phrases.alignment_points[columns]
    targets = _chosen(_appended((table.target_offsets, table.target_words), _chosen(confirmed.targets, new)), order)
    points = _chosen(_appended(points, _chosen(confirmed.points, new)), order)
    source_counts = np.zeros(n_sources, np.int32)
    source_counts[: table.source_counts.size] = table.source_counts
    source_counts[of_new] = scores.counts[new, 1]
    phrases = PhraseTable(
        slots=build_slots(*sources),
        source_offsets=sources[0],
        source_words=sources[1],
        pair_offsets=np.append(0, np.cumsum(np.bincount(source_of, minlength=n_sources))),
        target_offsets=targets[0],
        target_words=targets[1],
        ln_scores=np.concatenate([table.ln_scores, scores.ln_scores[new]])[order],
        alignment_offsets=points[0],
        alignment_points=points[1],
        joint_counts=np.concatenate([table.joint_counts, scores.counts[new, 0]])[order],
        source_counts=source_counts,
        target_counts=np.concatenate([table.target_counts, scores.counts[new, 2]])[order],
    )
    ln_reordering = old.ln_reordering
    if ln_reordering.shape[1]:
        ln_reordering = np.concatenate([ln_reordering, scores.ln_reordering[new]])[order]
    sparse = _sparse(old.sparse, phrases, order)
    operations = old.operations._replace(points=sparse.points)
    own = old._replace(phrases=phrases, ln_reordering=ln_reordering, sparse=sparse, operations=operations)
    return FilteredTables(own, np.arange(order.size))


def _all_sources(
    table: PhraseTable, confirmed: ConfirmedPairs, new: np.ndarray, numbers: np.ndarray
) -> tuple[Rows, np.ndarray]:
    """The table's source phrases, then those that only new pairs have; and the numbers of those of `confirmed`."""
    with_new = np.unique(confirmed.source_of[new])
    added = with_new[numbers[with_new] == ABSENT]
    numbers = numbers.copy()
    numbers[added] = np.arange(added.size) + table.source_offsets.size - 1
    rows = _chosen(confirmed.sources, added)
    return _appended((table.source_offsets, table.source_words), rows), numbers


def _chosen(rows: Rows, order: np.ndarray) -> Rows:
    """Select rows (int64[K])."""
    offsets, columns = taken(rows[0], order)
    return offsets, rows[1][columns]


def _appended(old: Rows, new: Rows) -> Rows:
    return np.append(old[0], old[0][-1] + new[0][1:]), np.concatenate([old[1], new[1]])


def _sparse(old: Sparse, phrases: PhraseTable, order: np.ndarray) -> Sparse:
    """Sparse features of the joined table; only phrase pairs of the model have features of single pairs."""
    points = PairPoints(phrases.alignment_offsets, phrases.alignment_points, NO_ROWS)
    if not old.pair_keys.size:
        return old._replace(points=points)
    n_new = order.size + 1 - old.pair_offsets.size
    offsets = np.concatenate([old.pair_offsets, np.full(n_new, old.pair_offsets[-1])])
    offsets, columns = taken(offsets, order)
    keys, values = old.pair_keys[columns], old.pair_values[columns]
    return old._replace(points=points, pair_offsets=offsets, pair_keys=keys, pair_values=values)
