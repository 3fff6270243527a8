"""The operation sequence model as a feature of the search (Durrani, Schmid & Fraser 2011)."""

from typing import Any

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.histories import START_HISTORY
from phrasebeam.decoder.features.stateful_feature import Room, StatefulFeature
from phrasebeam.decoder.operations.operation_states import (
    BEGIN_OPERATIONS,
    JUMPS_BACK,
    LOG_P,
    N_VALUES,
    NO_OPERATION_STATE,
    OPENED_GAPS,
    OperationStates,
    begin_operations,
    estimate_operations,
    fill_step_ids,
    keep_context,
    keep_steps,
    load_beginning,
    new_operation_states,
    remember_operations,
    score_phrase_operations,
    walk_of,
)
from phrasebeam.decoder.operations.walk import POSITION
from phrasebeam.decoder.tables.language_models import LN10
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel


def _new_memory(tables: Any, room: Room) -> OperationStates:
    return new_operation_states(tables.operations, *room)


def _check(weights: list[float], tables: Any) -> None:
    """Raise ModelError if the model has no operations, or if the number of weights is not three."""
    if not tables.operations.keys.size:
        raise ModelError("weights: operations is given, but the model has no operation sequence model; remove it")
    if len(weights) != N_VALUES:
        found = f"weights: operations has {len(weights)} weights, expected {N_VALUES}"
        raise ModelError(f"{found}: of ln p, of gaps, of jumps back")


@inner_kernel
def _begin(space, column):
    space.histories.columns[START_HISTORY, column] = BEGIN_OPERATIONS
    begin_operations(space.tables.operations, space.memory.operations)


@inlined_kernel
def _slot(space, step, column):
    """Slot of the memo for the operations of the option of `step` after its history and coverage."""
    model, states, options, graph = space.tables.operations, space.memory.operations, space.options, space.graph
    begin, end = np.int64(options.begin[step.option]), np.int64(options.end[step.option])
    walk = walk_of(model, states, begin, end, np.int64(graph.first_gap[step.node]), graph.window[step.node])
    state = space.histories.columns[step.history, column]
    return remember_operations(model, states, space.weights.operations, state, step.option, walk)


@inlined_kernel
def _score(space, step, column, is_monotone):
    return space.memory.operations.memo_scores[_slot(space, step, column)]


@inlined_kernel
def _follow(space, step, column):
    state = np.int64(space.memory.operations.memo_states[_slot(space, step, column)])
    space.histories.row[column] = state
    return state != NO_OPERATION_STATE


@inner_kernel
def _fill_steps(tables, sentence, states, span, pair: int, words, size: int):
    """Call fill_step_ids for a pair of the source words `span` (begin, end) and the first `size` of `words` (int32)."""
    source = sentence.words[span[0] : span[1]]
    return fill_step_ids(tables.operations, states, sentence.synthetic, pair, source, words, size)


@inlined_kernel
def _prepare(lookup, option, phrase):
    states, n_source = lookup.memory.operations, phrase.end - phrase.begin
    n_steps = _fill_steps(
        lookup.tables, lookup.sentence, states, (phrase.begin, phrase.end), phrase.pair, phrase.words, phrase.size
    )
    return keep_steps(states, option, n_steps, n_source)


@inlined_kernel
def _estimate(lookup, phrase):
    states, n_source = lookup.memory.operations, phrase.end - phrase.begin
    n_steps = _fill_steps(
        lookup.tables, lookup.sentence, states, (phrase.begin, phrase.end), phrase.pair, phrase.words, phrase.size
    )
    return estimate_operations(lookup.tables.operations, states, lookup.weights.operations, n_steps, n_source)


@inner_kernel
def _add_value(tables, sentence, space, phrase, features):
    """Add ln p of the operations, minus the number of gaps opened, and minus the number of jumps back."""
    operations, states, place = tables.operations, space.memory.operations, space.places.operations
    if phrase.number == 0:
        load_beginning(operations, states)
        states.at[POSITION] = 0
    target = space.words[phrase.position : phrase.position + phrase.size]
    n_steps = _fill_steps(tables, sentence, states, (phrase.begin, phrase.end), phrase.pair, target, phrase.size)
    position, ids = states.steps.position[:n_steps], states.step_ids[: n_steps + phrase.end - phrase.begin]
    walk = walk_of(operations, states, phrase.begin, phrase.end, phrase.first_gap, phrase.window)
    keep_context(states, score_phrase_operations(operations, states, walk, position, ids))
    features[place + LOG_P] += LN10 * states.values[LOG_P]
    features[place + OPENED_GAPS] += states.values[OPENED_GAPS]
    features[place + JUMPS_BACK] += states.values[JUMPS_BACK]


OPERATIONS = StatefulFeature(
    "operations",
    DenseFeature(
        "operations",
        "log probability by the operation sequence model; minus the number of gaps opened; minus the "
        "number of jumps back (Durrani et al. 2011)",
        "list",
    ),
    _add_value,
    n_columns=1,
    is_active=lambda weights, tables: weights.operations.size > 0,
    begin=_begin,
    score=_score,
    follow=_follow,
    sign=-1,
    new_memory=_new_memory,
    prepare=_prepare,
    kept_of_options=("step_first", "step_position", "step_id"),
    estimate=_estimate,
    check=_check,
)
