"""The dense features, in the order in which they stand in a feature vector, and their weights as kernels take them."""

from typing import NamedTuple

import numpy as np

from decoder.config import N_ORIENTATIONS, Reordering, Weights
from lm.errors import ModelError

UNKNOWN_WORD = -100.0  # value of the unknown-word penalty for each copied word, as in Moses
LN10 = 2.302585092994046

SCALARS = ("distortion", "word_penalty", "phrase_penalty", "unknown_word_penalty")


class DenseWeights(NamedTuple):
    """Weights for natural-log feature values."""

    translation: np.ndarray  # float64[K], of the phrase table's columns
    reordering: np.ndarray  # float64[2 * O], of the reordering table's columns; empty without one
    language_model: np.ndarray  # float64[L], of the language models
    distortion: float
    word_penalty: float
    phrase_penalty: float
    unknown_word_penalty: float


class FeatureNames(NamedTuple):
    """The layout of a feature vector: translation columns, reordering columns, language models, then SCALARS."""

    n_translation: int
    n_reordering: int
    n_language_models: int

    def names(self) -> list[str]:
        """One name for each place of the vector; columns are numbered from 0."""
        columns = [f"translation_{i}" for i in range(self.n_translation)]
        columns += [f"reordering_{i}" for i in range(self.n_reordering)]
        columns += [f"language_model_{i}" for i in range(self.n_language_models)]
        return [*columns, *SCALARS]

    def by_group(self, vector: np.ndarray) -> dict[str, float | list[float]]:
        """Feature values by the names that weights.yaml uses: a list where a model may have several."""
        ends = np.cumsum([self.n_translation, self.n_reordering, self.n_language_models])
        groups: dict[str, float | list[float]] = {"translation": vector[: ends[0]].tolist()}
        if self.n_reordering:
            groups["reordering"] = vector[ends[0] : ends[1]].tolist()
        groups["language_model"] = vector[ends[1] : ends[2]].tolist()
        return groups | dict(zip(SCALARS, vector[ends[2] :].tolist()))


def dense_weights(
    weights: Weights, n_translation: int, reordering: Reordering | None, n_language_models: int
) -> DenseWeights:
    """`weights` as kernels take them. Raises ModelError where their number does not fit the model."""
    n_reordering = 2 * N_ORIENTATIONS[reordering.kind] if reordering else 0
    given = weights.reordering if reordering else []
    for name, found, expected in (
        ("translation", len(weights.translation), n_translation),
        ("reordering", len(given), n_reordering),
        ("language_model", len(weights.language_model), n_language_models),
    ):
        if found != expected:
            raise ModelError(f"weights: {name} has {found} weights, the model has {expected} such scores; give as many")
    scalars = [float(getattr(weights, name)) for name in SCALARS]
    translation, lexical, lm = (np.array(v, float) for v in (weights.translation, given, weights.language_model))
    return DenseWeights(translation, lexical, lm, *scalars)


def weight_vector(weights: DenseWeights) -> np.ndarray:
    """float64[F] weights in the order of a feature vector."""
    scalars = [getattr(weights, name) for name in SCALARS]
    return np.concatenate([weights.translation, weights.reordering, weights.language_model, scalars])
