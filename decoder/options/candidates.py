"""The pairs of one source phrase, ranked as Moses does: by weighted scores plus the language model's estimate.

The estimate is the language model's score of the target phrase without preceding context.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.dense import DenseWeights
from phrasebeam.decoder.features.language_model import States, forget_context, new_states, score_phrase, weighted_ln
from phrasebeam.decoder.features.pair import score_pair
from phrasebeam.decoder.features.reordering import BACKWARD, FORWARD, N_ORIENTATIONS, weighted_orientation
from phrasebeam.decoder.features.stateful import (
    NO_COLUMNS,
    FeatureMemory,
    estimate_phrase,
    has_estimates,
    new_feature_memory,
)
from phrasebeam.decoder.features.stateful_feature import SMALLEST_ROOM
from phrasebeam.decoder.input.lattice_paths import source_words, weighted_input
from phrasebeam.decoder.model.tables import Sentence, Tables, empty_sentence, read_target, target_length
from phrasebeam.decoder.options.candidate_cache import CandidateCache, keep, new_candidate_cache, recall
from phrasebeam.decoder.sparse.span_edges import SpanEdges, score_rule
from phrasebeam.decoder.sparse.sparse_features import (
    Sparse,
    SparseFeatureBuffer,
    most_sparse_features,
    new_sparse_features,
)
from phrasebeam.decoder.sparse.template_kernels import score_pair_alone
from phrasebeam.decoder.sparse.templates import PAIR_SPARSE
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.kernels.ordering import is_worse, push, sift_down, sort_best_first

ZERO = np.int64(0)
# Indices of Candidates.wrong; a value of 0 means no error. Kernels never read or write beyond the arrays
TOO_MANY = 0  # number of pairs of a source phrase, if more than M
TOO_LONG = 1  # number of words of a target phrase, if more than W
NOT_FINITE = 2  # 1 + a pair whose scores are not finite
REORDERING_NOT_FINITE = 3  # 1 + a pair whose reordering scores are not finite
WRONG_ESTIMATE = 4  # 1 + a pair, or a synthetic pair (negative), whose estimate is no score
SYNTHETIC_ROOM = 64  # initial room for the synthetic pairs of a sentence
LARGEST_SCORE = 1e100  # sums and differences of several such scores are finite


class Candidates(NamedTuple):
    """The pairs of one source phrase while they are ranked, at most M, with target phrases of up to W words.

    Their scores are followed by those of the sentence's synthetic pairs, up to I in all, see item_of.
    """

    score: Annotated[np.ndarray, array(np.float64, "I")]  # weighted, without the language model
    estimate: Annotated[np.ndarray, array(np.float64, "I")]  # score plus the language model's estimate
    bound: Annotated[np.ndarray, array(np.float64, "I")]  # upper bound of score plus language model in any context
    heap: Annotated[np.ndarray, array(np.int64, "M")]  # indices of the best pairs; best first after `choose`
    words: Annotated[np.ndarray, array(np.int32, "W")]  # scratch space: ids of a target phrase
    lm_words: Annotated[np.ndarray, array(np.int32, "W", "L")]  # scratch space: LM ids of a target phrase
    first_pair: Annotated[np.ndarray, array(np.int64, 1)]  # first pair of the source phrase
    cache: CandidateCache
    fired: SparseFeatureBuffer  # scratch space: sparse features of a pair
    span: SpanEdges  # of the span whose pairs are scored
    wrong: Annotated[np.ndarray, array(np.int64, 5)]  # errors in the model, see TOO_MANY


class RankingWeights(NamedTuple):
    """The weights by which the table limit selects the pairs of a source phrase."""

    dense: DenseWeights
    ln_language_model: np.ndarray  # float64[L], weights of the language models
    is_own: bool  # whether they differ from the weights by which options are scored


class Lookup(NamedTuple):
    """The arguments of the kernels that look up the options of a sentence."""

    sentence: Sentence
    tables: Tables
    weights: DenseWeights
    ranking: RankingWeights
    limit: int  # table limit: the most pairs of a source phrase, 0 for all
    candidates: Candidates
    states: States
    memory: FeatureMemory
    columns: np.ndarray = NO_COLUMNS  # int64[len(WITH_HISTORY)], see history_columns
    is_lazy: bool = False  # whether options may be completed later, see fill_options


def lookup_of_pairs(
    tables: Tables, weights: DenseWeights, ranking: RankingWeights, limit: int, candidates: Candidates
) -> Lookup:
    """The arguments of `choose`, for pairs of any sentence."""
    return Lookup(
        sentence=empty_sentence(tables.lms.orders.size),
        tables=tables,
        weights=weights,
        ranking=ranking,
        limit=limit,
        candidates=candidates,
        states=new_states(tables.lms.orders, 2, memo_size=0),
        memory=new_feature_memory(tables, SMALLEST_ROOM),
    )


class OptionPhrase(NamedTuple):
    """A phrase pair over a span of the sentence."""

    pair: np.int64  # negative: one of SyntheticPairs
    words: np.ndarray  # int32[W] target ids; the first `size` of these are the phrase
    size: np.int64
    begin: np.int64  # source words, half open, see source_words
    end: np.int64


def new_candidates(most: int, longest: int, table_limit: int, n_models: int, sparse: Sparse) -> Candidates:
    """Candidates with room for `most` pairs of a source phrase, and target phrases of up to `longest` words."""
    cache = new_candidate_cache(min(table_limit, most))
    fired = new_sparse_features(most_sparse_features(sparse), sparse.begin_classes.size - 1)
    sizes = {"M": most, "I": most + SYNTHETIC_ROOM, "W": longest, "L": n_models}
    span = allocate(SpanEdges, {"C": len(sparse.combinations)})
    return allocate(Candidates, sizes, cache=cache, fired=fired, span=span)


def with_room(candidates: Candidates, n_pairs: int, n_synthetic: int) -> Candidates:
    """The same candidates with room for at least `n_pairs` pairs and, after them, `n_synthetic` synthetic pairs."""
    n_pairs = max(n_pairs, candidates.heap.size)
    if n_pairs > candidates.heap.size:
        candidates = candidates._replace(heap=np.zeros(n_pairs, np.int64))
    if n_pairs + n_synthetic <= candidates.score.size:
        return candidates
    score, estimate, bound = (np.zeros(n_pairs + n_synthetic) for _ in range(3))
    return candidates._replace(score=score, estimate=estimate, bound=bound)


def new_target_room(n_words: int, n_models: int) -> tuple[np.ndarray, np.ndarray]:
    """Arrays for `n_words` target words: int32[n_words] for ids, int32[n_words, n_models] for language model ids."""
    return np.zeros(n_words, np.int32), np.zeros((n_words, n_models), np.int32)


@inlined_kernel
def is_score(value):
    """Whether `value` (float64) can be a weighted score; NaN and huge values come from damage or absurd weights."""
    return abs(value) <= LARGEST_SCORE


@inlined_kernel
def is_wrong(candidates: Candidates):
    """Whether candidates.wrong has an error."""
    for i in range(candidates.wrong.size):
        if candidates.wrong[i] != 0:
            return True
    return False


@inlined_kernel
def item_of(pair, candidates: Candidates):
    """Index of the scores of `pair` (int64): a pair of the source phrase or, counted from the end, a synthetic pair."""
    return candidates.score.size + pair if pair < 0 else pair - candidates.first_pair[0]


@inner_kernel
def choose(source, behind, lookup: Lookup):
    """Rank the pairs of the source phrases source:behind (int64) into candidates.heap, best first.

    Returns the number of pairs within the limit, which are chosen by lookup.ranking. In a text, source:behind is one
    source phrase; in a lattice, all paths of a span. An example with limit 2: the pairs of "haus", their scores without
    the language model, and their estimates with it. The heap holds the best pairs so far, the worst of them on top.

        house       -1.0    -1.9    heap: house
        building    -2.5    -3.5    heap: building, house
        home        -1.4    -2.2    heap: home, house, as -2.2 is better than -3.5 on top
        habitation  -4.2            not scored by the language model: ln p is never above 0, and -4.2 is below -2.2

    The result is [house, home]. Most pairs of frequent phrases are like the last one, so that few need the language
    model.
    """
    tables, ranking, candidates, limit = lookup.tables, lookup.ranking, lookup.candidates, lookup.limit
    first = tables.phrases.pair_offsets[source]
    n_pairs = tables.phrases.pair_offsets[behind] - first
    if n_pairs > candidates.heap.size:  # model.yaml is wrong; stay within the arrays, and report it later
        candidates.wrong[TOO_MANY] = n_pairs
        n_pairs = np.int64(candidates.heap.size)
    n_cached = recall(candidates.cache, source, candidates)
    if n_cached > 0:  # another sentence had this source phrase
        return n_cached
    if limit == 0 or limit > n_pairs:
        limit = n_pairs
    score, estimate, heap = candidates.score, candidates.estimate, candidates.heap
    size, is_trusted = ZERO, _is_trusted(ranking.ln_language_model)
    for item in range(n_pairs):
        total = _without_language_model(source, first + item, ranking.dense, lookup)
        score[item] = total
        if size == limit and is_trusted and total < estimate[heap[0]]:
            continue
        estimate[item], candidates.bound[item] = _with_language_model(
            total, first + item, ranking.ln_language_model, lookup
        )
        if size < limit:
            push(estimate, heap, size, item)
            size += 1
        elif is_worse(estimate, heap[0], item):
            heap[0] = item
            sift_down(estimate, heap, ZERO, size)
    if ranking.is_own:  # the pairs were chosen with other weights than those of the search
        _score_again(source, size, lookup)
    sort_best_first(estimate, heap, size)
    for k in range(size):
        _check_reordering(first + heap[k], lookup)
    if not is_wrong(candidates):  # a damaged pair is not cached, so that every sentence with it reports it
        keep(candidates.cache, source, candidates, size)
    return size


@inlined_kernel
def _without_language_model(source, pair, weights, lookup):
    """Score of a pair of a source phrase by `weights` (DenseWeights) without the language model.

    In a lattice, the path of the pair determines the source phrase.
    """
    phrases, sparse, paths = lookup.tables.phrases, lookup.tables.sparse, lookup.sentence.paths
    if paths.of_span.size > 0:
        source = paths.of_pair[pair]
    source_length = phrases.source_offsets[source + 1] - phrases.source_offsets[source]
    length = phrases.target_offsets[pair + 1] - phrases.target_offsets[pair]
    total = weights.phrase_penalty - weights.word_penalty * length
    total += weighted_input(paths, weights.input_score, pair)
    total += score_pair(phrases, lookup.tables.idf, weights, pair, source_length, length)
    if sparse.active[PAIR_SPARSE]:
        total += score_pair_alone(sparse, weights.sparse, pair)
    if not np.isfinite(total):
        lookup.candidates.wrong[NOT_FINITE] = 1 + pair
    return total


@inlined_kernel
def _check_reordering(pair, lookup):
    """Note a pair whose weighted reordering scores are not finite."""
    model, total = lookup.tables.orientations, 0.0
    for orientation in range(N_ORIENTATIONS):
        for direction in (BACKWARD, FORWARD):
            total += weighted_orientation(
                lookup.tables.ln_reordering, model, lookup.weights.reordering, pair, direction, orientation
            )
    if not np.isfinite(total):
        lookup.candidates.wrong[REORDERING_NOT_FINITE] = 1 + pair


@inner_kernel
def _score_again(source, size, lookup):
    """Score the `size` pairs in the heap with the weights of the search, and restore the heap order."""
    candidates, ln_weights = lookup.candidates, lookup.tables.lms.ln_weights
    first = lookup.tables.phrases.pair_offsets[source]
    for k in range(size):
        item = candidates.heap[k]
        total = _without_language_model(source, first + item, lookup.weights, lookup)
        candidates.score[item] = total
        candidates.estimate[item], candidates.bound[item] = _with_language_model(
            total, first + item, ln_weights, lookup
        )
    for top in range(size // 2 - 1, -1, -1):
        sift_down(candidates.estimate, candidates.heap, np.int64(top), size)


@inner_kernel
def score_synthetic(number, lookup: Lookup):
    """Compute score, estimate and bound of the synthetic pair `number` (int64)."""
    synthetic, weights, pair = lookup.sentence.synthetic, lookup.weights, -1 - number
    candidates, item = lookup.candidates, item_of(pair, lookup.candidates)
    total = weights.phrase_penalty - weights.word_penalty * target_length(lookup.tables, lookup.sentence, pair)
    total += weights.unknown_word_penalty * synthetic.unknown[number]
    total += weights.related_words * synthetic.n_related[number]
    total += weights.spelled_words * synthetic.n_spelled[number] + weights.spelling * synthetic.ln_spelling[number]
    total += weighted_input(lookup.sentence.paths, weights.input_score, pair)
    for column in range(weights.translation.size):
        total += weights.translation[column] * synthetic.ln_scores[number, column]
    ln_weights = lookup.tables.lms.ln_weights
    candidates.score[item] = total
    candidates.estimate[item], candidates.bound[item] = _with_language_model(total, pair, ln_weights, lookup)


@inlined_kernel
def has_more_scores(lookup: Lookup):
    """Whether pairs have scores that add_scores_in_place adds."""
    return lookup.tables.sparse.has_rule_features or has_estimates(lookup)


@inner_kernel
def add_scores_in_place(pair, begin, end, lookup: Lookup):
    """Add the scores of a ranked or synthetic `pair` (int64) that depend on its place begin:end; `choose` lacks them.

    These are the scores of sparse features and, only for the estimate, those of features that depend on preceding
    phrases.
    """
    candidates, sparse = lookup.candidates, lookup.tables.sparse
    size = target_length(lookup.tables, lookup.sentence, pair)
    if size > candidates.words.size:  # already noted as TOO_LONG
        return
    read_target(lookup.tables, lookup.sentence, pair, ZERO, candidates.words, candidates.lm_words)
    first, last = source_words(lookup.sentence.paths, pair, begin, end)
    item = item_of(pair, candidates)
    phrase = OptionPhrase(pair, candidates.words, np.int64(size), np.int64(first), np.int64(last))
    if sparse.has_rule_features:
        scales = lookup.weights.sparse
        score = score_rule(sparse, scales, lookup.sentence, phrase, candidates.span, candidates.fired)
        candidates.score[item] += score
        candidates.estimate[item] += score
        candidates.bound[item] += score
    candidates.estimate[item] += estimate_phrase(lookup, phrase)


@inlined_kernel
def _with_language_model(score, pair, ln_weights, lookup):
    """(estimate, bound) of a pair from its `score` without the language models; `ln_weights` are their weights."""
    lms, states, candidates = lookup.tables.lms, lookup.states, lookup.candidates
    length = target_length(lookup.tables, lookup.sentence, pair)
    if length > candidates.words.size:
        candidates.wrong[TOO_LONG] = length
        return score, np.inf
    read_target(lookup.tables, lookup.sentence, pair, ZERO, candidates.words, candidates.lm_words)
    forget_context(states)
    score_phrase(lms, candidates.lm_words, ZERO, length, states)
    estimate = score + weighted_ln(ln_weights, states.log10_prob)
    check_estimate(pair, estimate, candidates)
    if not _is_trusted(ln_weights):
        return estimate, np.inf
    return estimate, score + weighted_ln(ln_weights, states.log10_inner)


@inlined_kernel
def check_estimate(pair, estimate, candidates: Candidates):
    """Note in candidates.wrong a pair (int64) whose `estimate` (float64) is not a score."""
    if not is_score(estimate):
        candidates.wrong[WRONG_ESTIMATE] = pair if pair < 0 else pair + 1


@inner_kernel
def _is_trusted(ln_weights):
    """Whether no language model can raise a score: ln p is at most 0, but weights may be negative."""
    for which in range(ln_weights.size):
        if ln_weights[which] < 0:
            return False
    return True
