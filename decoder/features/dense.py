"""The dense features, in the order in which they stand in a feature vector, and their weights as kernels take them."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.length_groups import weights_by_length
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.templates import GROUPS, Sparse

UNKNOWN_WORD = -100.0  # value of the unknown-word penalty for each copied word, as in Moses
LN10 = 2.302585092994046

LISTS = ("translation", "reordering", "language_model")
SCALARS = ("distortion", "word_penalty", "phrase_penalty", "unknown_word_penalty")
# Features that are there only where they have weights, a number or a list of them; their places in `optional_places`.
OPTIONAL = ("early_distortion", "bitext_count", "unique_rule", "length_groups", *GROUPS)
EARLY_DISTORTION, BITEXT_COUNT, UNIQUE_RULE, LENGTH_GROUPS, SPARSE = (np.int64(i) for i in range(5))
ABSENT = -1


class DenseWeights(NamedTuple):
    """Weights for natural-log feature values; what is absent weighs 0."""

    translation: np.ndarray  # float64[K], of the phrase table's columns
    reordering: np.ndarray  # float64[R], of the reordering features; empty without them
    language_model: np.ndarray  # float64[L], of the language models
    distortion: float
    word_penalty: float
    phrase_penalty: float
    unknown_word_penalty: float
    early_distortion: float
    bitext_count: float
    unique_rule: float
    length_groups: np.ndarray  # float64[G]
    by_length: np.ndarray  # float64[K, M + 1, M + 1], the same summed up, see weights_by_length
    sparse: np.ndarray  # float64[len(GROUPS)], scales of the groups of sparse features


class FeatureLayout(NamedTuple):
    """The layout of a feature vector: LISTS, SCALARS, and what OPTIONAL features there are."""

    groups: tuple[tuple[str, int | None], ...]  # name, and how many values, or None for one number

    def names(self) -> list[str]:
        """One name for each place of the vector; those of a list are numbered from 0."""
        names: list[str] = []
        for name, size in self.groups:
            names += [name] if size is None else [f"{name}_{i}" for i in range(size)]
        return names

    @property
    def size(self) -> int:
        """How many values the vector has."""
        return sum(1 if size is None else size for _, size in self.groups)

    def by_group(self, vector: np.ndarray) -> dict[str, float | list[float]]:
        """Feature values by the names that weights.yaml uses, as numbers and lists like there."""
        values, groups = iter(vector.tolist()), {}
        for name, size in self.groups:
            groups[name] = next(values) if size is None else [next(values) for _ in range(size)]
        return groups

    def optional_places(self) -> np.ndarray:
        """int64[len(OPTIONAL)], where the values of each OPTIONAL feature begin, or ABSENT."""
        return _optional_places(self.groups)


@lru_cache
def _optional_places(groups: tuple[tuple[str, int | None], ...]) -> np.ndarray:
    places, end = dict.fromkeys(OPTIONAL, ABSENT), 0
    for name, size in groups:
        if name in places:
            places[name] = end
        end += 1 if size is None else size
    return np.array([places[name] for name in OPTIONAL], np.int64)


def feature_names(weights: DenseWeights, given: Weights) -> FeatureLayout:
    """The layout of the vector; the OPTIONAL features that there are `given` says."""
    lists: list[tuple[str, int | None]] = [(name, getattr(weights, name).size) for name in LISTS]
    optional = [(name, getattr(given, name)) for name in OPTIONAL if getattr(given, name) is not None]
    return FeatureLayout(
        (
            *((name, size) for name, size in lists if size),
            *((name, None) for name in SCALARS),
            *((name, len(value) if isinstance(value, list) else None) for name, value in optional),
        )
    )


def dense_weights(
    weights: Weights, n_translation: int, reordering: Reordering | None, n_language_models: int
) -> DenseWeights:
    """`weights` as kernels take them. Raises ModelError where their number does not fit the model."""
    n_reordering = reordering.n_weights if reordering else 0
    lexical = weights.reordering if reordering else []
    for name, found, expected in (
        ("translation", len(weights.translation), n_translation),
        ("reordering", len(lexical), n_reordering),
        ("language_model", len(weights.language_model), n_language_models),
    ):
        if found != expected:
            raise ModelError(f"weights: {name} has {found} weights, the model has {expected} such scores; give as many")
    length_groups = np.array(weights.length_groups or [], float)
    scalars = {name: float(getattr(weights, name) or 0) for name in (*SCALARS, *OPTIONAL[:LENGTH_GROUPS])}
    return DenseWeights(
        np.array(weights.translation, float),
        np.array(lexical, float),
        np.array(weights.language_model, float),
        length_groups=length_groups,
        by_length=weights_by_length(length_groups, n_translation),
        sparse=np.array([getattr(weights, name) or 0.0 for name in GROUPS], float),
        **scalars,
    )


def active_groups(given: Weights, sparse: Sparse) -> np.ndarray:
    """bool[len(GROUPS)], the groups of sparse features that have a scale. Raises ModelError if the model lacks one."""
    wanted = np.array([getattr(given, name) is not None for name in GROUPS])
    for i in np.flatnonzero(wanted & ~sparse.active):
        raise ModelError(f"weights: {GROUPS[i]} is given, but the model has no such features; remove it")
    return wanted


def weight_vector(weights: DenseWeights, names: FeatureLayout) -> np.ndarray:
    """float64[F] weights in the order of a feature vector."""
    sparse = dict(zip(GROUPS, weights.sparse))
    return np.concatenate([np.atleast_1d(sparse.get(name, getattr(weights, name, 0.0))) for name, _ in names.groups])
