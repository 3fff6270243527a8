"""Optional features of a phrase pair alone, such as whether it was seen once (Green et al. 2013).

A new one is a declaration among PAIR_FEATURES, and its value in `pair_feature`. Synthetic pairs have value 0 in all.
"""

import numpy as np

from phrasebeam.decoder.features.dense_feature import DenseFeature, names_of
from phrasebeam.decoder.features.length_groups import add_length_groups
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

PAIR_FEATURES = (
    DenseFeature("bitext_count", "ln of how often the phrase pair was extracted from the bitext", needs_counts=True),
    DenseFeature("unique_rule", "1 for each phrase pair that was extracted once", needs_counts=True),
)
BITEXT_COUNT = np.int64(names_of(PAIR_FEATURES).index("bitext_count"))
UNIQUE_RULE = np.int64(names_of(PAIR_FEATURES).index("unique_rule"))


@inlined_kernel
def pair_feature(which, phrases, pair, source_length, target_length):
    """Value of the feature `which` (index of PAIR_FEATURES) of a pair of the phrase table, of sides of these lengths.

    NaN for a feature without a value here, which the search reports as a score that is not finite.
    """
    if which == BITEXT_COUNT:
        return np.log(max(1.0, np.float64(phrases.joint_counts[pair])))
    if which == UNIQUE_RULE:
        return 1.0 if phrases.joint_counts[pair] == 1 else 0.0
    return np.nan


@inlined_kernel
def score_pair(phrases, weights, pair, source_length, target_length):
    """Weighted sum of the translation scores and the optional features of a pair of the phrase table."""
    shorter, longer = min(source_length, target_length), max(source_length, target_length)
    is_grouped = longer < weights.by_length.shape[1]
    total = 0.0
    for column in range(weights.translation.size):
        weight = weights.translation[column]
        if is_grouped:
            weight += weights.by_length[column, shorter, longer]
        total += weight * phrases.ln_scores[pair, column]
    for which in range(weights.pair.size):
        if weights.pair[which] != 0.0:
            total += weights.pair[which] * pair_feature(which, phrases, pair, source_length, target_length)
    return total


@inner_kernel
def add_pair_features(phrases, pair, source_length, target_length, places, longest_grouped, features):
    """Add the values of the optional features that have places (FeaturePlaces) to `features` (float64[F])."""
    for which in range(places.pair.size):
        if places.pair[which] >= 0:
            features[places.pair[which]] += pair_feature(which, phrases, pair, source_length, target_length)
    if places.length_groups >= 0:
        shorter, longer = min(source_length, target_length), max(source_length, target_length)
        add_length_groups(phrases.ln_scores[pair], shorter, longer, longest_grouped, features[places.length_groups :])
