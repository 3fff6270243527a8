"""Optional features of a phrase pair alone: its count in the bitext, and whether it was seen once (Green et al. 2013).

They need the counts that training keeps. Synthetic pairs have no counts: all values are 0.
"""

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.length_groups import add_length_groups
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

SAMPLE = 1 << 10


def check_counts(weights: Weights, phrases: PhraseTable) -> None:
    """Raise ModelError where features of counts are asked for and the table has none, as those of other toolkits."""
    wanted = [name for name in ("bitext_count", "unique_rule") if getattr(weights, name) is not None]
    if wanted and not phrases.joint_counts[:SAMPLE].any():
        raise ModelError(f"weights: {wanted[0]} is given, but the phrase table has no counts; remove it")


@inlined_kernel
def ln_bitext_count(phrases, pair):
    """Ln of how often the pair was extracted."""
    return np.log(max(1.0, np.float64(phrases.joint_counts[pair])))


@inlined_kernel
def unique_rule(phrases, pair):
    """1 for a pair that was extracted once."""
    return 1.0 if phrases.joint_counts[pair] == 1 else 0.0


@inner_kernel
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
    if weights.bitext_count != 0.0:
        total += weights.bitext_count * ln_bitext_count(phrases, pair)
    if weights.unique_rule != 0.0:
        total += weights.unique_rule * unique_rule(phrases, pair)
    return total


@inner_kernel
def add_pair_features(phrases, pair, source_length, target_length, places, longest_grouped, features):
    """Add the values of the optional features to `features`; `places`: those of bitext count, unique rule, groups."""
    if places[0] >= 0:
        features[places[0]] += ln_bitext_count(phrases, pair)
    if places[1] >= 0:
        features[places[1]] += unique_rule(phrases, pair)
    if places[2] >= 0:
        shorter, longer = min(source_length, target_length), max(source_length, target_length)
        add_length_groups(phrases.ln_scores[pair], shorter, longer, longest_grouped, features[places[2] :])
