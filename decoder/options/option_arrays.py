"""The arrays of translation options, which searches read."""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.reordering import N_OPTION_ORIENTATIONS

NOT_YET = np.int32(-1)  # target of an option that complete_option has not yet completed


class Options(NamedTuple):
    """O options of S spans, with at most D distinct target phrases of W words in all, and L language models."""

    longest: int  # words of the longest span
    # The options of the span begin:begin+k start at first[begin * longest + k - 1]
    first: Annotated[np.ndarray, array(np.int64, "S + 1")]
    pair: Annotated[np.ndarray, array(np.int64, "O")]  # phrase pair; negative: one of SyntheticPairs
    begin: Annotated[np.ndarray, array(np.int32, "O")]  # first source word
    end: Annotated[np.ndarray, array(np.int32, "O")]  # half open
    score: Annotated[np.ndarray, array(np.float64, "O")]  # weighted sum of the features that need no context
    estimate: Annotated[np.ndarray, array(np.float64, "O")]  # score plus the weighted language model estimate
    bound: Annotated[np.ndarray, array(np.float64, "O")]  # upper bound of score plus language model in any context
    # Weighted reordering scores by orientation to the preceding phrase, and of the following one; with sparse features
    backward: Annotated[np.ndarray, array(np.float64, "O", N_OPTION_ORIENTATIONS)]
    forward: Annotated[np.ndarray, array(np.float64, "O", N_OPTION_ORIENTATIONS)]
    target: Annotated[np.ndarray, array(np.int32, "O")]  # index of the distinct target phrase, or NOT_YET
    rule: Annotated[np.ndarray, array(np.uint64, "O", 2)]  # RuleHashes, if sparse features need neighbouring phrases
    # Equal for options after which the next phrase gets the same reordering scores
    state: Annotated[np.ndarray, array(np.int32, "O")]
    n_targets: Annotated[np.ndarray, array(np.int64, 1)]  # distinct target phrases so far
    target_first: Annotated[np.ndarray, array(np.int64, "D + 1")]  # begin of each target phrase in words and lm_words
    words: Annotated[np.ndarray, array(np.int32, "W")]  # target ids; larger ids are those of SyntheticPairs
    lm_words: Annotated[np.ndarray, array(np.int32, "W", "L")]  # language model ids
    order: Annotated[np.ndarray, array(np.int64, "O")]  # the pairs of a span while they are merged
    slots: Annotated[np.ndarray, array(np.int32, "T")]  # hash table of options by target, T a power of two >= 2 O
    state_slots: Annotated[np.ndarray, array(np.int32, "T")]  # hash table of options by state


def new_options(n_words: int, longest: int, capacity: int, n_target_words: int, n_models: int) -> Options:
    """Options with room for `capacity` options (a power of two) with `n_target_words` target words in all."""
    sizes = {"S": n_words * longest, "O": capacity, "D": capacity, "T": 2 * capacity}
    return allocate(Options, sizes | {"W": n_target_words, "L": n_models}, longest=longest)
