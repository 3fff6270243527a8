"""Forced decoding: all derivations of a given translation, exactly (Yu et al. 2013, section 2.2).

A state consists of the coverage of a derivation, the end of its last phrase, and the number of words of the reference
that it has produced. Only dead ends are pruned: if a gap can only be filled by phrases whose place in the reference has
been passed, no derivation ends, neither with the sentence nor with a prefix of it.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.input.coverage import NONE, ONE, cover
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.search.extension import SearchSpace, find_spans_after
from phrasebeam.kernels.hashing import EMPTY, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel
from phrasebeam.kernels.words import same_words

ZERO = np.int64(0)
DEAD = np.int64(-2)  # a state from which no derivation ends
OK, STATES_FULL, ARCS_FULL = (np.int64(i) for i in range(3))


class Reference(NamedTuple):
    """The m words to be produced, and what a sentence of n words can produce of them."""

    words: np.ndarray  # int32[m], target ids as in Options, -1 for words that occur in no option
    latest: np.ndarray  # int64[n + 1], last place in the reference of a phrase over the word; m for word n
    earliest_tail: np.ndarray  # int64[n + 1], the minimum of `latest` from there on
    links: np.ndarray  # int32[n + 1, m + 1], see links_before; int32[0, 0] if phrase pairs need not be aligned


class ForcedStates(NamedTuple):
    """Room for S states in the order in which they are found, and A arcs in the order of their source states."""

    sizes: Annotated[np.ndarray, array(np.int64, 2)]  # states and arcs
    first_gap: Annotated[np.ndarray, array(np.int32, "S")]  # first_gap and `window`: the coverage
    window: Annotated[np.ndarray, array(np.uint64, "S")]
    covered: Annotated[np.ndarray, array(np.int32, "S")]  # number of covered words
    end: Annotated[np.ndarray, array(np.int32, "S")]  # end of the last phrase
    position: Annotated[np.ndarray, array(np.int32, "S")]  # number of produced words of the reference
    next: Annotated[np.ndarray, array(np.int32, "S")]  # the next state with as many covered words, or EMPTY
    # First state with each number of covered words, or EMPTY
    heads: Annotated[np.ndarray, array(np.int64, "n + 1")]
    tails: Annotated[np.ndarray, array(np.int64, "n + 1")]  # last state with each number of covered words
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]  # hash table of states, T a power of two >= 2 S
    slot: Annotated[np.ndarray, array(np.int32, "S")]  # place in `slots`
    arc_from: Annotated[np.ndarray, array(np.int32, "A")]
    arc_to: Annotated[np.ndarray, array(np.int32, "A")]
    arc_option: Annotated[np.ndarray, array(np.int32, "A")]


def new_forced_states(n_states: int, n_arcs: int, n_words: int) -> ForcedStates:
    """Room for these numbers of states, arcs and source words."""
    n_slots = 1 << (2 * n_states - 1).bit_length()
    return allocate(ForcedStates, {"S": n_states, "A": n_arcs, "n": n_words, "T": n_slots})


def links_before(points: Sequence[tuple[int, int]], n_words: int, n_reference: int) -> np.ndarray:
    """int32[n + 1, m + 1], at [i, j] the number of alignment points between the first i words and the first j words."""
    links = np.zeros((n_words + 1, n_reference + 1), np.int32)
    for i, j in set(points):
        links[i + 1, j + 1] = 1
    return links.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)


@kernel
def fill_latest(options: Options, n_words: int, reference: Reference):
    """Fill reference.latest and reference.earliest_tail from the options of a sentence of `n_words` words."""
    latest = reference.latest
    latest[:] = -1
    latest[n_words] = reference.words.size
    for option in range(options.first[n_words * options.longest]):
        position = _last_place(options, option, reference.words)
        for i in range(np.int64(options.begin[option]), np.int64(options.end[option])):
            latest[i] = max(latest[i], position)
    reference.earliest_tail[n_words] = reference.words.size
    for i in range(n_words - 1, -1, -1):
        reference.earliest_tail[i] = min(latest[i], reference.earliest_tail[i + 1])


@inlined_kernel
def _last_place(options, option, words):
    """The last position at which the option's target phrase occurs in the reference, or -1."""
    target = np.int64(options.target[option])
    position = words.size - (options.target_first[target + 1] - options.target_first[target])
    while position >= 0 and not _stands_at(options, target, words, position):
        position -= 1
    return max(position, -1)


@inlined_kernel
def _stands_at(options, target, words, position):
    """Whether the target phrase stands at that position of the reference."""
    first, end = options.target_first[target], options.target_first[target + 1]
    return end - first <= words.size - position and same_words(options.words, first, words, position, end - first)


