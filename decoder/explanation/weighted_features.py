"""Features times weights: the parts of a translation's score, and the differences between two translations."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from phrasebeam.decoder.explanation.feature_titles import feature_titles
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.derivation_view import DerivationView


class Plain(BaseModel):
    """Base of data that become JSON. Scores are natural logs, higher is better; spans are half open."""

    model_config = ConfigDict(frozen=True)


class WeightedFeature(Plain):
    """A value of the feature vector, and its contribution to the score."""

    name: str  # as in weights.yaml; values of a list are numbered from 0
    title: str  # for people
    value: float
    weight: float
    score: float  # value times weight


class FeatureDifference(Plain):
    """A value in two translations, and by how much it favours the first."""

    name: str
    title: str
    weight: float
    value: float
    other: float
    score: float  # (value - other) times weight


class Weighing(NamedTuple):
    """The names and weights of a feature vector of F values."""

    names: list[tuple[str, str]]  # in files, and for users
    weights: np.ndarray  # float64[F]

    @classmethod
    def of(cls, view: DerivationView) -> "Weighing":
        """Names and weights used in the search of `view`."""
        titles = feature_titles(view.features.groups, view.model.description.reordering)
        names = list(zip(view.features.names(), titles, strict=True))
        return cls(names, weight_vector(view.weights, view.features))

    def features(self, vector: np.ndarray) -> list[WeightedFeature]:
        """All values of `vector` (float64[F]), in its order."""
        rows = zip(self.names, vector.tolist(), self.weights.tolist(), (vector * self.weights).tolist())
        return [WeightedFeature(name=n, title=t, value=v, weight=w, score=s) for (n, t), v, w, s in rows]

    def differences(self, vector: np.ndarray, other: np.ndarray) -> list[FeatureDifference]:
        """The values in which two vectors (float64[F]) differ, the largest changes of the score first."""
        scores = (vector - other) * self.weights
        rows = zip(self.names, self.weights.tolist(), vector.tolist(), other.tolist(), scores.tolist())
        found = [
            FeatureDifference(name=n, title=t, weight=w, value=v, other=o, score=s)
            for (n, t), w, v, o, s in rows
            if v != o
        ]
        return sorted(found, key=lambda one: -abs(one.score))


def vectors(view: DerivationView, derivations: Sequence[Derivation], is_complete: bool = True) -> np.ndarray:
    """float64[N, F] features of N derivations, computed from these alone; if they `is_complete`, </s> follows."""
    matrix = np.zeros((len(derivations), view.features.size))
    if derivations:
        offsets = np.cumsum([0, *(one.pair.size for one in derivations)])
        view.fill_features(joined(derivations), offsets, matrix, is_complete)
    return matrix


def joined(derivations: Sequence[Derivation]) -> Derivation:
    """Concatenate the phrases of all derivations."""
    return Derivation(*(np.concatenate(field) for field in zip(*derivations)))


def added_by_phrase(view: DerivationView, derivation: Derivation) -> np.ndarray:
    """float64[K, F], the contribution of each of the K phrases of a complete derivation to its features, at its place.

    It is the difference between the beginnings with and without the phrase, so the rows add up to the features of the
    whole derivation. The orientation of a phrase to the next one counts for the next one; </s> counts for the last
    phrase.
    """
    beginnings = [_beginning(derivation, n) for n in range(1, derivation.pair.size)]
    whole = vectors(view, [derivation])
    return np.diff(np.concatenate([vectors(view, beginnings, False), whole]), axis=0, prepend=0.0)


def _beginning(derivation: Derivation, n_phrases: int) -> Derivation:
    return Derivation(*(field[:n_phrases] for field in derivation))
