"""The phrase table filtered for one sentence: only some pairs, or the scores that leave-one-out gives them.

Forced decoding needs only pairs whose target phrase occurs in the reference. Leave-one-out subtracts the counts of the
sentence pair, see leave_one_out.py. Both make Tables with the layout of the model's tables.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.base.pool import ScratchArrays
from phrasebeam.decoder.features.reordering import BACKWARD, FORWARD, N_ORIENTATIONS, SMOOTHING
from phrasebeam.decoder.held_out.leave_one_out import (
    KEEP_ALL,
    MODES,
    NO_COUNTS,
    SINGLETONS,
    check_frequencies,
    held_out_counts,
)
from phrasebeam.decoder.held_out.phrase_filter import (
    EXTRA_PAIRS,
    FIRST_WORDS,
    FilteredPairs,
    FilterQuery,
    count_candidates,
    filter_pairs,
    new_filtered_pairs,
)
from phrasebeam.decoder.input.sentence_input import HeldOutPair
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.operations.operation_model import operations_of
from phrasebeam.decoder.options.candidate_cache import clear_candidate_cache
from phrasebeam.decoder.options.candidates import RankingWeights, lookup_of_pairs, new_candidates
from phrasebeam.decoder.options.score_checks import check_candidates
from phrasebeam.decoder.sparse.sparse_features import sparse_of
from phrasebeam.decoder.tables.model_files import TYPES
from phrasebeam.decoder.tables.phrase_table import (
    ABSENT,
    LEAST_LN,
    SOURCE_GIVEN_TARGET,
    TARGET_GIVEN_SOURCE,
    PhraseTable,
    ln_score,
)
from phrasebeam.decoder.tables.score_smoothing import ln_smoothed, type_of
from phrasebeam.kernels.jit import inlined_kernel, kernel

LN_SINGLETON = np.float32(-20.0)  # mode PENALTY: ln of both probabilities of a pair whose count becomes 0
UNCHANGED = -1  # replaces the first count: the model's scores remain valid
NO_ORIGIN = np.zeros(0, np.int64)  # for kernels, instead of None
NO_POINTS: dict[str, np.ndarray] = {
    "alignment_offsets": np.zeros(1, np.int64),
    "alignment_points": np.zeros((0, 2), np.uint8),
}


class FilteredTables(NamedTuple):
    """Tables of P pairs, and the numbers of these pairs in the model's tables."""

    tables: Tables
    origin: np.ndarray | None  # int64[P]; None: the tables are the model's


def original_pairs(pairs: np.ndarray, origin: np.ndarray | None) -> np.ndarray:
    """int64[K], numbers of `pairs` (int64[K]) in the model's table; synthetic pairs, which are negative, stay."""
    if origin is None or not origin.size:
        return pairs
    return np.where(pairs < 0, pairs, origin[np.maximum(pairs, 0)])


@kernel
def copy_pairs(tables: Tables, counts, by_source, query: FilterQuery, filtered: FilteredPairs, output: Tables):
    """Copy the pairs of `filtered` from `tables` to `output`, subtracting held-out counts, except for the hash table.

    `counts` (int32[P, 8]) are those of the ReorderingTable; with `by_source` its scores depend on source phrases alone.
    """
    whole, phrases, held_out = tables.phrases, output.phrases, query.held_out
    n_words, n_target_words = np.int64(0), np.int64(0)
    phrases.source_offsets[0], phrases.pair_offsets[0], phrases.target_offsets[0] = 0, 0, 0
    for number in range(phrases.source_counts.size):
        for i in range(filtered.begin[number], filtered.end[number]):
            phrases.source_words[n_words] = query.words[i]
            n_words += 1
        phrases.source_offsets[number + 1], phrases.pair_offsets[number + 1] = (
            n_words,
            filtered.pair_offsets[number + 1],
        )
        held_out_f, c_f = filtered.held_out_source[number], np.int64(whole.source_counts[filtered.source[number]])
        if held_out_f != ABSENT:
            c_f -= held_out.source_counts[held_out_f]
        phrases.source_counts[number] = c_f
        _count_types(whole, query, held_out_f, filtered.source[number])
        if by_source:
            _count_source(
                tables.phrases, counts, held_out, held_out_f, filtered.source[number], query.orientation_counts
            )
        for row in range(filtered.pair_offsets[number], filtered.pair_offsets[number + 1]):
            pair = filtered.pair[row]
            for i in range(whole.target_offsets[pair], whole.target_offsets[pair + 1]):
                phrases.target_words[n_target_words] = whole.target_words[i]
                n_target_words += 1
            phrases.target_offsets[row + 1] = n_target_words
            _copy_scores(whole, phrases, query, filtered, row, held_out_f, c_f)
            for column in range(output.ln_reordering.shape[1]):
                output.ln_reordering[row, column] = tables.ln_reordering[pair, column]
            if not by_source:
                _count_pair(counts, held_out, np.int64(filtered.held_out_pair[row]), pair, query.orientation_counts)
            if query.orientation_counts[0] != UNCHANGED:
                _fill_orientations(tables.orientations, query.orientation_counts, output.ln_reordering[row])


