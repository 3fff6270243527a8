"""The n-best list of a sentence as arrays: what tuning needs of it, without a Translation for every entry."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from decoder.derivation import FiredLists, list_fired
from decoder.found import Found
from decoder.nbest import Derivations
from decoder.sentence_tables import original_pairs

NO_FEATURES: Mapping[int, float] = {}


class NbestTable(NamedTuple):
    """K entries, best first, with the same texts, features and scores as Found.nbest gives them."""

    texts: list[str]  # K
    score: np.ndarray  # float64[K], the model score
    features: np.ndarray  # float64[K, F], laid out as FeatureNames
    sparse: Sequence[Mapping[int, float]]  # K, sparse features, see nbest_table; empty where not asked for


def nbest_table(found: Found, n: int, distinct: bool, sparse: bool) -> NbestTable:
    """The `n` best derivations of what was found, or with `distinct` the best one of each of the `n` best texts.

    With `sparse`, their sparse features: values by key, times the scale of the feature's group, so that the weights of
    features times these values add up to the group's share of the score.
    """
    if not found.source.words:
        best = found.best()
        return NbestTable([best.text], np.array([best.score]), found.vector(best)[None], [NO_FEATURES])
    best_ones = found.derivations(n, distinct)
    size = best_ones.score.size
    features = np.zeros((size, found.features.size))
    found.fill_features(best_ones.phrases, best_ones.offsets, features)
    fired = _fired(found, best_ones) if sparse and found.tables.sparse.active.any() else [NO_FEATURES] * size
    return NbestTable(_texts(found, best_ones), best_ones.score, features, fired)


def _texts(found: Found, best: Derivations) -> list[str]:
    pairs, place = np.unique(best.phrases.pair, return_inverse=True)
    shown = [" ".join(found.target(pair)) for pair in original_pairs(pairs, found.source.tables.origin).tolist()]
    phrases, ends = [shown[i] for i in place.tolist()], best.offsets.tolist()
    return [" ".join(filter(None, phrases[begin:end])) for begin, end in pairwise(ends)]


def _fired(found: Found, best: Derivations) -> list[Mapping[int, float]]:
    space = found.feature_space(int(np.diff(best.offsets).max()), True)
    most = best.phrases.pair.size * found.workspace.most_fired
    lists = FiredLists(np.zeros(best.offsets.size, np.int64), np.empty(most, np.uint64), np.empty(most, np.float32))
    scales, sentence = found.weights.sparse, found.source.sentence
    n = list_fired(best.phrases, best.offsets, found.tables, sentence, space, scales, lists)
    all_keys, all_values, ends = lists.keys[:n].tolist(), lists.values[:n].tolist(), lists.first.tolist()
    return [_sums(all_keys[begin:end], all_values[begin:end]) for begin, end in pairwise(ends)]


def _sums(keys: Sequence[int], values: Sequence[float]) -> dict[int, float]:
    found = dict(zip(keys, values))
    if len(found) < len(keys):  # one that fired more than once
        found = dict.fromkeys(keys, 0.0)
        for key, value in zip(keys, values):
            found[key] += value
    return found
