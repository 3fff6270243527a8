"""Optional features of a phrase pair alone, such as whether it was seen once (Green et al. 2013, section 3).

The features of idf are q and -q of their equation 8 where these are positive. The paper mistakenly names the target for
both, although it announces one for the source.

Length groups (Tan et al. 2013, section 4.1) are a list: for each score of the phrase table and each range of lengths
a..b within 1..M, a feature has that score as its value for the pairs whose two sides are both a to b words long, and 0
for others. The paper speaks of a range for each side, but has 55 groups per score for M = 10, which is the number of
single ranges; so we use one range for both sides.

To add a feature, declare it in PAIR_FEATURES and compute its value in `pair_feature`, or write a plugin, see
phrasebeam.plugins.
Synthetic pairs have the value 0.
"""

import math
from typing import Any

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense_feature import DenseFeature, names_of
from phrasebeam.decoder.tables.phrase_table import PhraseTable, ln_score
from phrasebeam.decoder.tables.word_counts import WordIdf, pair_idf
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.plugins.declarations import plugins

_OWN = tuple(plugins().pair_features.values())
PAIR_FEATURES = (
    DenseFeature(
        "bitext_count",
        "log of the number of times that the phrase pair was extracted from the bitext",
        needs_counts=True,
    ),
    DenseFeature("unique_rule", "1 for each phrase pair that was extracted only once", needs_counts=True),
    DenseFeature(
        "target_idf",
        "how much rarer the target words of each phrase pair are than its source words: the difference "
        "of the sums of idf",
        needs_counts=True,
    ),
    DenseFeature("source_idf", "how much rarer the source words are than the target words", needs_counts=True),
    *(DenseFeature(own.name, own.description, needs_counts=own.needs_counts) for own in _OWN),
)
BITEXT_COUNT = np.int64(names_of(PAIR_FEATURES).index("bitext_count"))
UNIQUE_RULE = np.int64(names_of(PAIR_FEATURES).index("unique_rule"))
TARGET_IDF = np.int64(names_of(PAIR_FEATURES).index("target_idf"))
SOURCE_IDF = np.int64(names_of(PAIR_FEATURES).index("source_idf"))


def _of_plugins() -> Any:
    """A kernel with the parameters of `pair_feature` that computes the features of plugins; NaN for all others."""
    parameters = "phrases, idf, pair, source_length, target_length"
    scope: dict[str, Any] = {own.name: inlined_kernel(own.value) for own in _OWN} | {"math": math, "__name__": __name__}
    first = len(PAIR_FEATURES) - len(_OWN)
    asked = [f"    if feature == {first + i}: return float({own.name}({parameters}))" for i, own in enumerate(_OWN)]
    text = "\n".join([f"def own_feature(feature, {parameters}):", *asked, "    return math.nan"])
    exec(compile(text, __file__, "exec"), scope)  # under this file's name, see stateful.py
    return inlined_kernel(scope["own_feature"])


own_feature = _of_plugins()


@inlined_kernel
def pair_feature(feature, phrases: PhraseTable, idf: WordIdf, pair, source_length, target_length):
    """Value of a feature (index of PAIR_FEATURES) of `pair`, of `source_length` and `target_length` words (int64).

    NaN for a feature that is declared but not computed here; the search reports it as a score that is not finite.
    """
    if feature == BITEXT_COUNT:
        return np.log(max(1.0, np.float64(phrases.joint_counts[pair])))
    if feature == UNIQUE_RULE:
        return 1.0 if phrases.joint_counts[pair] == 1 else 0.0
    if feature == TARGET_IDF:
        return max(pair_idf(phrases, idf, pair), 0.0)
    if feature == SOURCE_IDF:
        return max(-pair_idf(phrases, idf, pair), 0.0)
    return own_feature(feature, phrases, idf, pair, source_length, target_length)


@inlined_kernel
def score_pair(phrases: PhraseTable, idf: WordIdf, weights, pair, source_length, target_length):
    """Weighted sum of the translation scores and the optional features of `pair`.

    `weights` are DenseWeights; `source_length` and `target_length` (int64) are in words.
    """
    shorter, longer = min(source_length, target_length), max(source_length, target_length)
    is_grouped = longer < weights.by_length.shape[1]
    total = 0.0
    for column in range(weights.translation.size):
        weight = weights.translation[column]
        if is_grouped:
            weight += weights.by_length[column, shorter, longer]
        total += weight * ln_score(phrases, pair, column)
    for feature in range(weights.pair.size):
        if weights.pair[feature] != 0.0:
            value = pair_feature(feature, phrases, idf, pair, source_length, target_length)
            total += weights.pair[feature] * value
    return total


@inner_kernel
def add_pair_features(
    phrases: PhraseTable, idf: WordIdf, pair, source_length, target_length, places, longest_grouped, features
):
    """Add the optional features of `pair` to the feature vector `features` (float64[F]).

    `places` are FeaturePlaces; `source_length` and `target_length` are int64, in words; for `longest_grouped` (int64)
    see the function of that name.
    """
    for feature in range(places.pair.size):
        if places.pair[feature] >= 0:
            value = pair_feature(feature, phrases, idf, pair, source_length, target_length)
            features[places.pair[feature]] += value
    if places.length_groups >= 0:
        shorter, longer = min(source_length, target_length), max(source_length, target_length)
        add_length_groups(phrases, pair, shorter, longer, longest_grouped, features[places.length_groups :])


@kernel
def range_index(a, b, longest):
    """Index of the range a..b among the sorted ranges within 1..longest; all are int64."""
    return (a - 1) * longest - (a - 1) * (a - 2) // 2 + b - a


@inner_kernel
def add_length_groups(phrases: PhraseTable, pair, shorter, longer, longest, values):
    """Add the features of a pair by its scores to `values` (float64[K * ranges within 1..longest]).

    `shorter` and `longer` (int64): words of its shorter and of its longer side.
    """
    n_ranges = longest * (longest + 1) // 2
    for column in range(phrases.ln_scores.shape[1]):
        for a in range(1, shorter + 1):
            for b in range(longer, longest + 1):
                values[column * n_ranges + range_index(a, b, longest)] += ln_score(phrases, pair, column)


def n_length_groups(longest: int, n_translation: int) -> int:
    """The number of features for phrases of up to `longest` words and `n_translation` scores of the phrase table."""
    return n_translation * longest * (longest + 1) // 2


def longest_grouped(n_weights: int, n_translation: int) -> int:
    """The longest grouped phrase M, from the number of weights. Raises ModelError if the number fits no M."""
    n_ranges = n_weights // n_translation
    longest = (math.isqrt(8 * n_ranges + 1) - 1) // 2
    if n_length_groups(longest, n_translation) != n_weights:
        message = f"{n_translation} scores times M (M + 1) / 2 for phrases up to M words, such as {28 * n_translation}"
        raise ModelError(f"weights: length_groups has {n_weights} weights, expected {message}")
    return longest


def weights_by_length(weights: np.ndarray, n_translation: int) -> np.ndarray:
    """float64[K, M + 1, M + 1]: at [column, shorter, longer] the sum of `weights` of all groups of such pairs."""
    longest = longest_grouped(weights.size, n_translation)
    summed = np.zeros((n_translation, longest + 1, longest + 1))
    grouped = weights.reshape(n_translation, longest * (longest + 1) // 2)
    for a in range(1, longest + 1):
        for b in range(a, longest + 1):
            summed[:, a:, : b + 1] += grouped[:, range_index(a, b, longest)][:, None, None]
    return summed
