"""A translation with all that its score is made of: phrases, features times weights, sparse features."""

import numpy as np

from phrasebeam.decoder.explanation.derivation_vectors import added_by_phrase
from phrasebeam.decoder.explanation.fired_features import FiredFeature, fired_features
from phrasebeam.decoder.explanation.phrase_alternatives import PhraseAlternative, alternatives
from phrasebeam.decoder.explanation.weighted_features import Plain, Weighing, WeightedFeature
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult

MOST_ALTERNATIVES = 20  # of a phrase


class ExplainedPhrase(Plain):
    """A phrase of a translation, joined to the source words that it translates."""

    source: str
    target: str
    source_span: tuple[int, int]  # words of the sentence
    target_span: tuple[int, int]  # words of the translation
    alignment: list[tuple[int, int]]  # (source, target) positions in the sentence and the translation
    is_copied: bool  # an unknown word
    is_fallback: bool  # words of the prefix that no phrase pair gives
    score: float  # what it adds where it stands; those of all phrases add up to that of the translation
    features: list[WeightedFeature]  # the same by feature, without those that it does not change
    alternatives: list[PhraseAlternative]


class ExplainedTranslation(Plain):
    """A derivation of a sentence."""

    text: str
    score: float
    features: list[WeightedFeature]  # all of them, in the order of the feature vector
    phrases: list[ExplainedPhrase]  # in target order
    sparse: list[FiredFeature]  # what matters most first


def explained_translation(result: SearchResult, derivation: Derivation, score: float) -> ExplainedTranslation:
    """The derivation of a search, whose pairs are numbered as in its tables."""
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
        )
        for number, (phrase, row) in enumerate(zip(translation.phrases, added))
    ]
    sparse = fired_features(result, derivation)
    return ExplainedTranslation(
        text=translation.text, score=score, features=weighing.features(total), phrases=phrases, sparse=sparse
    )
