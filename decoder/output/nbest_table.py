"""The n-best list of a sentence as arrays for tuning, without a Translation for every entry."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.reordering import DIRECTIONS
from phrasebeam.decoder.output.derivation import SparseFeatureLists, list_orientations, list_sparse_features
from phrasebeam.decoder.output.nbest import Derivations
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.sparse.sparse_weights import SparseRows, no_features, summed


class NbestTable(NamedTuple):
    """An n-best list of K entries as arrays, best first, with texts, features and scores."""

    texts: list[str]  # K
    score: np.ndarray  # float64[K], the model score
    features: np.ndarray  # float64[K, F], laid out as FeatureLayout
    sparse: SparseRows  # K rows, see nbest_table; empty if not requested
    first: np.ndarray  # int64[K + 1], phrases of entry i are pairs[first[i]:first[i + 1]], in target order
    pairs: np.ndarray  # int64[...], numbered as in the model's table; synthetic pairs are negative
    orientations: np.ndarray  # int8[..., 2], orientations of the phrases by DIRECTIONS, see fill_orientations
    names: list[str]  # F names of the columns of features; features of lists are numbered from 0: translation_0


def nbest_table(result: SearchResult, n: int, distinct: bool, sparse: bool) -> NbestTable:
    """The `n` best derivations of a search, or with `distinct` the best derivation of each of the `n` best texts.

    With `sparse`, the table has sparse features: values by key, times the scale of the feature's group, so that the sum
    of weights times these values is the group's share of the score.
    """
    if not result.source.words:
        best = result.best()
        values = [np.atleast_1d(best.features[name]) for name, _ in result.features.groups]
        nothing = np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros((0, len(DIRECTIONS)), np.int8)
        features, names = np.concatenate(values)[None], result.features.names()
        return NbestTable([best.text], np.array([best.score]), features, no_features(1), *nothing, names)
    best_ones = result.derivations(n, distinct)
    size = best_ones.score.size
    features = np.zeros((size, result.features.size))
    result.fill_features(best_ones.phrases, best_ones.offsets, features)
    fired = _fired(result, best_ones) if sparse and result.tables.sparse.active.any() else no_features(size)
    orientations = _orientations(result, best_ones)
    best_ones = best_ones._replace(phrases=result.with_model_pairs(best_ones.phrases))
    phrases = best_ones.offsets, best_ones.phrases.pair, orientations
    return NbestTable(result.texts(best_ones), best_ones.score, features, fired, *phrases, result.features.names())


def _orientations(result: SearchResult, best: Derivations) -> np.ndarray:
    orientations = np.empty((best.phrases.pair.size, len(DIRECTIONS)), np.int8)
    is_hierarchical = result.tables.orientations.is_hierarchical
    list_orientations(best.phrases, best.offsets, is_hierarchical, result.workspace.memory.reordering, orientations)
    return orientations


def _fired(result: SearchResult, best: Derivations) -> SparseRows:
    space = result.feature_space(int(np.diff(best.offsets).max()), True)
    most = best.phrases.pair.size * result.workspace.most_sparse_features
    lists = SparseFeatureLists(
        np.zeros(best.offsets.size, np.int64), np.empty(most, np.uint64), np.empty(most, np.float32)
    )
    scales, sentence = result.weights.sparse, result.source.sentence
    n = list_sparse_features(best.phrases, best.offsets, result.tables, sentence, space, scales, lists)
    return summed(lists.first, lists.keys[:n], lists.values[:n])
