"""A derivation, the phrases of one translation in target order, and its feature vector computed from scratch."""

from typing import NamedTuple

import numpy as np

from decoder.features.dense import LN10, UNKNOWN_WORD
from decoder.features.language_model import BEGIN_STATE, score_after
from decoder.features.reordering import BACKWARD, FORWARD, START_BEGIN, START_END, orientation, orientation_column
from decoder.options import COPY
from lm.jit import kernel


class Derivation(NamedTuple):
    """K phrases, first target phrase first; source spans are half open."""

    pair: np.ndarray  # int64[K], phrase pair or COPY
    begin: np.ndarray  # int32[K]
    end: np.ndarray  # int32[K]


@kernel
def fill_features(derivation, tables, copy_lm_ids, states, lm_words, features):
    """Add the derivation's values to `features` (float64[F], laid out as FeatureNames).

    Writes the language model ids of the translation, </s> included, into `lm_words` (int32[target words + 1]).
    """
    n_translation = tables.phrases.ln_scores.shape[1]
    n_reordering = tables.ln_reordering.shape[1]
    language_model = n_translation + n_reordering
    size, previous_begin, previous_end, previous_pair = np.int64(0), START_BEGIN, START_END, COPY
    for i in range(derivation.pair.size):
        pair, begin, end = derivation.pair[i], np.int64(derivation.begin[i]), np.int64(derivation.end[i])
        which = orientation(previous_begin, previous_end, begin, end)
        _add_orientation(tables.ln_reordering, pair, BACKWARD, which, n_translation, features)
        _add_orientation(tables.ln_reordering, previous_pair, FORWARD, which, n_translation, features)
        features[language_model + 1] -= abs(begin - previous_end)
        features[language_model + 3] += 1.0
        if pair == COPY:
            lm_words[size] = copy_lm_ids[begin]
            size += 1
            features[language_model + 4] += UNKNOWN_WORD
        else:
            for column in range(n_translation):
                features[column] += tables.phrases.ln_scores[pair, column]
            for place in range(tables.phrases.target_offsets[pair], tables.phrases.target_offsets[pair + 1]):
                lm_words[size] = tables.target_lm_ids[tables.phrases.target_words[place]]
                size += 1
        previous_begin, previous_end, previous_pair = begin, end, pair
    features[language_model + 2] -= size
    lm_words[size] = tables.end_word[0]
    features[language_model] += LN10 * score_after(tables.lm, lm_words, np.int64(0), size + 1, states, BEGIN_STATE)[0]


@kernel
def fill_feature_matrix(derivations, offsets, tables, copy_lm_ids, states, lm_words, features):
    """fill_features of the derivations offsets[i]:offsets[i + 1] of a long one; `lm_words` holds the longest."""
    for i in range(features.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        derivation = Derivation(
            derivations.pair[first:last], derivations.begin[first:last], derivations.end[first:last]
        )
        fill_features(derivation, tables, copy_lm_ids, states, lm_words, features[i])


@kernel
def _add_orientation(ln_reordering, pair, direction, which, offset, features):
    n_orientations = ln_reordering.shape[1] // 2
    if n_orientations > 0 and pair != COPY:
        column = orientation_column(direction, which, n_orientations)
        features[offset + column] += ln_reordering[pair, column]
