"""The layout of feature vectors, and the weights of the dense features as kernels take them."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense_feature import names_of
from phrasebeam.decoder.features.length_groups import weights_by_length
from phrasebeam.decoder.features.pair import PAIR_FEATURES
from phrasebeam.decoder.features.registry import LISTS, OPTIONAL, SCALARS
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.operations.operation_states import N_VALUES
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.tables.phrase_table import PhraseTable

UNKNOWN_WORD = -100.0  # value of the unknown-word penalty for each copied word, as in Moses
LN10 = 2.302585092994046
ABSENT = -1
SAMPLE = 1 << 10  # first pairs of a phrase table, by which we tell whether it has counts


class DenseWeights(NamedTuple):
    """Weights of the dense features, whose scores are natural logs; 0 for features that the model lacks."""

    translation: np.ndarray  # float64[K], of the phrase table's columns
    reordering: np.ndarray  # float64[R], of the reordering features; empty without them
    language_model: np.ndarray  # float64[L], of the language models
    distortion: float
    word_penalty: float
    phrase_penalty: float
    unknown_word_penalty: float
    early_distortion: float
    pair: np.ndarray  # float64[len(PAIR_FEATURES)]; empty without any, so that ranking pairs loses no time
    length_groups: np.ndarray  # float64[G]
    by_length: np.ndarray  # float64[K, M + 1, M + 1], sums of length_groups, see weights_by_length
    related_words: float
    operations: np.ndarray  # float64[3], of ln p, gaps, jumps back; empty without the feature
    input_score: np.ndarray  # float64[I], of the scores of a lattice's arcs
    sparse: np.ndarray  # float64[len(GROUPS)], scales of the groups of sparse features


class FeaturePlaces(NamedTuple):
    """The index of the first value of each feature in a feature vector, or ABSENT."""

    translation: int
    reordering: int
    language_model: int
    distortion: int
    word_penalty: int
    phrase_penalty: int
    unknown_word_penalty: int
    early_distortion: int
    length_groups: int
    related_words: int
    operations: int
    input_score: int
    pair: np.ndarray  # int64[len(PAIR_FEATURES)]
    sparse: np.ndarray  # int64[len(GROUPS)]; the value of a group is its sum of weights times values


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
        """The values of `vector` (float64[F]) by the names in weights.yaml, as numbers and lists like there."""
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
    single = {name: begin.get(name, ABSENT) for name in FeaturePlaces._fields if name not in ("pair", "sparse")}
    return FeaturePlaces(pair=pair, sparse=sparse, **single)


def feature_names(weights: DenseWeights, named: Weights) -> FeatureLayout:
    """The layout of feature vectors; `named`, the weights of weights.yaml, says which OPTIONAL features there are."""
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
    """Raise ModelError if a feature with a weight needs counts and the table has none, as those of other toolkits."""
    names = [feature.name for feature in PAIR_FEATURES if feature.needs_counts]
    needed = [name for name in names if getattr(weights, name) is not None]
    if needed and not phrases.joint_counts[:SAMPLE].any():
        raise ModelError(f"weights: {needed[0]} is given, but the phrase table has no counts; remove it")


def dense_weights(
    weights: Weights, n_translation: int, reordering: Reordering | None, n_language_models: int
) -> DenseWeights:
    """`weights` as kernels take them. Raises ModelError where the length of a list does not fit the model."""
    n_reordering = reordering.n_weights if reordering else 0
    lexical = weights.reordering if reordering else []
    for name, n_weights, expected in (
        ("translation", len(weights.translation), n_translation),
        ("reordering", len(lexical), n_reordering),
        ("language_model", len(weights.language_model), n_language_models),
    ):
        if n_weights != expected:
            raise ModelError(
                f"weights: {name} has {n_weights} weights, the model has {expected} such scores; give as many"
            )
    length_groups = np.array(weights.length_groups or [], float)
    pair = [getattr(weights, name) for name in names_of(PAIR_FEATURES)]
    if all(weight is None for weight in pair):
        pair = []
    scalars = {name: float(getattr(weights, name)) for name in names_of(SCALARS)}
    return DenseWeights(
        np.array(weights.translation, float),
        np.array(lexical, float),
        np.array(weights.language_model, float),
        early_distortion=weights.early_distortion or 0.0,
        pair=np.array([weight or 0.0 for weight in pair], float),
        length_groups=length_groups,
        by_length=weights_by_length(length_groups, n_translation),
        related_words=weights.related_words or 0.0,
        operations=np.array(weights.operations or [], float),
        input_score=np.array(weights.input_score or [], float),
        sparse=np.array([getattr(weights, name) or 0.0 for name in GROUPS], float),
        **scalars,
    )


def check_operations(weights: Weights, n_operations: int) -> None:
    """Raise ModelError if `operations` has a weight and the model no operations, or other than three weights."""
    if weights.operations is None:
        return
    if not n_operations:
        raise ModelError("weights: operations is given, but the model has no operation sequence model; remove it")
    if len(weights.operations) != N_VALUES:
        found = f"weights: operations has {len(weights.operations)} weights, expected {N_VALUES}"
        raise ModelError(f"{found}: of ln p, of gaps, of jumps back")


def active_groups(weights: Weights, sparse: Sparse) -> np.ndarray:
    """bool[len(GROUPS)], the groups of sparse features that have a scale. Raises ModelError if the model lacks one."""
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
