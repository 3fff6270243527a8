"""Optional features of a phrase pair alone, such as whether it was seen once (Green et al. 2013, section 3).

The features of idf are q and -q of their equation 8 where these are positive; the paper names the target for both, by
mistake, as it announces one for the source.

To add one, declare it in PAIR_FEATURES and compute its value in `pair_feature`. Synthetic pairs have the value 0.
"""

from typing import TYPE_CHECKING

import numpy as np

from phrasebeam.decoder.features.dense_feature import DenseFeature, names_of
from phrasebeam.decoder.features.length_groups import add_length_groups
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.decoder.tables.word_counts import WordIdf, pair_idf
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

if TYPE_CHECKING:
    from phrasebeam.decoder.features.dense import DenseWeights, FeaturePlaces

PAIR_FEATURES = (
    DenseFeature("bitext_count", "ln of how often the phrase pair was extracted from the bitext", needs_counts=True),
    DenseFeature("unique_rule", "1 for each phrase pair that was extracted once", needs_counts=True),
    DenseFeature(
        "target_idf",
        "by how much the target words of each phrase pair are rarer than its source words: idf, summed, in ln",
        needs_counts=True,
    ),
    DenseFeature("source_idf", "by how much the source words are rarer", needs_counts=True),
)
BITEXT_COUNT = np.int64(names_of(PAIR_FEATURES).index("bitext_count"))
UNIQUE_RULE = np.int64(names_of(PAIR_FEATURES).index("unique_rule"))
TARGET_IDF = np.int64(names_of(PAIR_FEATURES).index("target_idf"))
SOURCE_IDF = np.int64(names_of(PAIR_FEATURES).index("source_idf"))


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
    return np.nan


@inlined_kernel
def score_pair(phrases: PhraseTable, idf: WordIdf, weights: "DenseWeights", pair, source_length, target_length):
    """Weighted sum of the translation scores and the optional features of `pair`.

    `source_length` and `target_length` (int64) are in words.
    """
    shorter, longer = min(source_length, target_length), max(source_length, target_length)
    is_grouped = longer < weights.by_length.shape[1]
    total = 0.0
    for column in range(weights.translation.size):
        weight = weights.translation[column]
        if is_grouped:
            weight += weights.by_length[column, shorter, longer]
        total += weight * phrases.ln_scores[pair, column]
    for feature in range(weights.pair.size):
        if weights.pair[feature] != 0.0:
            value = pair_feature(feature, phrases, idf, pair, source_length, target_length)
            total += weights.pair[feature] * value
    return total


@inner_kernel
def add_pair_features(
    phrases: PhraseTable,
    idf: WordIdf,
    pair,
    source_length,
    target_length,
    places: "FeaturePlaces",
    longest_grouped,
    features,
):
    """Add the optional features of `pair` to the feature vector `features` (float64[F]), at their `places`.

    `source_length` and `target_length` are int64, in words; `longest_grouped` (int64): see longest_grouped.
    """
    for feature in range(places.pair.size):
        if places.pair[feature] >= 0:
            value = pair_feature(feature, phrases, idf, pair, source_length, target_length)
            features[places.pair[feature]] += value
    if places.length_groups >= 0:
        shorter, longer = min(source_length, target_length), max(source_length, target_length)
        add_length_groups(phrases.ln_scores[pair], shorter, longer, longest_grouped, features[places.length_groups :])
