"""Distortion: the length of jumps, and the distortion that a partial hypothesis cannot avoid (Moore & Quirk 2007)."""

import numpy as np

from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.stateful_feature import StatefulFeature
from phrasebeam.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def jump_length(distances, previous_end, begin):
    """Number of words (int64) between `previous_end`, the end of a phrase, and `begin`, the start of the next.

    The next phrase may lie on either side. `distances` (int32): see SourcePaths; if empty, the result is the difference
    of the positions.
    """
    if distances.size == 0:
        return abs(begin - previous_end)
    return np.int64(distances[min(previous_end, begin), max(previous_end, begin)])


@kernel
def early_distortion(first_gap, previous_end, begin, end):
    """Minus the distortion (words) that a phrase over begin:end makes certain (Moore & Quirk 2007, 3.1; as in Moses).

    `first_gap` is that of the coverage before the phrase, `previous_end` the end of the previous phrase; all are int64.
    A phrase that leaves a gap pays at once for the jump back to it.
    """
    if begin == first_gap:
        return 0.0
    length = end - begin
    if end < previous_end:
        return -2.0 * length
    return -2.0 * (begin - max(first_gap, previous_end) + length)


@inlined_kernel
def _score(space, jump):
    return -(space.weights.distortion * jump_length(space.sentence.paths.distances, jump.previous_end, jump.begin))


@inlined_kernel
def _add_value(tables, sentence, space, phrase, features):
    length = jump_length(sentence.paths.distances, phrase.previous_end, phrase.begin)
    features[space.places.distortion] -= length


@inlined_kernel
def _score_early(space, jump):
    if space.weights.early_distortion == 0.0:
        return 0.0
    value = early_distortion(jump.first_gap, jump.previous_end, jump.begin, jump.end)
    return space.weights.early_distortion * value


@inlined_kernel
def _add_early_value(tables, sentence, space, phrase, features):
    value = early_distortion(phrase.first_gap, phrase.previous_end, phrase.begin, phrase.end)
    features[space.places.early_distortion] += value


DISTORTION = DenseFeature(
    "distortion", "minus the number of source words between the end of a phrase and the start of the next", weight=0.3
)
EARLY_DISTORTION = DenseFeature(
    "early_distortion",
    "distortion that is already certain, counted as soon as a phrase leaves a gap (Moore & Quirk 2007)",
)
JUMP_FEATURES = (
    StatefulFeature(EARLY_DISTORTION.name, EARLY_DISTORTION, _add_early_value, _score_early),
    StatefulFeature(DISTORTION.name, DISTORTION, _add_value, _score),
)
