"""Features times weights: what a translation's score is made of, and what makes one translation better than another."""

from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.output.derivation_view import DerivationView


class Plain(BaseModel):
    """Data that become JSON as they are. Scores are natural logs, higher is better; spans are half open."""

    model_config = ConfigDict(frozen=True)


class WeightedFeature(Plain):
    """A value of the feature vector, and what it adds to the score."""

    name: str  # as in weights.yaml; values of a list are numbered from 0
    value: float
    weight: float
    score: float  # value times weight


class FeatureDifference(Plain):
    """A value in two translations, and by how much it makes the first one better than the second."""

    name: str
    weight: float
    value: float
    other: float
    score: float  # (value - other) times weight


class Weighing(NamedTuple):
    """The names and weights of a feature vector of F values."""

    names: list[str]
    weights: np.ndarray  # float64[F]

    @classmethod
    def of(cls, view: DerivationView) -> "Weighing":
        """Those by which a sentence was searched."""
        return cls(view.features.names(), weight_vector(view.weights, view.features))

    def features(self, vector: np.ndarray) -> list[WeightedFeature]:
        """All values of `vector` (float64[F]), in its order."""
        rows = zip(self.names, vector.tolist(), self.weights.tolist(), (vector * self.weights).tolist())
        return [WeightedFeature(name=n, value=v, weight=w, score=s) for n, v, w, s in rows]

    def differences(self, vector: np.ndarray, other: np.ndarray) -> list[FeatureDifference]:
        """Where two vectors (float64[F]) differ, what matters most first."""
        scores = (vector - other) * self.weights
        rows = zip(self.names, self.weights.tolist(), vector.tolist(), other.tolist(), scores.tolist())
        found = [FeatureDifference(name=n, weight=w, value=v, other=o, score=s) for n, w, v, o, s in rows if v != o]
        return sorted(found, key=lambda one: -abs(one.score))
