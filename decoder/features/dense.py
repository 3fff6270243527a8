"""The layout of feature vectors, and the weights of the dense features as kernels take them."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import struct_of
from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense_feature import names_of
from phrasebeam.decoder.features.pair import PAIR_FEATURES, weights_by_length
from phrasebeam.decoder.features.registry import LISTS, OF_LETTERS, OPTIONAL, SCALARS, SINGLE
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.stateful import ABSENT, STATEFUL
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.tables.phrase_table import PhraseTable

UNKNOWN_WORD = -100.0  # value of the unknown-word penalty for each copied word, as in Moses
SAMPLE = 1 << 10  # the first pairs of a phrase table: they show whether it has counts

_FIELDS = (*names_of(SINGLE), "pair", "sparse")
_Weights: Any = struct_of("_Weights", (*_FIELDS, "by_length"))
_Places: Any = struct_of("_Places", _FIELDS)


class DenseWeights(_Weights):
    """Weights of the dense features by name, for scores in natural logs; 0 or empty for features that a model lacks.

    A single weight is a float, a list of weights float64[...]. `pair` is float64[len(PAIR_FEATURES)], or empty if no
    such feature has a weight, so that ranking pairs loses no time; `sparse` is float64[len(GROUPS)], the scales of the
    groups of sparse features; `by_length` is float64[K, M + 1, M + 1], sums of `length_groups`, see weights_by_length.
    """

    __slots__ = ()


class FeaturePlaces(_Places):
    """The index of the first value of each feature in a feature vector, or ABSENT.

    `pair` is int64[len(PAIR_FEATURES)]; `sparse` is int64[len(GROUPS)], for each group the place of the sum of its
    weights times its values.
    """

    __slots__ = ()


class FeatureLayout(NamedTuple):
    """The layout of a feature vector: the features of a model, in the order of FEATURES."""

    groups: tuple[tuple[str, int | None], ...]  # name, and length of a list of values, or None for a single number

    def names(self) -> list[str]:
        """One name for each value of the vector; values of a list are numbered from 0."""
        names: list[str] = []
        for name, size in self.groups:
            names += [name] if size is None else [f"{name}_{i}" for i in range(size)]
        return names

    def has(self, name: str) -> bool:
        """Whether the model has a feature."""
        return any(one == name for one, _ in self.groups)

    @property
    def size(self) -> int:
        """The number of values of the vector."""
        return sum(1 if size is None else size for _, size in self.groups)

    def by_group(self, vector: np.ndarray) -> dict[str, float | list[float]]:
        """The values of `vector` (float64[F]) by the names in weights.yaml, as numbers and lists as in that file."""
        values, groups = iter(vector.tolist()), {}
        for name, size in self.groups:
            groups[name] = next(values) if size is None else [next(values) for _ in range(size)]
        return groups

    def places(self) -> FeaturePlaces:
        """The index of each feature, for kernels."""
        return _places(self.groups)


@lru_cache
def _places(groups: tuple[tuple[str, int | None], ...]) -> FeaturePlaces:
    begin, end = dict[str, int](), 0
    for name, size in groups:
        begin[name] = end
        end += 1 if size is None else size
    pair, sparse = (
        np.array([begin.get(name, ABSENT) for name in names], np.int64) for names in (names_of(PAIR_FEATURES), GROUPS)
    )
    single = {name: begin.get(name, ABSENT) for name in names_of(SINGLE)}
    return FeaturePlaces(pair=pair, sparse=sparse, **single)


def feature_names(weights: DenseWeights, named: Weights) -> FeatureLayout:
    """The layout of feature vectors; it has the OPTIONAL features for which `named` (from weights.yaml) has weights."""
    lists: list[tuple[str, int | None]] = [(name, getattr(weights, name).size) for name in names_of(LISTS)]
    optional = [(name, getattr(named, name)) for name in names_of(OPTIONAL) if getattr(named, name) is not None]
    return FeatureLayout(
        (
            *((name, size) for name, size in lists if size),
            *((name, None) for name in names_of(SCALARS)),
            *((name, len(value) if isinstance(value, list) else None) for name, value in optional),
        )
    )


def check_counts(weights: Weights, phrases: PhraseTable) -> None:
    """Raise ModelError if a feature with a weight needs counts and the table has none, as with other toolkits."""
    names = [feature.name for feature in PAIR_FEATURES if feature.needs_counts]
    needed = [name for name in names if getattr(weights, name) is not None]
    if needed and not phrases.joint_counts[:SAMPLE].any():
        raise ModelError(f"weights: {needed[0]} is given, but the phrase table has no counts; remove it")


def check_letters(weights: Weights, has_letters: bool) -> None:
    """Raise ModelError if a feature with a weight needs a model of letters, and the model has none."""
    for name in names_of(OF_LETTERS):
        if getattr(weights, name) is not None and not has_letters:
            raise ModelError(f"weights: {name} is given, but the model has no model of letters; remove it")


def dense_weights(
    weights: Weights, n_translation: int, reordering: Reordering | None, n_language_models: int
) -> DenseWeights:
    """`weights` as kernels take them. Raises ModelError if the length of a list does not fit the model."""
    n_reordering = reordering.n_weights if reordering else 0
    lexical = weights.reordering if reordering else []
    for name, n_weights, expected in (
        ("translation", len(weights.translation), n_translation),
        ("reordering", len(lexical), n_reordering),
        ("language_model", len(weights.language_model), n_language_models),
    ):
        if n_weights != expected:
            raise ModelError(
                f"weights: {name} has {n_weights} weights, the model has {expected} such scores; give the same number"
            )
    pair = [getattr(weights, name) for name in names_of(PAIR_FEATURES)]
    if all(weight is None for weight in pair):
        pair = []
    single = {one.name: _numbers(getattr(weights, one.name), one.kind != "number") for one in SINGLE}
    return DenseWeights(
        **single | {"reordering": np.array(lexical, float)},
        pair=np.array([weight or 0.0 for weight in pair], float),
        sparse=np.array([getattr(weights, name) or 0.0 for name in GROUPS], float),
        by_length=weights_by_length(single["length_groups"], n_translation),
    )


def _numbers(weights: Any, is_list: bool) -> Any:
    return np.array(weights or [], float) if is_list else float(weights or 0.0)


def check_stateful(weights: Weights, tables: Any) -> None:
    """Raise ModelError if a feature of STATEFUL has a weight that does not fit the model with these Tables."""
    for feature in STATEFUL:
        if feature.check and getattr(weights, feature.name) is not None:
            feature.check(getattr(weights, feature.name), tables)


def active_groups(weights: Weights, sparse: Sparse) -> np.ndarray:
    """bool[len(GROUPS)], which groups of sparse features have a scale. Raises ModelError if the model lacks one."""
    has_scale = np.array([getattr(weights, name) is not None for name in GROUPS])
    for i in np.flatnonzero(has_scale & ~sparse.active):
        raise ModelError(f"weights: {GROUPS[i]} is given, but the model has no such features; remove it")
    return has_scale


def weight_vector(weights: DenseWeights, names: FeatureLayout) -> np.ndarray:
    """float64[F] weights in the order of the feature vector; `names` is its layout."""
    optional = dict(zip(names_of(PAIR_FEATURES), weights.pair)) | dict(zip(GROUPS, weights.sparse))
    return np.concatenate(
        [np.atleast_1d(optional[name] if name in optional else getattr(weights, name)) for name, _ in names.groups]
    )
