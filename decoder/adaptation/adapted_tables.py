"""The tables of one sentence: the model's best pairs of its phrases and those of confirmed segments, in one table.

They have the layout of a model's tables, as those of held-out sentences do, so that no search knows the difference.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from phrasebeam.decoder.adaptation.dynamic_scores import DynamicScores, PairScores
from phrasebeam.decoder.adaptation.segment import Words
from phrasebeam.decoder.held_out.filtered_table import FilteredTables
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.sparse.sparse_features import PairPoints, Sparse
from phrasebeam.decoder.tables.phrase_table import LEAST_LN, SOURCE_GIVEN_TARGET, TARGET_GIVEN_SOURCE, PhraseTable
from phrasebeam.decoder.tables.ragged import taken
from phrasebeam.decoder.tables.source_slots import build_slots

NO_ROWS = np.zeros(0, np.int64)


def adapted_tables(
    whole: Tables, filtered: FilteredTables, scores: DynamicScores, words: Sequence[int], reference: Words | None
) -> FilteredTables:
    """The pairs of `filtered`, which lack alignment points, and those of confirmed segments, for a sentence of ids.

    `whole` are the tables that `filtered` were taken from. With `reference`, only pairs whose target phrase occurs in
    it are added. The numbers of the pairs in the model's table are their own: the tables stand for the model's.
    """
    phrases, origin = filtered.tables.phrases, cast(np.ndarray, filtered.origin)
    ln_scores = phrases.ln_scores.copy()
    sources, targets = (
        _split(phrases.source_offsets, phrases.source_words),
        _split(phrases.target_offsets, phrases.target_words),
    )
    number_of = {source: i for i, source in enumerate(sources)}
    dynamic = _dynamic_phrases(scores, words)
    _scale(ln_scores, phrases.pair_offsets, number_of, targets, dynamic, scores)
    row_of = {pair: row for row, pair in enumerate(origin.tolist())}
    own = _copied(filtered.tables, ln_scores)
    new = list[tuple[int, PairScores]]()
    for source in dynamic:
        for pair in scores.pairs(source):
            if pair.original in row_of:
                _write(own, row_of[pair.original], pair)
            elif reference is None or _occurs(pair.target, reference):
                new.append((number_of.setdefault(source, len(number_of)), pair))
    return _joined(whole, own, origin, list(number_of), new)


def _split(offsets: np.ndarray, words: np.ndarray) -> list[Words]:
    ends, ids = offsets.tolist(), words.tolist()
    return [tuple(ids[begin:end]) for begin, end in pairwise(ends)]


def _dynamic_phrases(scores: DynamicScores, words: Sequence[int]) -> list[Words]:
    """The phrases of a sentence that confirmed segments have, each once."""
    longest, pairs = scores.description.max_source_phrase_length, scores.dynamic.pairs
    spans = ((begin, end) for begin in range(len(words)) for end in range(begin + 1, begin + longest + 1))
    found = (tuple(words[begin:end]) for begin, end in spans if end <= len(words))
    return [phrase for phrase in dict.fromkeys(found) if phrase in pairs]


def _scale(
    ln_scores: np.ndarray,
    pair_offsets: np.ndarray,
    number_of: dict[Words, int],
    targets: Sequence[Words],
    dynamic: Sequence[Words],
    scores: DynamicScores,
) -> None:
    """Shrink p(e|f) and p(f|e) of the model's pairs (float32[P, K], in ln) as confirmed segments have f and e."""
    for source in dynamic:
        if source in number_of:
            first, last = pair_offsets[number_of[source] :][:2]
            ln_scores[first:last, TARGET_GIVEN_SOURCE] += np.log(max(scores.source_factor(source), 1e-40))
    factors = np.array([scores.target_factor(target) for target in targets])
    ln_scores[:, SOURCE_GIVEN_TARGET] += np.log(np.maximum(factors, 1e-40))
    np.maximum(ln_scores, LEAST_LN, out=ln_scores)


def _occurs(phrase: Words, reference: Words) -> bool:
    n = len(phrase)
    return any(reference[i : i + n] == phrase for i in range(len(reference) - n + 1))


def _copied(tables: Tables, ln_scores: np.ndarray) -> Tables:
    """Tables that can be written to: those of a filter are its own."""
    phrases = tables.phrases._replace(ln_scores=ln_scores, joint_counts=tables.phrases.joint_counts.copy())
    return tables._replace(phrases=phrases, ln_reordering=tables.ln_reordering.copy())


