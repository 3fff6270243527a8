"""The lattice of y-good derivations (Yu et al. 2013, section 2.2): the states of forced decoding that lead to its goal.

It contains no scores. Its rules are identified by their pairs in the model's table, so that it can be kept and scored
again with other weights, see gold_graph.py.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import array
from phrasebeam.decoder.forced.forced_states import EMPTY, ForcedStates, is_closed
from phrasebeam.decoder.held_out.filtered_table import original_pairs
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.kernels.jit import kernel

NO_PREFIX = -1
NOT_THERE = -1


class Goal(NamedTuple):
    """The end of derivations: how many of the first words of source and reference must be translated."""

    source: int  # words; NO_PREFIX: any prefix that is long enough, but not the whole sentence
    target: int
    least: int  # number of words of a source prefix that is long enough


class GoldLattice(NamedTuple):
    """S states by number of covered words, state 0 the start; A arcs, each a rule; R rules, distinct phrases of spans.

    Every state and arc lies on a derivation that ends. If there is only one goal, the last state is the end.
    """

    # States of k covered words are stack_first[k]:stack_first[k + 1]
    stack_first: Annotated[np.ndarray, array(np.int64, "n + 2")]
    first_gap: Annotated[np.ndarray, array(np.int32, "S")]  # first_gap and `window`: the coverage
    window: Annotated[np.ndarray, array(np.uint64, "S")]
    position: Annotated[np.ndarray, array(np.int32, "S")]  # number of produced words of the reference
    is_end: Annotated[np.ndarray, array(np.bool_, "S")]
    # Arcs that lead to state i are arc_first[i]:arc_first[i + 1]
    arc_first: Annotated[np.ndarray, array(np.int64, "S + 1")]
    arc_from: Annotated[np.ndarray, array(np.int32, "A")]  # state
    arc_rule: Annotated[np.ndarray, array(np.int32, "A")]
    rule_pair: Annotated[np.ndarray, array(np.int64, "R")]  # in the model's phrase table; negative: a synthetic pair
    rule_begin: Annotated[np.ndarray, array(np.int32, "R")]  # source span
    rule_end: Annotated[np.ndarray, array(np.int32, "R")]
    merges_ends: bool  # whether there is only one goal


@kernel
def longest_prefix(states: ForcedStates, n_words: int, least, links: np.ndarray):
    """(source words, target words) of the longest prefix pair with at least `least` source words; NO_PREFIX for none.

    With `links` (int32[n + 1, m + 1], see links_before; int32[0, 0] without), only closed prefix pairs count.
    """
    source, target = np.int64(NO_PREFIX), np.int64(NO_PREFIX)
    for covered in range(least, n_words):
        state = states.heads[covered]
        while state != EMPTY:
            position = np.int64(states.position[state])
            if states.first_gap[state] == covered and is_closed(links, covered, position):
                if source < covered:
                    target = np.int64(NO_PREFIX)
                source, target = np.int64(covered), max(target, position)
            state = np.int64(states.next[state])
    return source, target


@kernel
def mark_good(states: ForcedStates, n_words: int, goal: Goal, is_end: np.ndarray, is_good: np.ndarray):
    """Mark states that end derivations, and those on derivations that end (both bool[S], initially False)."""
    for state in range(states.sizes[0]):
        covered, first_gap = np.int64(states.covered[state]), np.int64(states.first_gap[state])
        if goal.source == NO_PREFIX:
            ends = first_gap == covered and goal.least <= covered < n_words
        else:
            ends = first_gap == covered == goal.source and states.position[state] == goal.target
        is_end[state] = is_good[state] = ends
    for arc in range(states.sizes[1] - 1, -1, -1):
        if is_good[states.arc_to[arc]]:
            is_good[states.arc_from[arc]] = True


@kernel
def count_derivations(lattice: GoldLattice, ln_counts):
    """Ln of the number of derivations that end; `ln_counts` (float64[S]): ln of the number up to each state."""
    total = -np.inf
    ln_counts[0] = 0.0
    for state in range(lattice.position.size):
        if state > 0:
            ln_counts[state] = -np.inf
        for arc in range(lattice.arc_first[state], lattice.arc_first[state + 1]):
            ln_counts[state] = np.logaddexp(ln_counts[state], ln_counts[lattice.arc_from[arc]])
        if lattice.is_end[state]:
            total = np.logaddexp(total, ln_counts[state])
    return total


def ln_derivations(lattice: GoldLattice) -> float:
    """Ln of the number of derivations of the lattice."""
    return float(count_derivations(lattice, np.empty(lattice.position.size)))


def gold_lattice(
    states: ForcedStates, options: Options, n_words: int, goal: Goal, origin: np.ndarray | None
) -> GoldLattice:
    """The part of the `states` of a sentence of `n_words` words that leads to the goal; `origin`: see FilteredTables.

    At least one derivation must lead to it.
    """
    n_states, n_arcs = states.sizes.tolist()
    is_end, is_good = np.zeros(n_states, np.bool_), np.zeros(n_states, np.bool_)
    mark_good(states, n_words, goal, is_end, is_good)
    merges_ends = goal.source != NO_PREFIX
    kept = np.flatnonzero(is_good)
    kept = kept[np.argsort(states.covered[kept], kind="stable")]
    if merges_ends:  # these are the last states
        kept = kept[: kept.size - int(is_end.sum()) + 1]
    number = np.full(n_states, kept.size - 1, np.int32)
    number[kept] = np.arange(kept.size)
    arcs = np.flatnonzero(is_good[states.arc_to[:n_arcs]])
    to = number[states.arc_to[arcs]]
    by_state = np.argsort(to, kind="stable")
    arcs = arcs[by_state]
    used, arc_rule = np.unique(states.arc_option[arcs], return_inverse=True)
    return GoldLattice(
        stack_first=np.searchsorted(states.covered[kept], np.arange(n_words + 2)),
        first_gap=states.first_gap[kept],
        window=states.window[kept],
        position=states.position[kept],
        is_end=is_end[kept],
        arc_first=np.searchsorted(to[by_state], np.arange(kept.size + 1)),
        arc_from=number[states.arc_from[arcs]],
        arc_rule=arc_rule.astype(np.int32),
        rule_pair=original_pairs(options.pair[used], origin),
        rule_begin=options.begin[used],
        rule_end=options.end[used],
        merges_ends=merges_ends,
    )