@inlined_kernel
def _copy_scores(whole, phrases, query, filtered, row, held_out_f, c_f):
    """Copy the counts of a pair minus held-out counts, and its scores, with p(f|e) and p(e|f) estimated from these."""
    held_out, pair, held_out_e, held_out_fe = (
        query.held_out,
        filtered.pair[row],
        np.int64(filtered.held_out_target[row]),
        np.int64(filtered.held_out_pair[row]),
    )
    joint, c_e = np.int64(whole.joint_counts[pair]), np.int64(whole.target_counts[pair])
    if held_out_e != ABSENT:
        c_e -= held_out.target_counts[held_out_e]
    if held_out_fe != ABSENT:
        joint -= held_out.pair_counts[held_out_fe]
    phrases.joint_counts[row], phrases.target_counts[row] = joint, c_e
    for column in range(whole.ln_scores.shape[1]):
        phrases.ln_scores[row, column] = ln_score(whole, pair, column)
    if held_out_fe != ABSENT and joint <= 0:
        phrases.ln_scores[row, SOURCE_GIVEN_TARGET] = LN_SINGLETON
        phrases.ln_scores[row, TARGET_GIVEN_SOURCE] = LN_SINGLETON
    elif held_out_e != ABSENT or held_out_f != ABSENT:
        _smooth(phrases, query, pair, row, held_out_f, held_out_e, c_f)


@inlined_kernel
def _smooth(phrases, query, pair, row, held_out_f, held_out_e, c_f):
    """Compute p(f|e) and p(e|f) of a pair from the counts in `phrases` and, for Kneser-Ney, the types of both."""
    discounting, n_of_f, n_of_e, left_by_f, left_by_e = query.discounting, np.int64(0), np.int64(0), 0.0, 0.0
    if discounting.target_types.shape[0] > 0:
        for k in range(TYPES):
            n = np.int64(discounting.target_types[pair, k])
            if held_out_e != ABSENT:
                n += query.held_out.target_types[held_out_e, k]
            n_of_e += n
            left_by_e += n * discounting.discounts[k + 1]
            n_of_f += query.source_types[k]
            left_by_f += query.source_types[k] * discounting.discounts[k + 1]
    joint, c_e = np.int64(phrases.joint_counts[row]), np.int64(phrases.target_counts[row])
    phrases.ln_scores[row, SOURCE_GIVEN_TARGET] = ln_smoothed(discounting, joint, c_e, left_by_e, n_of_f)
    phrases.ln_scores[row, TARGET_GIVEN_SOURCE] = ln_smoothed(discounting, joint, c_f, left_by_f, n_of_e)


@inlined_kernel
def _count_types(phrases, query, held_out_f, source):
    """Write how many pairs of a source phrase have count 1, 2, 3 or more after subtraction, if smoothing needs it."""
    if query.discounting.target_types.shape[0] > 0:
        for k in range(TYPES):
            query.source_types[k] = 0 if held_out_f == ABSENT else query.held_out.source_types[held_out_f, k]
        for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
            query.source_types[type_of(np.int64(phrases.joint_counts[pair]))] += 1


