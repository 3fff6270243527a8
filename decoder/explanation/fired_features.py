"""The sparse features of a derivation, each with the phrase that it fired at."""

import numpy as np

from phrasebeam.decoder.explanation.weighted_features import Plain
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.sparse.sparse_weights import fill_weights
from phrasebeam.decoder.sparse.templates import GROUPS


class FiredFeature(Plain):
    """A sparse feature that fired at a phrase, or between the one before and it."""

    phrase: int  # number of the phrase, in target order
    group: str
    name: str
    value: float
    weight: float  # times the scale of its group
    score: float


def fired_features(result: SearchResult, derivation: Derivation) -> list[FiredFeature]:
    """All sparse features of a complete derivation, those that matter most first; none where the model has none."""
    if not result.tables.sparse.active.any() or not derivation.pair.size:
        return []
    # Phrase by phrase: the features of a beginning are the first ones of the whole.
    ends = [
        result.vector(Derivation(*(field[:n] for field in derivation)), False)[1].size
        for n in range(1, derivation.pair.size)
    ]
    _, keys, values, groups = (array.copy() for array in result.vector(derivation, True))
    phrases = np.searchsorted(ends, np.arange(keys.size), side="right")
    names: dict[int, str] = {}
    result.sparse_values(derivation, names, with_names=True)
    weights = np.zeros(keys.size)
    fill_weights(result.tables.sparse.weights, keys, weights)
    weights *= result.weights.sparse[groups]
    rows = zip(phrases.tolist(), groups.tolist(), keys.tolist(), values.tolist(), weights.tolist())
    found = [
        FiredFeature(phrase=phrase, group=GROUPS[group], name=names[key], value=v, weight=w, score=v * w)
        for phrase, group, key, v, w in rows
    ]
    return sorted(found, key=lambda one: (-abs(one.score), one.phrase, one.name))
