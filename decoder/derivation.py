"""A derivation, the phrases of one translation in target order, and its feature vector computed from scratch."""

from typing import NamedTuple

import numpy as np

from decoder.features.dense import LN10
from decoder.features.language_model import BEGIN_STATE, States, score_after
from decoder.features.reordering import BACKWARD, FORWARD, START_BEGIN, START_END, orientation, orientation_column
from decoder.own_pairs import own_number, table_pair
from decoder.tables import read_target
from lm.jit import kernel

NO_PAIR = np.int64(-1)  # before the first, and for a sentence's own pair without a twin in the phrase table
ZERO = np.int64(0)


class Derivation(NamedTuple):
    """K phrases, first target phrase first; source spans are half open."""

    pair: np.ndarray  # int64[K], phrase pair; negative: one of OwnPairs
    begin: np.ndarray  # int32[K]
    end: np.ndarray  # int32[K]


class Scratch(NamedTuple):
    """Room for a translation of up to T words, </s> included."""

    states: States
    words: np.ndarray  # int32[T], target ids, or beyond them, see OwnPairs
    lm_words: np.ndarray  # int32[T, L], language model ids


@kernel
def fill_features(derivation, tables, own, scratch, features):
    """Add the derivation's values to `features` (float64[F], laid out as FeatureNames); the number of target words."""
    n_translation = tables.phrases.ln_scores.shape[1]
    n_reordering = tables.ln_reordering.shape[1]
    language_model = n_translation + n_reordering
    scalars = language_model + tables.lms.orders.size
    size, previous_begin, previous_end, previous_pair = np.int64(0), START_BEGIN, START_END, NO_PAIR
    for i in range(derivation.pair.size):
        pair, begin, end = derivation.pair[i], np.int64(derivation.begin[i]), np.int64(derivation.end[i])
        which = orientation(previous_begin, previous_end, begin, end)
        known = table_pair(own, pair)
        _add_orientation(tables.ln_reordering, known, BACKWARD, which, n_translation, features)
        _add_orientation(tables.ln_reordering, previous_pair, FORWARD, which, n_translation, features)
        features[scalars] -= abs(begin - previous_end)
        features[scalars + 2] += 1.0
        size += read_target(tables, own, pair, size, scratch.words, scratch.lm_words)
        for column in range(n_translation):
            if pair < 0:
                features[column] += own.ln_score[own_number(pair)]
            else:
                features[column] += tables.phrases.ln_scores[pair, column]
        if pair < 0:
            features[scalars + 3] += own.unknown[own_number(pair)]
        previous_begin, previous_end, previous_pair = begin, end, known
    features[scalars + 1] -= size
    for which in range(tables.lms.orders.size):
        scratch.lm_words[size, which] = tables.lms.end_ids[0, which]
    score_after(tables.lms, scratch.lm_words, ZERO, size + 1, scratch.states, BEGIN_STATE)
    for which in range(tables.lms.orders.size):
        features[language_model + which] += LN10 * scratch.states.log10_prob[which]
    return size


@kernel
def fill_feature_matrix(derivations, offsets, tables, own, scratch, features):
    """fill_features of the derivations offsets[i]:offsets[i + 1] of a long one."""
    for i in range(features.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        derivation = Derivation(
            derivations.pair[first:last], derivations.begin[first:last], derivations.end[first:last]
        )
        fill_features(derivation, tables, own, scratch, features[i])


@kernel
def _add_orientation(ln_reordering, pair, direction, which, offset, features):
    n_orientations = ln_reordering.shape[1] // 2
    if n_orientations > 0 and pair >= 0:
        column = orientation_column(direction, which, n_orientations)
        features[offset + column] += ln_reordering[pair, column]