def _write(tables: Tables, row: int, pair: PairScores) -> None:
    """Write what confirmed segments make of the pair in a row."""
    tables.phrases.ln_scores[row], tables.phrases.joint_counts[row] = pair.ln_scores, pair.counts[0]
    if tables.ln_reordering.size:
        tables.ln_reordering[row] = pair.ln_reordering


def _joined(
    whole: Tables, old: Tables, origin: np.ndarray, sources: Sequence[Words], new: Sequence[tuple[int, PairScores]]
) -> FilteredTables:
    """The tables `old`, of the pairs `origin` (int64[P]) of the model's, and `new` pairs, with numbers of `sources`."""
    table, pairs = old.phrases, [pair for _, pair in new]
    source_of = np.repeat(np.arange(table.source_offsets.size - 1), np.diff(table.pair_offsets))
    source_of = np.concatenate([source_of, np.array([number for number, _ in new], np.int64)])
    order = np.argsort(source_of, kind="stable")
    targets = table.target_offsets, table.target_words
    offsets, columns = taken(whole.phrases.alignment_offsets, origin)
    points = offsets, whole.phrases.alignment_points[columns]
    source_offsets, source_words = _packed(sources, np.int32)
    target_offsets, target_words = _appended(targets, [pair.target for pair in pairs], order)
    alignment_offsets, alignment_points = _appended(points, [pair.points for pair in pairs], order)
    phrases = PhraseTable(
        slots=build_slots(source_offsets, source_words),
        source_offsets=source_offsets,
        source_words=source_words,
        pair_offsets=np.append(0, np.cumsum(np.bincount(source_of, minlength=len(sources)))),
        target_offsets=target_offsets,
        target_words=target_words,
        ln_scores=_with(table.ln_scores, [pair.ln_scores for pair in pairs])[order],
        alignment_offsets=alignment_offsets,
        alignment_points=alignment_points,
        joint_counts=_with(table.joint_counts, [pair.counts[0] for pair in pairs])[order],
        source_counts=_source_counts(table.source_counts, len(sources), new),
        target_counts=_with(table.target_counts, [pair.counts[2] for pair in pairs])[order],
    )
    ln_reordering = _with(old.ln_reordering, [pair.ln_reordering for pair in pairs if pair.ln_reordering])
    ln_reordering = ln_reordering[order] if old.ln_reordering.shape[1] else old.ln_reordering
    sparse = _sparse(old.sparse, phrases, order)
    operations = old.operations._replace(points=sparse.points)
    own = old._replace(phrases=phrases, ln_reordering=ln_reordering, sparse=sparse, operations=operations)
    return FilteredTables(own, np.arange(order.size))


def _packed(rows: Sequence[Sequence[object]], dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """int64[K + 1] offsets of the rows, and their items behind each other."""
    offsets = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)
    return offsets, np.array([item for row in rows for item in row], dtype)


def _appended(
    old: tuple[np.ndarray, np.ndarray], rows: Sequence[Sequence[object]], order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and items of `old` and behind it `rows`, then put in `order` (int64[P])."""
    offsets, items = _packed(rows, items_type := old[1].dtype.type)
    items = np.concatenate([old[1], items.reshape(-1, *old[1].shape[1:])]).astype(items_type)
    offsets, columns = taken(np.append(old[0], old[0][-1] + offsets[1:]), order)
    return offsets, items[columns]


def _with(old: np.ndarray, rows: Sequence[object]) -> np.ndarray:
    """The rows of `old`, and behind them `rows`."""
    return np.concatenate([old, np.array(rows, old.dtype).reshape(-1, *old.shape[1:])]) if rows else old


def _source_counts(old: np.ndarray, n_sources: int, new: Sequence[tuple[int, PairScores]]) -> np.ndarray:
    """int32[N] c(f), of phrases with new pairs as confirmed segments have it."""
    counts = np.zeros(n_sources, np.int32)
    counts[: old.size] = old
    for number, pair in new:
        counts[number] = pair.counts[1]
    return counts


def _sparse(old: Sparse, phrases: PhraseTable, order: np.ndarray) -> Sparse:
    """Sparse features of the joined table: those of single pairs are of the model's alone."""
    points = PairPoints(phrases.alignment_offsets, phrases.alignment_points, NO_ROWS)
    if not old.pair_keys.size:
        return old._replace(points=points)
    n_new = order.size + 1 - old.pair_offsets.size
    offsets = np.concatenate([old.pair_offsets, np.full(n_new, old.pair_offsets[-1])])
    offsets, columns = taken(offsets, order)
    keys, values = old.pair_keys[columns], old.pair_values[columns]
    return old._replace(points=points, pair_offsets=offsets, pair_keys=keys, pair_values=values)
