"""The dense features, in the order in which they stand in a feature vector, and their weights as kernels take them."""

from typing import NamedTuple

import numpy as np

from decoder.config import Reordering, Weights
from lm.errors import ModelError

UNKNOWN_WORD = -100.0  # value of the unknown-word penalty for each copied word, as in Moses
LN10 = 2.302585092994046

SCALARS = ("language_model", "distortion", "word_penalty", "phrase_penalty", "unknown_word_penalty")
# Features that are there only where they have weights, a number or a list of them; their places in `optional_places`.
OPTIONAL = ("early_distortion",)
EARLY_DISTORTION = np.int64(0)
ABSENT = -1


class DenseWeights(NamedTuple):
    """Weights for natural-log feature values; what is absent weighs 0."""

    translation: np.ndarray  # float64[K], of the phrase table's columns
    reordering: np.ndarray  # float64[R], of the reordering features; empty without them
    language_model: float
    distortion: float
    word_penalty: float
    phrase_penalty: float
    unknown_word_penalty: float
    early_distortion: float


class FeatureNames(NamedTuple):
    """The layout of a feature vector: translation columns, reordering features, SCALARS, and what OPTIONAL there is."""

    n_translation: int
    n_reordering: int
    optional: tuple[tuple[str, int | None], ...] = ()  # names of those given; how many values, None for one number

    def groups(self) -> list[tuple[str, int | None]]:
        """All groups of features in their order: name, and how many values, or None for one number."""
        lists: list[tuple[str, int | None]] = [("translation", self.n_translation)]
        if self.n_reordering:
            lists.append(("reordering", self.n_reordering))
        return [*lists, *((name, None) for name in SCALARS), *self.optional]

    def names(self) -> list[str]:
        """One name for each place of the vector; those of a list are numbered from 0."""
        names: list[str] = []
        for name, size in self.groups():
            names += [name] if size is None else [f"{name}_{i}" for i in range(size)]
        return names

    def by_group(self, vector: np.ndarray) -> dict[str, float | list[float]]:
        """Feature values by the names that weights.yaml uses, as numbers and lists like there."""
        values, groups = iter(vector.tolist()), {}
        for name, size in self.groups():
            groups[name] = next(values) if size is None else [next(values) for _ in range(size)]
        return groups

    def optional_places(self) -> np.ndarray:
        """int64[len(OPTIONAL)], where the values of each OPTIONAL feature begin, or ABSENT."""
        sizes = dict(self.optional)
        places, end = np.full(len(OPTIONAL), ABSENT, np.int64), self.n_translation + self.n_reordering + len(SCALARS)
        for i, name in enumerate(OPTIONAL):
            if name in sizes:
                places[i] = end
                size = sizes[name]
                end += 1 if size is None else size
        return places


def feature_names(weights: Weights, n_translation: int, reordering: Reordering | None) -> FeatureNames:
    """The layout of a model's feature vector; what OPTIONAL features there are `weights` says."""
    given = [(name, getattr(weights, name)) for name in OPTIONAL]
    optional = [(name, len(value) if isinstance(value, list) else None) for name, value in given if value is not None]
    return FeatureNames(n_translation, reordering.n_weights if reordering else 0, tuple(optional))


def dense_weights(weights: Weights, n_translation: int, reordering: Reordering | None) -> DenseWeights:
    """`weights` as kernels take them. Raises ModelError where their number does not fit the model."""
    n_reordering = reordering.n_weights if reordering else 0
    given = weights.reordering if reordering else []
    for name, found, expected in (
        ("translation", len(weights.translation), n_translation),
        ("reordering", len(given), n_reordering),
    ):
        if found != expected:
            raise ModelError(f"weights: {name} has {found} weights, the model has {expected} such scores; give as many")
    scalars = {name: float(getattr(weights, name) or 0) for name in (*SCALARS, *OPTIONAL)}
    return DenseWeights(np.array(weights.translation, float), np.array(given, float), **scalars)


def weight_vector(weights: DenseWeights, names: FeatureNames) -> np.ndarray:
    """float64[F] weights in the order of a feature vector."""
    return np.concatenate([np.atleast_1d(getattr(weights, name)) for name, _ in names.groups()])
