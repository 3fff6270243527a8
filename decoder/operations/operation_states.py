"""Scores of phrases by the operation sequence model: states after operations have ids, scores after states a memo.

A state is the context of preceding operations that the language model needs, and the position of the walk. The score of
a phrase depends on the coverage, too; but if nothing to the right of its begin has been generated, it depends on three
facts alone.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.operations.operation_model import Operations, operation_id
from phrasebeam.decoder.operations.steps import ALIGNED, OperationSteps, fill_steps, new_operation_steps
from phrasebeam.decoder.operations.walk import (
    BACKS,
    GAPS,
    MOST_NAMES,
    N_COUNTS,
    NAMES,
    POSITION,
    Walk,
    furthest_of,
    is_generated_before,
    walk_phrase,
)
from phrasebeam.decoder.sparse.phrase_hashes import point_range
from phrasebeam.decoder.tables.language_models import LN10
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, memo_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.lm.probing import UNIGRAMS
from phrasebeam.lm.query import score_word

BEGIN_OPERATIONS = np.int64(0)  # the state before the first operation
NO_OPERATION_STATE = np.int64(-1)
MEMO_SIZE = 1 << 15
STEPS = 8  # initial room: steps and source words of an option on average
ZERO, ONE = np.int64(0), np.int64(1)
LOG_P, OPENED_GAPS, JUMPS_BACK = range(3)  # weights and values of the feature
N_VALUES = 3


class OperationStates(NamedTuple):
    """Room for B states, M scores in a direct-mapped memo, O options, and contexts of up to C operations.

    Phrases have up to W words a side.
    """

    size: Annotated[np.ndarray, array(np.int64, 1)]  # number of states
    context: Annotated[np.ndarray, array(np.int32, "B", "C")]  # LM ids, the last operation first
    backoffs: Annotated[np.ndarray, array(np.float32, "B", "C")]  # log10
    length: Annotated[np.ndarray, array(np.int32, "B")]  # length of the context
    position: Annotated[np.ndarray, array(np.int32, "B")]  # source word at which the walk stands
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # hash table of ids, T a power of two >= 2 B
    memo_keys: Annotated[np.ndarray, array(np.int64, "M")]  # hash of state and option; 0 where empty
    memo_first_gap: Annotated[np.ndarray, array(np.int64, "M")]  # memo_first_gap and memo_window: _relevant_coverage
    memo_window: Annotated[np.ndarray, array(np.uint64, "M")]
    memo_scores: Annotated[np.ndarray, array(np.float64, "M")]  # weighted
    memo_states: Annotated[np.ndarray, array(np.int32, "M")]  # state after the option, or NO_OPERATION_STATE
    # For each option: source positions of its steps, and LM ids of these steps and then of its source words
    step_first: Annotated[np.ndarray, array(np.int64, "O + 1")]  # into step_position and step_id
    step_position: Annotated[np.ndarray, array(np.int32, "P")]  # see OperationSteps
    step_id: Annotated[np.ndarray, array(np.int32, "P")]
    work_context: Annotated[np.ndarray, array(np.int32, 2, "C")]  # scratch space: contexts while operations are scored
    work_backoffs: Annotated[np.ndarray, array(np.float32, 2, "C")]
    work_length: Annotated[np.ndarray, array(np.int64, 1)]  # of the context in work_context
    steps: OperationSteps  # scratch space, like all fields below
    names: Annotated[np.ndarray, array(np.int32, "N")]  # LM ids of the operations of a phrase
    step_ids: Annotated[np.ndarray, array(np.int32, "N")]  # LM ids of the phrase's steps, then of its source words
    generated: Annotated[np.ndarray, array(np.bool_, "W")]
    at: Annotated[np.ndarray, array(np.int64, N_COUNTS)]
    values: Annotated[np.ndarray, array(np.float64, N_VALUES)]  # of the phrase scored last


def new_operation_states(operations: Operations, capacity: int, n_words: int, n_options: int) -> OperationStates:
    """A table for `capacity` states, a power of two, and for options and phrases of up to `n_words` words.

    As small as possible if there are no operations; without a memo if there are no options.
    """
    if not operations.keys.size:
        capacity, n_words, n_options = 1, 1, 0
    sizes = {"B": capacity, "T": 2 * capacity, "C": max(operations.lm.order - 1, 1), "O": n_options}
    sizes |= {"M": MEMO_SIZE if n_options else 1, "P": STEPS * n_options, "W": n_words, "N": MOST_NAMES * 3 * n_words}
    return allocate(OperationStates, sizes, steps=new_operation_steps(n_words))


@inner_kernel
def begin_operations(operations: Operations, states: OperationStates):
    """Empty the table and the memo, but keep BEGIN_OPERATIONS."""
    states.size[0] = 0
    states.slots[:] = EMPTY
    states.memo_keys[:] = 0
    load_beginning(operations, states)
    states.at[POSITION] = 0
    intern_operations(states, ZERO)


@inlined_kernel
def load_beginning(operations: Operations, states: OperationStates):
    """Write the context after <s> to row 0 of the scratch space."""
    states.work_length[0] = 1
    word = np.int64(operations.begin)
    states.work_context[0, 0] = word
    states.work_backoffs[0, 0] = operations.lm.floats[operations.lm.starts[UNIGRAMS] + 2 * word + 1]


@inner_kernel
def fill_step_ids(operations: Operations, states: OperationStates, synthetic, pair, source, target, n_target):
    """Write the steps of `pair` to states.steps, and to states.step_ids LM ids of these and of its `source` words.

    `synthetic` are SyntheticPairs, `source` is int32[n], target[:n_target] int32[m]. Returns the number of steps.
    """
    steps, known = states.steps, operations.points
    first, last = point_range(known, synthetic, pair)
    points = (synthetic.alignment_points if pair < 0 else known.points)[first:last]
    fill_steps(points, source, target, n_target, steps)
    n_steps = steps.n[0]
    for i in range(n_steps):
        states.step_ids[i] = operation_id(operations, steps.name[i])
    for i in range(source.size):
        is_aligned = steps.alone[i] == ALIGNED
        states.step_ids[n_steps + i] = ALIGNED if is_aligned else operation_id(operations, steps.alone[i])
    return n_steps


@inlined_kernel
def score_phrase_operations(operations: Operations, states: OperationStates, walk: Walk, position, ids):
    """Score the operations of a phrase after the context in row 0 of the scratch space.

    `position` (int[n]) has the positions of its steps, `ids` the LM ids of the steps and of its source words, as
    written by fill_step_ids. Fills states.values. Returns the row of the context afterwards.
    """
    length = states.work_length[0]
    n_steps = position.size
    walk_phrase(walk, position, ids[:n_steps], ids[n_steps:])
    row, total = ZERO, 0.0
    for k in range(walk.at[NAMES]):
        log10_prob, length, _ = score_word(
            operations.lm,
            states.work_context[row],
            states.work_backoffs[row],
            length,
            walk.names[k],
            states.work_context[1 - row],
            states.work_backoffs[1 - row],
        )
        total += np.float64(log10_prob)
        row = ONE - row
    states.values[LOG_P], states.values[OPENED_GAPS], states.values[JUMPS_BACK] = total, -walk.at[GAPS], -walk.at[BACKS]
    states.work_length[0] = length
    return row


@inlined_kernel
def keep_context(states: OperationStates, row):
    """Copy the context in `row` of the scratch space to row 0, for the next operations."""
    if row != 0:
        for i in range(states.work_length[0]):
            states.work_context[0, i], states.work_backoffs[0, i] = (
                states.work_context[row, i],
                states.work_backoffs[row, i],
            )


@inlined_kernel
def weighted_operations(weights, states: OperationStates):
    """The sum of states.values times `weights` (float64[3]: of ln p, gaps, jumps back)."""
    values = states.values
    total = weights[LOG_P] * LN10 * values[LOG_P] + weights[OPENED_GAPS] * values[OPENED_GAPS]
    return total + weights[JUMPS_BACK] * values[JUMPS_BACK]


@inner_kernel
def estimate_operations(operations: Operations, states: OperationStates, weights, n_steps, n_source):
    """Weighted score of a phrase of `n_source` (int64) words without preceding context, entered at its begin.

    fill_step_ids has written its `n_steps` to the scratch space; for `weights` see weighted_operations.
    """
    states.at[POSITION], states.work_length[0] = 0, 0
    walk = walk_of(operations, states, np.int64(0), np.int64(n_source), np.int64(0), np.uint64(0))
    position, ids = states.steps.position[:n_steps], states.step_ids[: n_steps + n_source]
    score_phrase_operations(operations, states, walk, position, ids)
    return weighted_operations(weights, states)


@inlined_kernel
def walk_of(operations: Operations, states: OperationStates, begin, end, first_gap, window):
    """The Walk over words begin:end (int64), in scratch space; `first_gap` (int64), `window` (uint64): the coverage."""
    return Walk(begin, end, first_gap, window, states.generated, states.at, states.names, operations.jumps)


@inner_kernel
def keep_steps(states: OperationStates, option, n_steps, n_source):
    """Store what fill_step_ids wrote for `option` (int64), after all earlier options; return whether there was room.

    These are `n_steps` (int64) steps and `n_source` (int64) source words.
    """
    first, n_ids = states.step_first[option], n_steps + n_source
    if first + n_ids > states.step_id.size:
        return False
    for i in range(n_steps):
        states.step_position[first + i] = states.steps.position[i]
    for i in range(n_ids):
        states.step_id[first + i] = states.step_ids[i]
    states.step_first[option + 1] = first + n_ids
    return True


@inlined_kernel
def remember_operations(operations: Operations, states: OperationStates, weights, state, option, walk: Walk):
    """Slot of the memo with the score of `option` (int64) after `state` (int64), and the state that follows.

    The `walk` is over the option's words; for `weights` see weighted_operations. The state is NO_OPERATION_STATE if the
    table is full.
    """
    key = (state << np.int64(32)) | (option + 1)
    position = np.int64(states.position[state])
    relevant_gap, relevant_window = _relevant_coverage(position, walk.begin, walk.first_gap, walk.window)
    h = combine(combine(np.uint64(key), relevant_gap), np.int64(relevant_window))
    slot = memo_slot(h, states.memo_keys.size)
    is_known = states.memo_keys[slot] == key and states.memo_first_gap[slot] == relevant_gap
    if not is_known or states.memo_window[slot] != relevant_window:
        length = np.int64(states.length[state])
        states.work_length[0] = length
        for i in range(length):
            states.work_context[0, i], states.work_backoffs[0, i] = states.context[state, i], states.backoffs[state, i]
        states.at[POSITION] = position
        first, last = states.step_first[option], states.step_first[option + 1]
        ids, n_steps = states.step_id[first:last], last - first - (walk.end - walk.begin)
        row = score_phrase_operations(operations, states, walk, states.step_position[first : first + n_steps], ids)
        states.memo_keys[slot] = key
        states.memo_first_gap[slot], states.memo_window[slot] = relevant_gap, relevant_window
        states.memo_scores[slot] = weighted_operations(weights, states)
        states.memo_states[slot] = intern_operations(states, row)
    return slot


@inlined_kernel
def _relevant_coverage(position, begin, first_gap, window):
    """The part of a coverage on which a phrase at `begin` depends: the whole, or (negative code of three facts, 0)."""
    furthest = furthest_of(first_gap, window)
    if furthest > begin:
        return first_gap, window
    leaves_gap = position < furthest and not is_generated_before(first_gap, window, position)
    facts = 1 * leaves_gap + 2 * (position != furthest) + 4 * (furthest < begin)
    return np.int64(-1 - facts), np.uint64(0)


@inlined_kernel
def intern_operations(states: OperationStates, row):
    """Id (int64) of the state with the context in `row` of the scratch space and the position of the walk.

    A new state gets a new id, or NO_OPERATION_STATE if the table is full.
    """
    length = states.work_length[0]
    h = combine(START, states.at[POSITION])
    for i in range(length):
        h = combine(h, np.int64(states.work_context[row, i]))
    slot = first_slot(mix(h), states.slots.size)
    while states.slots[slot] != EMPTY:
        if _is_state(states, np.int64(states.slots[slot]), row, length):
            return np.int64(states.slots[slot])
        slot = next_slot(slot, states.slots.size)
    new = states.size[0]
    if new == states.length.size:
        return NO_OPERATION_STATE
    states.size[0] += 1
    states.slots[slot] = new
    states.length[new], states.position[new] = length, states.at[POSITION]
    for i in range(length):
        states.context[new, i], states.backoffs[new, i] = states.work_context[row, i], states.work_backoffs[row, i]
    return np.int64(new)


@inlined_kernel
def _is_state(states, state, row, length):
    if states.length[state] != length or states.position[state] != states.at[POSITION]:
        return False
    for i in range(length):
        if states.context[state, i] != states.work_context[row, i]:
            return False
    return True
