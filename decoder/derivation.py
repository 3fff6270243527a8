"""A derivation, the phrases of one translation in target order, and its feature vector computed from scratch."""

from typing import NamedTuple

import numpy as np

from decoder.coverage import cover
from decoder.features.dense import ABSENT, EARLY_DISTORTION, LN10, UNKNOWN_WORD
from decoder.features.distortion import early_distortion
from decoder.features.hierarchical import NO_BLOCKS, Blocks, orientation_of_next, shift_alone
from decoder.features.language_model import BEGIN_STATE, States, score_after
from decoder.features.reordering import BACKWARD, FORWARD, START_BEGIN, START_END, ln_orientation, orientation
from decoder.options import COPY
from lm.jit import kernel


class Derivation(NamedTuple):
    """K phrases, first target phrase first; source spans are half open."""

    pair: np.ndarray  # int64[K], phrase pair or COPY
    begin: np.ndarray  # int32[K]
    end: np.ndarray  # int32[K]


class FeatureSpace(NamedTuple):
    """What computing features needs besides the model and the derivation."""

    states: States
    blocks: Blocks  # room for a stack of as many blocks as the derivation has phrases
    lm_words: np.ndarray  # int32[target words + 1], takes the language model ids of the translation, </s> included
    optional: np.ndarray  # int64[len(OPTIONAL)], see FeatureNames.optional_places


@kernel
def fill_features(derivation, tables, copy_lm_ids, space, features):
    """Add the derivation's values to `features` (float64[F], laid out as FeatureNames)."""
    n_translation = tables.phrases.ln_scores.shape[1]
    language_model = n_translation + tables.orientations.n_features
    lm_words, size = space.lm_words, np.int64(0)
    _add_jumps(derivation, tables, space, features)
    for i in range(derivation.pair.size):
        pair = derivation.pair[i]
        features[language_model + 3] += 1.0
        if pair == COPY:
            lm_words[size] = copy_lm_ids[derivation.begin[i]]
            size += 1
            features[language_model + 4] += UNKNOWN_WORD
        else:
            for column in range(n_translation):
                features[column] += tables.phrases.ln_scores[pair, column]
            for place in range(tables.phrases.target_offsets[pair], tables.phrases.target_offsets[pair + 1]):
                lm_words[size] = tables.target_lm_ids[tables.phrases.target_words[place]]
                size += 1
    features[language_model + 2] -= size
    lm_words[size] = tables.end_word[0]
    ln_lm = LN10 * score_after(tables.lm, lm_words, np.int64(0), size + 1, space.states, BEGIN_STATE)[0]
    features[language_model] += ln_lm


@kernel
def _add_jumps(derivation, tables, space, features):
    """Add what depends on where the phrases lie: lexicalized reordering, distortion."""
    n_translation, model = tables.phrases.ln_scores.shape[1], tables.orientations
    distortion = n_translation + model.n_features + 1
    previous_begin, previous_end, top = START_BEGIN, START_END, NO_BLOCKS
    first_gap, window = np.int64(0), np.uint64(0)
    for i in range(derivation.pair.size):
        begin, end = np.int64(derivation.begin[i]), np.int64(derivation.end[i])
        which = orientation(previous_begin, previous_end, begin, end)
        following = which
        if model.is_hierarchical:
            following = orientation_of_next(which, first_gap, window, previous_begin, previous_end)
            which = orientation(np.int64(space.blocks.begin[top]), np.int64(space.blocks.end[top]), begin, end)
            top = shift_alone(space.blocks, top, begin, end)
        _add_orientation(tables, derivation.pair[i], BACKWARD, which, features)
        if i > 0:
            _add_orientation(tables, derivation.pair[i - 1], FORWARD, following, features)
        features[distortion] -= abs(begin - previous_end)
        if space.optional[EARLY_DISTORTION] != ABSENT:
            features[space.optional[EARLY_DISTORTION]] += early_distortion(first_gap, previous_end, begin, end)
        first_gap, window = cover(first_gap, window, begin, end)
        previous_begin, previous_end = begin, end


@kernel
def _add_orientation(tables, pair, direction, which, features):
    model, place = tables.orientations, tables.orientations.features[direction, which]
    if place != ABSENT:
        score = ln_orientation(tables.ln_reordering, model, pair, direction, which)
        features[tables.phrases.ln_scores.shape[1] + place] += score


@kernel
def fill_feature_matrix(derivations, offsets, tables, copy_lm_ids, space, features):
    """fill_features of the derivations offsets[i]:offsets[i + 1] of a long one; `space` has room for the longest."""
    for i in range(features.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        derivation = Derivation(
            derivations.pair[first:last], derivations.begin[first:last], derivations.end[first:last]
        )
        fill_features(derivation, tables, copy_lm_ids, space, features[i])