@inlined_kernel
def _count_pair(counts, held_out, held_out_fe, pair, remaining):
    """Write the orientation counts of a pair minus held-out counts to `remaining` (int64[8]), or UNCHANGED."""
    remaining[0] = UNCHANGED
    if held_out_fe != ABSENT and counts.shape[0] > 0 and _has_counts(counts, pair):
        for column in range(remaining.size):
            remaining[column] = counts[pair, column] - held_out.pair_orientations[held_out_fe, column]


@inlined_kernel
def _count_source(phrases, counts, held_out, held_out_f, source, remaining):
    """Write the orientation counts of a source phrase minus held-out counts to `remaining`, or UNCHANGED."""
    remaining[0] = UNCHANGED
    first = phrases.pair_offsets[source]
    if held_out_f != ABSENT and counts.shape[0] > 0 and _has_counts(counts, first):
        for column in range(remaining.size):
            remaining[column] = -held_out.source_orientations[held_out_f, column]
            for pair in range(first, phrases.pair_offsets[source + 1]):
                remaining[column] += counts[pair, column]


@inlined_kernel
def _has_counts(counts, pair):
    """Whether the pair has counts of orientations; in imported tables no pair has them."""
    return counts[pair, 0] + counts[pair, 1] + counts[pair, 2] + counts[pair, 3] > 0


@inlined_kernel
def _fill_orientations(model, counts, ln_scores):
    """Write the scores of all columns of the reordering model, estimated from `counts` (int64[8]) as in training."""
    for direction in (BACKWARD, FORWARD):
        for orientation in range(N_ORIENTATIONS):
            column = model.columns[direction, orientation]
            if column == ABSENT:
                continue
            total, same, n_columns = 0.0, 0.0, 0
            for other in range(N_ORIENTATIONS):
                count = np.float64(counts[N_ORIENTATIONS * direction + other])
                total += count
                same += count if model.columns[direction, other] == column else 0.0
                n_columns = max(n_columns, model.columns[direction, other] - model.columns[direction, 0] + 1)
            share = (same + SMOOTHING) / (total + SMOOTHING * n_columns)
            ln_scores[column] = max(np.log(share), LEAST_LN)


