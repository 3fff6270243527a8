"""All features that depend on the preceding phrases, and the kernels with which the search calls all of them in turn.

A new feature needs a file with a StatefulFeature, and a line here. Its weights, its place in the feature vector, its
columns of Histories and its memory follow from its declaration.
"""

from typing import Any

import numpy as np

from phrasebeam.base.array_struct import struct_of
from phrasebeam.decoder.features.distortion import JUMP_FEATURES
from phrasebeam.decoder.features.lexical_reordering import REORDERING
from phrasebeam.decoder.features.operation_sequence import OPERATIONS
from phrasebeam.decoder.features.sparse_history import SPARSE_HISTORY
from phrasebeam.decoder.features.stateful_feature import Room
from phrasebeam.kernels.jit import inlined_kernel

STATEFUL = (REORDERING, *JUMP_FEATURES, SPARSE_HISTORY, OPERATIONS)  # their scores are added in this order
WITH_HISTORY = tuple(feature for feature in STATEFUL if feature.n_columns)
ABSENT = -1  # replaces the first column of a feature that is not active, or its place in the feature vector
MOST_COLUMNS = 1 + sum(feature.n_columns for feature in WITH_HISTORY)
NO_COLUMNS = np.full(len(WITH_HISTORY), ABSENT, np.int64)
_NEW_MEMORY = {feature.name: feature.new_memory for feature in STATEFUL if feature.new_memory}

_Memory: Any = struct_of("_Memory", _NEW_MEMORY)


class FeatureMemory(_Memory):
    """The memory of the features in one search or derivation, by the name of the feature."""

    __slots__ = ()


def new_feature_memory(tables: Any, room: Room, old: FeatureMemory | None = None) -> FeatureMemory:
    """The memory of all features for models with these Tables.

    If `old` has as much room for options, what the features keep of the options is taken from it.
    """
    memories = {name: new(tables, room) for name, new in _NEW_MEMORY.items()}
    for feature in STATEFUL:
        if old is not None and feature.kept_of_options:
            kept = {name: getattr(getattr(old, feature.name), name) for name in feature.kept_of_options}
            memories[feature.name] = memories[feature.name]._replace(**kept)
    return FeatureMemory(**memories)


def history_columns(weights: Any, tables: Any) -> tuple[np.ndarray, int]:
    """int64[len(WITH_HISTORY)], the first column of each feature, or ABSENT if these DenseWeights leave it inactive.

    Also returns the number of all columns, which is 1 (the option's state) if no feature is active.
    """
    columns, n_columns = NO_COLUMNS.copy(), 1
    for i, feature in enumerate(WITH_HISTORY):
        if feature.is_active(weights, tables) if feature.is_active else np.any(getattr(weights, feature.name)):
            columns[i], n_columns = n_columns, n_columns + feature.n_columns
    return columns, n_columns


def histories_lower(weights: Any, columns: np.ndarray) -> bool:
    """Whether there are features with history (`columns`: see history_columns), none of which can raise a score."""
    active = [feature for feature, column in zip(WITH_HISTORY, columns) if column != ABSENT]
    return bool(active) and all(feature.lowers_scores(weights) for feature in active)


def _of_all(signature: str, first: str, ask: str, last: str, kind: str) -> Any:
    """Return an inlined kernel that calls the kernels of one kind of all features in turn.

    `kind` is a field of StatefulFeature. The kernel consists of the line `first`, a line `ask` for each feature, and
    `return last`: a loop over virtual methods, which numba lacks. In `ask`, {kernel} stands for the feature's kernel,
    {name} for its name, {column} for its first column in an array `columns`. score_histories is

        def score_histories(space, step, is_monotone):
            total = 0.0; columns = space.parameters.columns
            if columns[0] >= 0: total += sparse_history(space, step, columns[0], is_monotone)
            if columns[1] >= 0: total += operations(space, step, columns[1], is_monotone)
            return total
    """
    kernels = {feature.name: getattr(feature, kind) for feature in STATEFUL if getattr(feature, kind)}
    columns = {feature.name: f"columns[{number}]" for number, feature in enumerate(WITH_HISTORY)}
    asked = [ask.format(kernel=name, name=name, column=columns.get(name)) for name in kernels]
    scope: dict[str, Any] = kernels | {"__name__": __name__}
    text = "\n    ".join([f"def {signature}:", first, *asked, f"return {last}"])
    exec(compile(text, __file__, "exec"), scope)  # under this file's name, which the cache of kernels knows
    return inlined_kernel(scope[signature.partition("(")[0]])


_COLUMNS, _LOOKUP, _IF = "columns = space.parameters.columns", "columns = lookup.columns", "if {column} >= 0"
# `total` plus the weighted score of the jump to a phrase, a Jump
add_jumps = _of_all("add_jumps(space, jump, total)", "pass", "total += {kernel}(space, jump)", "total", "jump")
# Forget the last sentence
begin_features = _of_all("begin_features(space)", _COLUMNS, f"{_IF}: {{kernel}}(space, {{column}})", "None", "begin")
# Prepare the scores of options first:end after a history, where that saves time
_fetch = f"{_IF}: {{kernel}}(space, history, first, end, {{column}}, is_monotone)"
fetch_scores = _of_all("fetch_scores(space, history, first, end, is_monotone)", _COLUMNS, _fetch, "None", "fetch")
# Weighted score of the features of a NextPhrase that depend on the history
_score = f"{_IF}: total += {{kernel}}(space, step, {{column}}, is_monotone)"
score_histories = _of_all(
    "score_histories(space, step, is_monotone)", f"total = 0.0; {_COLUMNS}", _score, "total", "score"
)
# Fill histories.row with the history after a NextPhrase; return whether there was room
_follow = f"{_IF} and not {{kernel}}(space, step, {{column}}): return False"
follow_step = _of_all("follow_step(space, step)", _COLUMNS, _follow, "True", "follow")
# Store what the features later need of an option, an OptionPhrase: whether there was room; whether any feature does so
_prepare = f"{_IF} and not {{kernel}}(lookup, option, phrase): return False"
prepare_option = _of_all("prepare_option(lookup, option, phrase)", _LOOKUP, _prepare, "True", "prepare")
has_prepared = _of_all("has_prepared(lookup)", _LOOKUP, f"{_IF}: return True", "False", "prepare")
# Weighted score of an OptionPhrase by the features that need no context; whether there are such features
_estimate = f"{_IF}: total += {{kernel}}(lookup, phrase)"
estimate_phrase = _of_all("estimate_phrase(lookup, phrase)", f"total = 0.0; {_LOOKUP}", _estimate, "total", "estimate")
has_estimates = _of_all("has_estimates(lookup)", _LOOKUP, f"{_IF}: return True", "False", "estimate")
# Add the values of a DerivedPhrase to a feature vector
_value = "if space.places.{name} >= 0: {kernel}(tables, sentence, space, phrase, features)"
add_values = _of_all("add_values(tables, sentence, space, phrase, features)", "pass", _value, "None", "value")
