"""Features of phrase pairs, by hash, and what of their weights becomes scores of the phrase table.

The sets of Wuebker et al. (2015), section 5.3, that a phrase pair alone tells; (d) stands in orientation_features.py:
(a) the pair itself; (b) each source and target word in it; (c) triplets (Hasan et al. 2008): each source word with two
target words in their order, and each target word with two source words. Each is a model of its own, (c) two of them:
the weights of what a pair has are added up to one score of the pair.
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
PAIRS_AT_ONCE = 1 << 16
ABSENT = np.int64(-1)


@inner_kernel
def n_features(model, n_source, n_target):
    """How many features a pair of phrases of so many words has in a model."""
    if model == PAIR:
        return np.int64(1)
    if model == WORD_PAIRS:
        return n_source * n_target
    if model == TARGET_TRIPLETS:
        return n_source * (n_target * (n_target - 1) // 2)
    return n_target * (n_source * (n_source - 1) // 2)


@kernel
def count_features(table, model, sources, pairs, first):
    """Write to `first` (int64[K + 1]) where the features of each of `pairs` (int64[K]) begin.

    sources: int64[K], the source phrases of the pairs.
    """
    first[0] = 0
    for k in range(pairs.size):
        n_source = table.source_offsets[sources[k] + 1] - table.source_offsets[sources[k]]
        n_target = table.target_offsets[pairs[k] + 1] - table.target_offsets[pairs[k]]
        first[k + 1] = first[k] + n_features(model, n_source, n_target)


@kernel
def fill_keys(table, model, sources, pairs, first, keys):
    """Write the keys of the features of `pairs` to `keys` (uint64[first[-1]]), in the same places."""
    for k in range(pairs.size):
        place = first[k]
        if model == PAIR:
            keys[place] = _key(model, pairs[k], ABSENT, ABSENT)
            continue
        begin, end = table.source_offsets[sources[k]], table.source_offsets[sources[k] + 1]
        target, target_end = table.target_offsets[pairs[k]], table.target_offsets[pairs[k] + 1]
        for i in range(begin, end):
            f = np.int64(table.source_words[i])
            for j in range(target, target_end):
                e = np.int64(table.target_words[j])
                if model == WORD_PAIRS:
                    keys[place] = _key(model, f, e, ABSENT)
                    place += 1
                elif model == TARGET_TRIPLETS:
                    for other in range(j + 1, target_end):
                        keys[place] = _key(model, f, e, np.int64(table.target_words[other]))
                        place += 1
                else:
                    for other in range(i + 1, end):
                        keys[place] = _key(model, e, f, np.int64(table.source_words[other]))
                        place += 1


@inner_kernel
def _key(model, one, two, three):
    return mix(combine(combine(combine(combine(START, model), one), two), three))


@dataclass(frozen=True)
class Features:
    """F features, those that stand in n-best lists."""

    models: tuple[np.int64, ...]
    keys: tuple[np.ndarray, ...]  # uint64[...], of the features of each model, sorted
    designs: tuple[Design, ...]  # of each model; features are numbered by model, and there by key

    @property
    def size(self) -> int:
        """F."""
        return sum(keys.size for keys in self.keys)

    def weights_by_model(self, weights: np.ndarray) -> list[np.ndarray]:
        """Views of `weights` (float64[F])."""
        return np.split(weights, np.cumsum([keys.size for keys in self.keys])[:-1])


def find_features(table: PhraseTable, pairs: np.ndarray, sets: Sequence[FeatureSet]) -> Features:
    """The features in `sets` of the pairs (int64[E]), each of which is an event."""
    models = tuple(model for name in sets for model in MODELS[name])
    found, designs, n_before = [], [], 0
    for model in models:
        known = _known_keys(table, model, pairs)
        designs.append(_design(table, model, pairs, known, n_before))
        found.append(known)
        n_before += known.size
    return Features(models, tuple(found), tuple(designs))


def _known_keys(table: PhraseTable, model: np.int64, pairs: np.ndarray) -> np.ndarray:
    """uint64[...] keys of all features of `pairs`, sorted; in memory for some times as many."""
    known, waiting = np.zeros(0, np.uint64), [np.zeros(0, np.uint64)]
    for begin in range(0, pairs.size, PAIRS_AT_ONCE):
        waiting.append(np.unique(pair_keys(table, model, pairs[begin : begin + PAIRS_AT_ONCE])[1]))
        if sum(keys.size for keys in waiting) > known.size:
            known, waiting = np.unique(np.concatenate([known, *waiting])), []
    return np.unique(np.concatenate([known, *waiting]))


def _design(table: PhraseTable, model: np.int64, pairs: np.ndarray, known: np.ndarray, n_before: int) -> Design:
    """What the pairs fire, the features being numbered from `n_before` on in the order of `known`."""
    first, parts = np.zeros(pairs.size + 1, np.int64), [np.zeros(0, np.int32)]
    for begin in range(0, pairs.size, PAIRS_AT_ONCE):
        own_first, keys = pair_keys(table, model, pairs[begin : begin + PAIRS_AT_ONCE])
        first[begin + 1 : begin + own_first.size] = first[begin] + own_first[1:]
        parts.append((np.searchsorted(known, keys) + n_before).astype(np.int32))
    return Design(first, np.concatenate(parts))


def pair_keys(table: PhraseTable, model: np.int64, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(int64[K + 1] where the features of each of `pairs` (int64[K]) begin, uint64[...] their keys)."""
    sources = np.searchsorted(table.pair_offsets, pairs, side="right") - 1
    first = np.empty(pairs.size + 1, np.int64)
    count_features(table, model, sources, pairs, first)
    keys = np.empty(int(first[-1]), np.uint64)
    fill_keys(table, model, sources, pairs, first, keys)
    return first, keys


def condensed(table: PhraseTable, features: Features, weights: np.ndarray) -> Iterator[np.ndarray]:
    """float32[K, models] scores of all pairs of the table, some at a time; what no list had weighs nothing."""
    by_key = [new_sparse_weights(keys.size) for keys in features.keys]
    for known, keys, values in zip(by_key, features.keys, features.weights_by_model(weights)):
        add_weights(known, keys, values)
    n_pairs = table.target_offsets.size - 1
    for begin in range(0, n_pairs, PAIRS_AT_ONCE):
        pairs = np.arange(begin, min(begin + PAIRS_AT_ONCE, n_pairs))
        scores = np.zeros((pairs.size, len(features.models)), np.float32)
        for column, (model, known) in enumerate(zip(features.models, by_key)):
            first, keys = pair_keys(table, model, pairs)
            found, sums = np.empty(keys.size), np.zeros(pairs.size)
            fill_weights(known, keys, found)
            add_by_event(Design(first, np.arange(keys.size, dtype=np.int32)), found, sums)
            scores[:, column] = sums
        yield scores
