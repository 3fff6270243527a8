"""A translation with the parts of its score: phrases and their alternatives, features times weights."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.explanation.weighted_features import Plain, Weighing, WeightedFeature, added_by_phrase, vectors
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.sparse.sparse_weights import fill_weights
from phrasebeam.decoder.sparse.templates import GROUPS

MOST_ALTERNATIVES = 20  # for each phrase


class PhraseAlternative(Plain):
    """A target phrase for the source words of a phrase."""

    target: str
    score: float  # of the phrase pair alone: weighted features that need no context
    estimate: float  # score plus language model score without context; options are ranked by it
    total: float  # score of the whole translation, with this phrase instead of the chosen one
    is_chosen: bool


def alternatives(
    result: SearchResult, weighing: Weighing, derivation: Derivation, number: int, most: int
) -> list[PhraseAlternative]:
    """The options of the span of phrase `number` of a derivation, by their total: the `most` best, and the chosen one.

    Words of a prefix that translate no source words have no alternatives. The search must have looked up its options.
    """
    options = result.workspace.options
    begin, end, pair = (int(field[number]) for field in (derivation.begin, derivation.end, derivation.pair))
    if begin == end:
        return []
    first, last = options.first[begin * options.longest + end - begin - 1 :][:2].tolist()
    chosen = np.arange(first, min(last, first + most))
    behind = first + most + np.flatnonzero(options.pair[first + most : last] == pair)
    chosen = np.concatenate([chosen, behind])
    totals = vectors(result, [_replaced(derivation, number, int(options.pair[i])) for i in chosen]) @ weighing.weights
    pairs = original_pairs(options.pair[chosen], result.source.tables.origin).tolist()
    found = [
        PhraseAlternative(
            target=" ".join(result.target(original)),
            score=options.score[i],
            estimate=options.estimate[i],
            total=total,
            is_chosen=options.pair[i] == pair,
        )
        for i, original, total in zip(chosen, pairs, totals.tolist())
    ]
    return sorted(found, key=lambda one: (-one.total, one.target))


def _replaced(derivation: Derivation, number: int, pair: int) -> Derivation:
    pairs = derivation.pair.copy()
    pairs[number] = pair
    return derivation._replace(pair=pairs)


class FiredFeature(Plain):
    """A sparse feature that fired at a phrase, or between the preceding phrase and this one."""

    phrase: int  # number of the phrase, in target order
    group: str
    name: str
    value: float
    weight: float  # multiplied by the scale of its group
    score: float


def fired_features(result: SearchResult, derivation: Derivation) -> list[FiredFeature]:
    """All sparse features of a complete derivation, the largest contributions first; none if the model has none."""
    if not result.tables.sparse.active.any() or not derivation.pair.size:
        return []
    # Phrase by phrase: the features of a beginning are the first features of the whole derivation.
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


class ExplainedPhrase(Plain):
    """A phrase of a translation, with the source words that it translates."""

    source: str
    target: str
    source_span: tuple[int, int]  # words of the sentence
    target_span: tuple[int, int]  # words of the translation
    alignment: list[tuple[int, int]]  # (source, target) positions in the sentence and the translation
    is_copied: bool  # an unknown word that is copied
    is_fallback: bool  # words of the prefix that no phrase pair produces
    is_unknown: bool  # an unknown word, copied or translated by related words or by its letters
    score: float  # its contribution at its place; the sum over phrases is the translation's score
    features: list[WeightedFeature]  # its contribution by feature, without features that it does not change
    alternatives: list[PhraseAlternative]
    confidences: list[float]  # the probability of each word of the target; none for a given translation


class ExplainedTranslation(Plain):
    """A derivation of a sentence."""

    text: str
    score: float
    features: list[WeightedFeature]  # all of them, in the order of the feature vector
    phrases: list[ExplainedPhrase]  # in target order
    sparse: list[FiredFeature]  # largest contributions first


def explained_translation(
    result: SearchResult, derivation: Derivation, score: float, confidences: Sequence[float] = ()
) -> ExplainedTranslation:
    """The derivation of a search, with pairs numbered as in its tables; `confidences` are those of its words."""
    weighing = Weighing.of(result)
    added = added_by_phrase(result, derivation) if derivation.pair.size else np.zeros((0, result.features.size))
    total = added.sum(axis=0)
    translation = result.translation(derivation, score, total)
    phrases = [
        ExplainedPhrase(
            **phrase._asdict(),
            score=float(row @ weighing.weights),
            features=[feature for feature in weighing.features(row) if feature.value],
            alternatives=alternatives(result, weighing, derivation, number, MOST_ALTERNATIVES),
            confidences=list(confidences[slice(*phrase.target_span)]),
        )
        for number, (phrase, row) in enumerate(zip(translation.phrases, added))
    ]
    sparse = fired_features(result, derivation)
    return ExplainedTranslation(
        text=translation.text, score=score, features=weighing.features(total), phrases=phrases, sparse=sparse
    )
