"""Scores of phrases by the language models: states have small ids, and scores of phrases after states are memoized.

A state is the context that all language models keep of the words before. Hypotheses share few states and options few
first words, so that most expansions find the score of a phrase in two direct-mapped memos, small enough for the
processor's cache: one for its first word after a state, one for the rest of it after the state that follows.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.input.target_constraint import (
    CONTRADICTED,
    NO_CONSTRAINT,
    TargetConstraint,
    follow,
    is_produced,
    phrase_start,
)
from phrasebeam.decoder.tables.language_models import LanguageModels, tables_of
from phrasebeam.kernels.hashing import START, combine, first_slot, memo_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.lm.probing import UNIGRAMS
from phrasebeam.lm.query import is_log10_prob, score_word

BEGIN_STATE = np.int64(0)  # the state after <s>
NO_STATE = -1
NO_SLOT = np.int64(-1)
OPEN = np.int64(1 << 30)  # above all target ids
MEMO_SIZE = 1 << 14
ZERO, ONE = np.int64(0), np.int64(1)


class Memo(NamedTuple):
    """A direct-mapped table: scores of words after states, and the next states; newer entries replace older ones."""

    keys: Annotated[np.ndarray, array(np.int64, "M")]  # hash of state and words; 0 where empty
    ln_score: Annotated[np.ndarray, array(np.float64, "M")]  # weighted, of the words
    state: Annotated[np.ndarray, array(np.int32, "M")]  # the state after them


class States(NamedTuple):
    """Up to S states met in a sentence, and the memos; C is the sum of order - 1 over the L language models."""

    first: Annotated[np.ndarray, array(np.int64, "L + 1")]  # model l has the columns first[l]:first[l + 1] of `context`
    context: Annotated[np.ndarray, array(np.int32, "S", "C")]  # LM ids, most recent word first
    backoffs: Annotated[np.ndarray, array(np.float32, "S", "C")]  # log10
    length: Annotated[np.ndarray, array(np.int32, "S", "L")]  # number of words in the context of each model
    position: Annotated[np.ndarray, array(np.int32, "S")]  # in `constraint`, see TargetConstraint
    ln_end: Annotated[np.ndarray, array(np.float64, "S")]  # weighted ln p of </s>, NaN where not computed yet
    n_states: Annotated[np.ndarray, array(np.int64, 1)]  # in use
    slots: Annotated[np.ndarray, array(np.int32, "T")]  # hash table of state ids or NO_STATE; T a power of two >= 2 S
    first_words: Memo  # by target id
    rests: Memo  # by target phrase
    work_context: Annotated[np.ndarray, array(np.int32, 2, "C")]  # scratch space: contexts while words are scored
    work_backoffs: Annotated[np.ndarray, array(np.float32, 2, "C")]  # log10 backoffs of work_context
    work_length: Annotated[np.ndarray, array(np.int64, "L")]  # number of words in work_context, by model
    work_position: Annotated[np.ndarray, array(np.int64, 1)]  # position in `constraint`
    log10_prob: Annotated[np.ndarray, array(np.float64, "L")]  # of the words scored last, by model
    log10_inner: Annotated[
        np.ndarray, array(np.float64, "L")
    ]  # the part of log10_prob that does not depend on the context before
    constraint: TargetConstraint  # what the translation must begin with


def new_states(orders: np.ndarray, capacity: int, memo_size: int = MEMO_SIZE) -> States:
    """An empty table for `capacity` states of language models of these `orders` (int64[L]); sizes are powers of two.

    With a `memo_size` of 0, `remember` cannot be used.
    """
    first = np.concatenate([[0], np.cumsum(orders - 1)]).astype(np.int64)
    sizes = {"S": capacity, "C": int(first[-1]), "L": orders.size, "T": 2 * capacity}
    memos = {name: allocate(Memo, {"M": memo_size}) for name in ("first_words", "rests")}
    return allocate(States, sizes, first=first, constraint=NO_CONSTRAINT, **memos)


@kernel
def begin_states(lms: LanguageModels, states: States):
    """Empty `states` and the memos except for BEGIN_STATE."""
    states.n_states[0] = 0
    states.slots[:] = NO_STATE
    states.first_words.keys[:] = 0
    states.rests.keys[:] = 0
    for model in range(lms.orders.size):
        word, column = np.int64(lms.begin_ids[model]), states.first[model]
        states.work_context[0, column] = word
        states.work_backoffs[0, column] = lms.floats[lms.starts[model, UNIGRAMS] + 2 * word + 1]
        states.work_length[model] = 1
    states.work_position[0] = 0
    intern_state(states, ZERO)


@inner_kernel
def forget_context(states: States):
    """Make the context in the scratch space empty: the words before are unknown."""
    states.work_length[:] = 0


@inlined_kernel
def score_phrase(lms: LanguageModels, lm_words, begin, end, states: States):
    """Continue the context in row 0 of states.work_context by lm_words[begin:end] (int32[W, L], LM ids).

    Writes states.log10_prob and log10_inner, the latter for words whose full context lies in lm_words[begin:end].
    Returns the row of states.work_context that holds the context afterwards.
    """
    for model in range(lms.orders.size):
        tables, first, last = tables_of(lms, model), states.first[model], states.first[model + 1]
        total, inner, row, length = 0.0, 0.0, ZERO, states.work_length[model]
        for i in range(begin, end):
            log10_prob, length, _ = score_word(
                tables,
                states.work_context[row, first:last],
                states.work_backoffs[row, first:last],
                length,
                lm_words[i, model],
                states.work_context[1 - row, first:last],
                states.work_backoffs[1 - row, first:last],
            )
            total += np.float64(log10_prob)
            if i - begin >= last - first:
                inner += np.float64(log10_prob)
            row = 1 - row
        states.work_length[model] = length
        states.log10_prob[model], states.log10_inner[model] = total, inner
    return (end - begin) & 1


@inlined_kernel
def score_after(lms: LanguageModels, lm_words, begin, end, states: States, state):
    """Load the context of `state` into the scratch space and call score_phrase for lm_words[begin:end]."""
    for model in range(states.work_length.size):
        length, first = np.int64(states.length[state, model]), states.first[model]
        states.work_length[model] = length
        for i in range(first, first + length):
            states.work_context[0, i] = states.context[state, i]
            states.work_backoffs[0, i] = states.backoffs[state, i]
    return score_phrase(lms, lm_words, begin, end, states)


@inlined_kernel
def weighted_ln(ln_weights, log10_probs):
    """The weighted sum of `log10_probs` (float64[L]); `ln_weights` (float64[L]) are weights times ln 10.

    NaN if one of them cannot be a log10 probability because the model is damaged: a NaN prunes nothing, so that it
    reaches a check of scores.
    """
    total = 0.0
    for model in range(ln_weights.size):
        if not is_log10_prob(log10_probs[model]):
            return np.nan
        total += ln_weights[model] * log10_probs[model]
    return total


@inlined_kernel
def intern_state(states: States, row):
    """Id (int64) of the state in `row` of the scratch space, a new one if need be; NO_STATE if the table is full."""
    h = combine(START, states.work_position[0])
    for model in range(states.work_length.size):
        h = combine(h, states.work_length[model])
        for i in range(states.first[model], states.first[model] + states.work_length[model]):
            h = combine(h, np.int64(states.work_context[row, i]))
    slot = first_slot(mix(h), states.slots.size)
    while states.slots[slot] != NO_STATE:
        if _is_state(states, states.slots[slot], row):
            return np.int64(states.slots[slot])
        slot = next_slot(slot, states.slots.size)
    new = states.n_states[0]
    if new == states.ln_end.size:
        return np.int64(NO_STATE)
    states.n_states[0] += 1
    states.slots[slot] = new
    states.ln_end[new], states.position[new] = np.nan, states.work_position[0]
    for model in range(states.work_length.size):
        states.length[new, model] = states.work_length[model]
        for i in range(states.first[model], states.first[model] + states.work_length[model]):
            states.context[new, i] = states.work_context[row, i]
            states.backoffs[new, i] = states.work_backoffs[row, i]
    return np.int64(new)


@inlined_kernel
def _is_state(states, state, row):
    if states.position[state] != states.work_position[0]:
        return False
    for model in range(states.work_length.size):
        if states.length[state, model] != states.work_length[model]:
            return False
        for i in range(states.first[model], states.first[model] + states.work_length[model]):
            if states.context[state, i] != states.work_context[row, i]:
                return False
    return True


@inlined_kernel
def remember(lms: LanguageModels, options, begin, end, states: States, state, memo: Memo, name):
    """Slot of `memo` with the weighted score of words begin:end of `options` after `state`; NO_SLOT if states are full.

    `options` are Options. The score is -inf if the words contradict states.constraint. `name` (int64 >= 0) is the id
    of the words in the memo; it is OPEN or more if they are the first word of a longer phrase.
    """
    key = (state << np.int64(32)) | (name + 1)
    slot = memo_slot(np.uint64(key), memo.keys.size)
    if memo.keys[slot] != key:
        after, ln_score = _ln_words(lms, options.words, options.lm_words, begin, end, states, state, name >= OPEN)
        if after == NO_STATE:
            return NO_SLOT
        memo.keys[slot], memo.state[slot], memo.ln_score[slot] = key, after, ln_score
    return slot


@inlined_kernel
def _ln_words(lms, words, lm_words, begin, end, states, state, is_open):
    """(state after words begin:end after `state`, or NO_STATE if states are full; weighted score of the words)."""
    position, constraint = np.int64(states.position[state]), states.constraint
    after_position = follow(constraint, words, begin, end, position, is_open)
    if after_position == CONTRADICTED:
        return state, -np.inf
    states.work_position[0] = after_position
    after = intern_state(states, score_after(lms, lm_words, begin, end, states, state))
    ln_score = weighted_ln(lms.ln_weights, states.log10_prob)
    if not is_open:
        ln_score += constraint.ln_rest[after_position] - constraint.ln_rest[phrase_start(constraint, position)]
    return after, ln_score


@inner_kernel
def ln_end(lms: LanguageModels, states: States, state):
    """Weighted ln p of </s> after `state`; -inf unless all that states.constraint requires has been produced.

    NaN if the language model is damaged, see weighted_ln.
    """
    score = states.ln_end[state]
    if np.isnan(score):
        score = -np.inf
        if is_produced(states.constraint, np.int64(states.position[state])):
            score_after(lms, lms.end_ids, ZERO, ONE, states, state)
            score = weighted_ln(lms.ln_weights, states.log10_prob)
        states.ln_end[state] = score
    return score
