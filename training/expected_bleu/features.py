"""Hashed features of phrase pairs, and phrase table scores, which are sums of their weights.

These are the sets of Wuebker et al. (2015), section 5.3, that depend on the phrase pair alone; orientation_features.py
has set (d). (a) the pair itself; (b) each pair of a source and a target word in it; (c) triplets (Hasan et al. 2008):
each source word with two target words in their order, and each target word with two source words. Each set is a model
of its own, and (c) is two models. The score of a pair in a model is the sum of the weights of its features.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phrasebeam.decoder.sparse.sparse_weights import add_weights, fill_weights, new_sparse_weights
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.hashing import START, combine, mix
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.training.expected_bleu.config import FeatureSet
from phrasebeam.training.expected_bleu.objective import Design, add_by_event

PAIR, WORD_PAIRS, TARGET_TRIPLETS, SOURCE_TRIPLETS = (np.int64(i) for i in range(4))
MODELS: dict[FeatureSet, tuple[np.int64, ...]] = {
    "a": (PAIR,),
    "b": (WORD_PAIRS,),
    "c": (TARGET_TRIPLETS, SOURCE_TRIPLETS),
}
PAIRS_AT_ONCE = 1 << 14  # few, since all scores of these pairs are copied, and a table may have many
ABSENT = np.int64(-1)


@inner_kernel
def n_features(model, n_source, n_target):
    """Number of features (int64) of a pair of `n_source` and `n_target` (int64) words in a `model` (int64)."""
    if model == PAIR:
        return np.int64(1)
    if model == WORD_PAIRS:
        return n_source * n_target
    if model == TARGET_TRIPLETS:
        return n_source * (n_target * (n_target - 1) // 2)
    return n_target * (n_source * (n_source - 1) // 2)


@kernel
def count_features(table: PhraseTable, model, sources, pairs, first):
    """Write to `first` (int64[K + 1]) at which index the features of each of `pairs` (int64[K]) begin.

    `model` (int64): the model of features; `sources` (int64[K]): the source phrases of the pairs.
    """
    first[0] = 0
    for k in range(pairs.size):
        n_source = table.source_offsets[sources[k] + 1] - table.source_offsets[sources[k]]
        n_target = table.target_offsets[pairs[k] + 1] - table.target_offsets[pairs[k]]
        first[k + 1] = first[k] + n_features(model, n_source, n_target)


@kernel
def fill_keys(table: PhraseTable, model, sources, pairs, first, keys):
    """Write the keys of the features of `pairs` (int64[K]) to `keys` (uint64), pair k's to first[k]:first[k + 1].

    `model`, `sources` and `first` are those of count_features (int64, int64[K], int64[K + 1]).
    """
    for k in range(pairs.size):
        slot = first[k]
        if model == PAIR:
            keys[slot] = _key(model, pairs[k], ABSENT, ABSENT)
            continue
        begin, end = table.source_offsets[sources[k]], table.source_offsets[sources[k] + 1]
        target, target_end = table.target_offsets[pairs[k]], table.target_offsets[pairs[k] + 1]
        for i in range(begin, end):
            f = np.int64(table.source_words[i])
            for j in range(target, target_end):
                e = np.int64(table.target_words[j])
                if model == WORD_PAIRS:
                    keys[slot] = _key(model, f, e, ABSENT)
                    slot += 1
                elif model == TARGET_TRIPLETS:
                    for other in range(j + 1, target_end):
                        keys[slot] = _key(model, f, e, np.int64(table.target_words[other]))
                        slot += 1
                else:
                    for other in range(i + 1, end):
                        keys[slot] = _key(model, e, f, np.int64(table.source_words[other]))
                        slot += 1


@inner_kernel
def _key(model, first, second, third):
    return mix(combine(combine(combine(combine(START, model), first), second), third))


@dataclass(frozen=True)
class Features:
    """The F features of the phrase pairs in n-best lists."""

    models: tuple[np.int64, ...]
    keys: tuple[np.ndarray, ...]  # uint64[...], keys of the features of each model, sorted
    designs: tuple[Design, ...]  # of each model; features are numbered model by model, in the order of their keys

    @property
    def size(self) -> int:
        """Number of features, F."""
        return sum(keys.size for keys in self.keys)

    def weights_by_model(self, weights: np.ndarray) -> list[np.ndarray]:
        """The parts of `weights` (float64[F]) that belong to each model, as views."""
        return np.split(weights, np.cumsum([keys.size for keys in self.keys])[:-1])


def find_features(table: PhraseTable, pairs: np.ndarray, sets: Sequence[FeatureSet]) -> Features:
    """The features in `sets` of `pairs` (int64[E]): the phrase pair of each event."""
    models = tuple(model for name in sets for model in MODELS[name])
    keys, designs, n_before = [], [], 0
    for model in models:
        sorted_keys = _known_keys(table, model, pairs)
        designs.append(_design(table, model, pairs, sorted_keys, n_before))
        keys.append(sorted_keys)
        n_before += sorted_keys.size
    return Features(models, tuple(keys), tuple(designs))


def _known_keys(table: PhraseTable, model: np.int64, pairs: np.ndarray) -> np.ndarray:
    """Distinct keys (uint64[...]) of all features of `pairs`, sorted; takes memory for several times their number."""
    sorted_keys, waiting = np.zeros(0, np.uint64), [np.zeros(0, np.uint64)]
    for begin in range(0, pairs.size, PAIRS_AT_ONCE):
        waiting.append(np.unique(pair_keys(table, model, pairs[begin : begin + PAIRS_AT_ONCE])[1]))
        if sum(keys.size for keys in waiting) > sorted_keys.size:
            sorted_keys, waiting = np.unique(np.concatenate([sorted_keys, *waiting])), []
    return np.unique(np.concatenate([sorted_keys, *waiting]))


def _design(table: PhraseTable, model: np.int64, pairs: np.ndarray, sorted_keys: np.ndarray, n_before: int) -> Design:
    """The features that the pairs fire, numbered from `n_before` on in the order of `sorted_keys` (uint64, sorted)."""
    first, parts = np.zeros(pairs.size + 1, np.int64), [np.zeros(0, np.int32)]
    for begin in range(0, pairs.size, PAIRS_AT_ONCE):
        piece_first, keys = pair_keys(table, model, pairs[begin : begin + PAIRS_AT_ONCE])
        first[begin + 1 : begin + piece_first.size] = first[begin] + piece_first[1:]
        parts.append((np.searchsorted(sorted_keys, keys) + n_before).astype(np.int32))
    return Design(first, np.concatenate(parts))


def pair_keys(table: PhraseTable, model: np.int64, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index at which the features of each of `pairs` (int64[K]) begin (int64[K + 1]), and their keys (uint64)."""
    sources = np.searchsorted(table.pair_offsets, pairs, side="right") - 1
    first = np.empty(pairs.size + 1, np.int64)
    count_features(table, model, sources, pairs, first)
    keys = np.empty(int(first[-1]), np.uint64)
    fill_keys(table, model, sources, pairs, first, keys)
    return first, keys


def condensed(table: PhraseTable, features: Features, weights: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the scores of all pairs of the table, in pieces (float32[K, models]).

    The weight of a feature that does not occur in the lists is 0.
    """
    by_key = [new_sparse_weights(keys.size) for keys in features.keys]
    for sparse, keys, values in zip(by_key, features.keys, features.weights_by_model(weights)):
        add_weights(sparse, keys, values)
    n_pairs = table.target_offsets.size - 1
    for begin in range(0, n_pairs, PAIRS_AT_ONCE):
        pairs = np.arange(begin, min(begin + PAIRS_AT_ONCE, n_pairs))
        scores = np.zeros((pairs.size, len(features.models)), np.float32)
        for column, (model, sparse) in enumerate(zip(features.models, by_key)):
            first, keys = pair_keys(table, model, pairs)
            values, sums = np.empty(keys.size), np.zeros(pairs.size)
            fill_weights(sparse, keys, values)
            add_by_event(Design(first, np.arange(keys.size, dtype=np.int32)), values, sums)
            scores[:, column] = sums
        yield scores