@kernel
def force(space: SearchSpace, n_words: int, reference: Reference, takes_prefixes, states: ForcedStates):
    """Fill `states` with all that can end, for `takes_prefixes` also with source prefixes. Returns OK or what is full.

    Of `space`, the options, parameters, zones and the work space `spans` are used.
    """
    _clear(states)
    _arrive(states, reference, n_words, takes_prefixes, (ZERO, NONE, ZERO, ZERO))
    for covered in range(n_words):
        state = states.heads[covered]
        while state != EMPTY:
            first_gap, window = np.int64(states.first_gap[state]), states.window[state]
            count = find_spans_after(space, n_words, first_gap, window, np.int64(states.end[state]))
            for k in range(count):
                status = _force_over(space, n_words, reference, takes_prefixes, states, state, space.spans[k])
                if status != OK:
                    return status
            state = np.int64(states.next[state])
    return OK


@inner_kernel
def _force_over(space, n_words, reference, takes_prefixes, states, state, span_index):
    """Extend `state` by the options of one span that continue the reference. Returns OK or what is full."""
    options, position = space.options, np.int64(states.position[state])
    for option in range(options.first[span_index], options.first[span_index + 1]):
        target = np.int64(options.target[option])
        if not _stands_at(options, target, reference.words, position):
            continue
        begin, end = np.int64(options.begin[option]), np.int64(options.end[option])
        after = position + options.target_first[target + 1] - options.target_first[target]
        if reference.links.size and not _is_aligned(reference.links, begin, end, position, after):
            continue
        first_gap, window = cover(np.int64(states.first_gap[state]), states.window[state], begin, end)
        to = _arrive(states, reference, n_words, takes_prefixes, (first_gap, window, end, after))
        if to == DEAD:
            continue
        if to == EMPTY:
            return STATES_FULL
        arc = states.sizes[1]
        if arc == states.arc_from.size:
            return ARCS_FULL
        states.arc_from[arc], states.arc_to[arc], states.arc_option[arc] = state, to, option
        states.sizes[1] += 1
    return OK


@inlined_kernel
def _is_aligned(links, begin, end, position, after):
    """Whether words begin:end and position:after are linked, and have no links to other words (Och & Ney 2004)."""
    n_words, n_reference = links.shape[0] - 1, links.shape[1] - 1
    inside = links[end, after] - links[begin, after] - links[end, position] + links[begin, position]
    of_source = links[end, n_reference] - links[begin, n_reference]
    of_target = links[n_words, after] - links[n_words, position]
    return inside > 0 and inside == of_source and inside == of_target


@inlined_kernel
def is_closed(links, source, target):
    """Whether the word alignment closes the prefix pair of `source` and `target` words (int64), or there is none.

    No alignment point may lead out of the prefix pair. Unaligned target words that follow belong to it, so that it ends
    before an aligned word or with the reference; if cut elsewhere, it would lack words of its translation. `links`: see
    links_before.
    """
    if links.size == 0:
        return True
    n_words, n_reference = links.shape[0] - 1, links.shape[1] - 1
    of_target = links[n_words, target]
    if links[source, target] != of_target or links[source, n_reference] != of_target:
        return False
    return target == n_reference or links[n_words, target + 1] > of_target


@inner_kernel
def _clear(states):
    """Forget all states and arcs."""
    for state in range(states.sizes[0]):
        states.slots[states.slot[state]] = EMPTY
    states.sizes[:] = 0
    states.heads[:] = EMPTY


@inner_kernel
def _arrive(states, reference, n_words, takes_prefixes, where):
    """The state of `where`: first gap, window, end of the last phrase, position; DEAD, or EMPTY if there is no room."""
    first_gap, window, end, position = where
    last = _behind(first_gap, window)
    if _is_dead(reference, n_words, takes_prefixes, where, last):
        return DEAD
    h = combine(combine(combine(window, first_gap), end), position)
    slot = first_slot(mix(h), states.slots.size)
    while states.slots[slot] != EMPTY:
        state = np.int64(states.slots[slot])
        if (
            states.window[state] == window
            and states.first_gap[state] == first_gap
            and states.end[state] == end
            and states.position[state] == position
        ):
            return state
        slot = next_slot(slot, states.slots.size)
    state = states.sizes[0]
    if state == states.end.size:
        return np.int64(EMPTY)
    states.sizes[0] += 1
    states.slots[slot], states.slot[state] = state, slot
    states.first_gap[state], states.window[state] = first_gap, window
    states.end[state], states.position[state] = end, position
    covered = first_gap + _n_covered(window)
    states.covered[state], states.next[state] = covered, EMPTY
    if states.heads[covered] == EMPTY:
        states.heads[covered] = state
    else:
        states.next[states.tails[covered]] = state
    states.tails[covered] = state
    return state


@inlined_kernel
def _is_dead(reference, n_words, takes_prefixes, where, last):
    """Whether no derivation through a state can end; none of the words from `last` on are covered."""
    first_gap, window, _, position = where
    for i in range(first_gap, last):
        if window & ONE == NONE and reference.latest[i] < position:
            return True
        window >>= ONE
    if first_gap == n_words:
        return position < reference.words.size
    return not takes_prefixes and reference.earliest_tail[last] < position


@inlined_kernel
def _behind(first_gap, window):
    """The position after the last covered word."""
    while window != NONE:
        window >>= ONE
        first_gap += 1
    return first_gap


@inlined_kernel
def _n_covered(window):
    count = np.int64(0)
    while window != NONE:
        window &= window - ONE
        count += 1
    return count