class TableFilter:
    """Filters a model's tables for sentences; for one thread, as each result overwrites the previous one."""

    def __init__(self, model: Model, tables: Tables, ranking: RankingWeights, longest: int, table_limit: int):
        """`tables` are the model's, with weights; source phrases of up to `longest` words are looked up.

        `ranking` ranks the pairs of a source phrase if `table_limit` (0: none) leaves some of them out.
        """
        self.model, self.tables, self.longest, self.table_limit = model, tables, longest, table_limit
        self.scratch, self.has_frequencies = ScratchArrays(), False
        orders, longest_target = tables.lms.orders, max(model.description.max_target_phrase_length, 1)
        # With weights by length, p(e|f) does not change the scores of all pairs by the same amount;
        # nor with Kneser-Ney, where the change depends on the target phrase.
        is_alike = not ranking.dense.length_groups.size and not len(model.discounting.target_types)
        is_limited = table_limit > 0 and is_alike
        limit = table_limit + EXTRA_PAIRS if is_limited else 0
        candidates = new_candidates(max(model.most_pairs, 1), longest_target, limit, orders.size, tables.sparse)
        ranking = ranking._replace(is_own=False)  # scores are not used here
        self.lookup = lookup_of_pairs(tables, ranking.dense, ranking, limit, candidates)

    def reweigh(self, tables: Tables, ranking: RankingWeights, is_ranked_alike: bool) -> None:
        """Use the weights of `tables`, and rank by `ranking` from now on; language models and operation models stay.

        `is_ranked_alike`: whether pairs were ranked by the same weights before.
        """
        lms = self.tables.lms._replace(ln_weights=tables.lms.ln_weights)
        ranking = ranking._replace(is_own=False)
        self.tables = tables._replace(lms=lms, operations=self.tables.operations)
        self.lookup = self.lookup._replace(tables=self.tables, weights=ranking.dense, ranking=ranking)
        if not is_ranked_alike:
            clear_candidate_cache(self.lookup.candidates.cache)

    def filter(self, words: np.ndarray, reference: np.ndarray | None, held_out: HeldOutPair | None) -> FilteredTables:
        """The tables for a sentence with the source ids `words` (int32[n]).

        With `reference` (int32[m]), only pairs whose target phrase occurs in it; with `held_out`, scores as of a model
        that was not trained on that pair. Raises ModelError if the model was not trained on it, or has no counts.
        """
        query = self._query(words, reference, held_out)
        n_candidates = count_candidates(self.tables.phrases, words, self.longest)
        filtered = new_filtered_pairs(query, n_candidates, self.scratch)
        filter_pairs(self.lookup._replace(limit=0) if query.is_forced else self.lookup, query, filtered)
        check_candidates(self.lookup, self.model.language_models)
        if filtered.missing[0] > 0:
            raise ModelError(
                f"leave-one-out: {filtered.missing[0]} phrase pairs of the sentence pair are not in the model, or not "
                "as often; give sentences that the model was made of, and its word alignment"
            )
        output, reordering = self._new_tables(filtered), self.model.description.reordering
        by_source = reordering is not None and reordering.condition == "f"
        copy_pairs(self.tables, self.model.reordering_counts, by_source, query, filtered, output)
        origin = filtered.pair[: filtered.sizes[2]]
        sparse, operations = sparse_of(self.tables.sparse, origin), operations_of(self.tables.operations, origin)
        return FilteredTables(output._replace(sparse=sparse, operations=operations), origin)

    def _query(self, words: np.ndarray, reference: np.ndarray | None, held_out: HeldOutPair | None) -> FilterQuery:
        counts, mode = NO_COUNTS, KEEP_ALL
        if held_out is not None:
            if not self.has_frequencies:
                check_frequencies(self.tables.phrases, self.model.discounting)
                self.has_frequencies = True
            mode = MODES[held_out.mode]
            counts = NO_COUNTS if mode == SINGLETONS else held_out_counts(self.model, words, held_out)
        target = counts.target_words if reference is None else reference
        first_words = np.zeros(FIRST_WORDS, np.bool_)
        first_words[target & (FIRST_WORDS - 1)] = True
        is_forced, scratch = reference is not None, np.zeros(2 * N_ORIENTATIONS, np.int64)
        limits = self.table_limit, scratch, self.model.discounting, np.zeros(TYPES, np.int64)
        return FilterQuery(words, self.longest, target, first_words, is_forced, counts, mode, *limits)

    def _new_tables(self, filtered: FilteredPairs) -> Tables:
        n_sources, n_source_words, n_pairs, n_target_words = filtered.sizes.tolist()
        whole, take = self.tables, self.scratch.take
        phrases = PhraseTable(
            slots=filtered.slots,
            source_offsets=take("source_offsets", np.int64, n_sources + 1),
            source_words=take("source_words", np.int32, n_source_words),
            pair_offsets=take("pair_offsets", np.int64, n_sources + 1),
            target_offsets=take("target_offsets", np.int64, n_pairs + 1),
            target_words=take("target_words", np.int32, n_target_words),
            ln_scores=take("ln_scores", np.float32, n_pairs, whole.phrases.ln_scores.shape[1]),
            **NO_POINTS,
            joint_counts=take("joint_counts", np.int32, n_pairs),
            source_counts=take("source_counts", np.int32, n_sources),
            target_counts=take("target_counts", np.int32, n_pairs),
        )
        ln_reordering = take("ln_reordering", np.float32, n_pairs, whole.ln_reordering.shape[1])
        return whole._replace(phrases=phrases, ln_reordering=ln_reordering)
