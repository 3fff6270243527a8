"""The declaration of a feature that depends on the preceding phrases: its weights, its state, its kernels.

Moses calls this a StatefulFeatureFunction, Phrasal a DerivationFeaturizer. Numba has no virtual calls, so stateful.py
combines the kernels of all features into one kernel of each kind, which calls them in turn.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.kernels.compilation.argument_kinds import by_value
from phrasebeam.kernels.jit import inlined_kernel

Kernel = Callable[..., Any]


class Jump(NamedTuple):
    """The step from the last phrase of a graph node to the source words begin:end."""

    node: np.int64
    last: np.int64  # the option of the last phrase; negative at the start
    previous_begin: np.int64  # span of the last phrase; START_BEGIN, START_END at the start
    previous_end: np.int64
    first_gap: np.int64  # first_gap and `window`: the coverage of the node
    window: np.uint64
    begin: np.int64
    end: np.int64


class NextPhrase(NamedTuple):
    """An option after a node of the graph, all int64."""

    node: np.int64
    history: np.int64  # history of the node: a row of Histories.columns
    option: np.int64


@by_value
class DerivedPhrase(NamedTuple):
    """A phrase of a derivation, all int64 but the window; its target words are FeatureSpace.words[position:][:size]."""

    number: np.int64  # from 0
    pair: np.int64  # negative if synthetic
    begin: np.int64  # source words, half open
    end: np.int64
    previous_end: np.int64  # end of the preceding phrase, START_END at the start
    first_gap: np.int64  # first_gap and `window`: the coverage before the phrase
    window: np.uint64
    position: np.int64
    size: np.int64


class Room(NamedTuple):
    """The sizes for which a feature's memory must have room."""

    n_histories: int  # histories of a sentence, more than its number of words; a power of two
    n_words: int  # words of the longest side of a phrase
    n_options: int = 0  # 0: the memory is for derivations, not for a search


SMALLEST_ROOM = Room(1, 1)


class StatefulFeature(NamedTuple):
    """A feature with what it remembers of the preceding phrases. Kernels that it does not need are None.

    In the arguments of kernels, `space` is a SearchSpace, `column` the first of the feature's columns, `phrase` a
    DerivedPhrase or an OptionPhrase. Kernels with a `column` are called only if the feature is active.
    """

    name: str
    declared: DenseFeature | None  # None: its weights are not dense
    value: Kernel | None  # (tables, sentence, feature_space, phrase, features): add its values of the phrase
    jump: Kernel | None = None  # (space, jump): weighted score that depends on the position of a phrase
    n_columns: int = 0  # columns of Histories; only hypotheses with equal columns are recombined
    is_active: Callable[[Any, Any], bool] | None = None  # by DenseWeights and Tables; None: if its weight is not 0
    begin: Kernel | None = None  # (space, column): forget the last sentence, fill START_HISTORY where it is not -1
    score: Kernel | None = None  # (space, step, column, is_monotone): weighted score of the option
    # (space, history, first, end, column, is_monotone): prepare the scores of options first:end, if that saves time
    fetch: Kernel | None = None
    follow: Kernel | None = None  # (space, step, column): fill histories.row[column:]; return whether there was room
    sign: int = 0  # the sign of all its values, if they have the same
    new_memory: Callable[[Any, Room], Any] | None = None  # (tables, room): a struct, stored in space.memory by name
    prepare: Kernel | None = None  # (lookup, option, phrase): store what `score` needs; return whether there was room
    kept_of_options: tuple[str, ...] = ()  # fields of its memory that `prepare` fills
    estimate: Kernel | None = None  # (lookup, phrase): weighted score of a pair whose context is unknown
    check: Callable[[Any, Any], None] | None = None  # (weights, tables): raise ModelError if they do not fit

    def lowers_scores(self, weights: Any) -> bool:
        """Whether the feature's score is never above 0 with these DenseWeights."""
        return self.sign != 0 and bool((self.sign * np.atleast_1d(getattr(weights, self.name)) <= 0).all())


@inlined_kernel
def target_span(options, option):
    """(first, end) of the target words of an `option` (int64) in options.words; `options` are Options."""
    target = np.int64(options.target[option])
    return options.target_first[target], options.target_first[target + 1]
