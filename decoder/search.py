"""Stack decoding with coverage vectors (Koehn et al. 2003): every hypothesis is extended by every phrase that fits.

Limits and scores are Moses': a phrase may begin at most `distortion_limit` words from the end of the one before, and
unless it fills the first gap it must end within that distance of the gap, so that the search can return.
"""

from typing import NamedTuple

import numpy as np

from decoder.config import COVERAGE_WINDOW
from decoder.coverage import cover, is_covered
from decoder.features.language_model import (
    BEGIN_STATE,
    NO_SLOT,
    States,
    log10_end,
    remember,
)
from decoder.features.reordering import START_BEGIN, START_END, orientation
from decoder.future_cost import FutureCost, future_cost
from decoder.hypothesis_graph import NO_OPTION, HypothesisGraph
from decoder.options import Options
from decoder.stacks import OK, STATES_FULL, Arrival, Stacks, arrive, clear_stack, close_stack
from lm.jit import kernel
from lm.probing import ProbingTables

FINAL = np.int64(-1)  # language model state and phrase state of the one final node


class Limits(NamedTuple):
    """What is searched, and the weights of the features that need history."""

    stack: int  # 0 for all
    ln_beam: float  # -inf for all
    distortion_limit: int  # negative for none
    distortion: float  # weight
    ln_lm: float  # weight of the language model times ln 10


class SearchSpace(NamedTuple):
    """All that the search of one sentence reads and writes."""

    options: Options
    future: FutureCost
    lm: ProbingTables
    end_word: np.ndarray  # int32[1], LM id of </s>
    states: States
    stacks: Stacks
    graph: HypothesisGraph
    limits: Limits


@kernel
def search(space, n_words):
    """Fill space.graph with what the search of a sentence of `n_words` words keeps; OK or what is full."""
    graph, stacks = space.graph, space.stacks
    graph.stack_first[0], graph.stack_first[1] = 0, 1
    graph.score[0], graph.first_gap[0], graph.window[0] = 0.0, 0, np.uint64(0)
    graph.lm_state[0], graph.option[0] = BEGIN_STATE, NO_OPTION
    graph.edge_first[0], graph.edge_first[1] = 0, 0
    for row in range(stacks.n_edges.size):
        clear_stack(stacks, row)
    for covered in range(n_words):
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            status = _extend(space, n_words, covered, node)
            if status != OK:
                return status
        row = (covered + 1) % stacks.n_edges.size
        status = close_stack(stacks, row, space.limits.stack, graph, covered + 1)
        if status != OK:
            return status
    return OK


@kernel
def _extend(space, n_words, covered, node):
    """Extend `node` by all phrases over all spans that the limits allow."""
    options, limit = space.options, space.limits.distortion_limit
    first_gap, window = np.int64(space.graph.first_gap[node]), space.graph.window[node]
    last = space.graph.option[node]
    previous_end = 0 if last == NO_OPTION else np.int64(options.end[last])
    reach = min(n_words, first_gap + COVERAGE_WINDOW)
    for begin in range(first_gap, reach):
        if limit >= 0 and begin - previous_end > limit:
            break
        if is_covered(first_gap, window, begin) or (limit >= 0 and previous_end - begin > limit):
            continue
        for end in range(begin + 1, min(begin + options.longest, reach) + 1):
            if is_covered(first_gap, window, end - 1):
                break
            if limit >= 0 and begin != first_gap and end - first_gap > limit:
                break
            place = begin * options.longest + end - begin - 1
            if options.first[place] == options.first[place + 1]:
                continue
            status = _extend_over(space, n_words, covered, node, place)
            if status != OK:
                return status
    return OK


@kernel
def _extend_over(space, n_words, covered, node, place):
    """Extend `node` by the options of one span, those at options.first[place] and on."""
    options, states, stacks, limits = space.options, space.states, space.stacks, space.limits
    first, last, state = options.first[place], space.graph.option[node], np.int64(space.graph.lm_state[node])
    begin, end = np.int64(options.begin[first]), np.int64(options.end[first])
    first_gap, window = cover(np.int64(space.graph.first_gap[node]), space.graph.window[node], begin, end)
    remaining = future_cost(space.future, first_gap, window)
    row = (covered + end - begin) % stacks.n_edges.size
    base = space.graph.score[node]
    if last == NO_OPTION:
        which = orientation(START_BEGIN, START_END, begin, end)
        base -= limits.distortion * begin
    else:
        previous_end = np.int64(options.end[last])
        which = orientation(np.int64(options.begin[last]), previous_end, begin, end)
        base += options.forward[last, which] - limits.distortion * abs(begin - previous_end)
    for option in range(first, options.first[place + 1]):
        known = base + options.backward[option, which]
        if known + options.bound[option] + remaining < stacks.threshold[row]:
            continue
        target = np.int64(options.target[option])
        second, target_end = options.target_first[target] + 1, options.target_first[target + 1]
        word = np.int64(options.lm_words[second - 1])
        slot = remember(space.lm, options.lm_words, second - 1, second, states, state, states.first_words, word)
        if slot == NO_SLOT:
            return STATES_FULL
        ln_lm, lm_state = limits.ln_lm * states.first_words.log10_prob[slot], np.int64(states.first_words.state[slot])
        if second < target_end:
            if known + options.bound[option] + ln_lm + remaining < stacks.threshold[row]:
                continue
            slot = remember(space.lm, options.lm_words, second, target_end, states, lm_state, states.rests, target)
            if slot == NO_SLOT:
                return STATES_FULL
            ln_lm += limits.ln_lm * states.rests.log10_prob[slot]
            lm_state = np.int64(states.rests.state[slot])
        score = known + options.score[option] + ln_lm
        if score + remaining < stacks.threshold[row]:
            continue
        phrase_state = np.int64(options.state[option])
        if first_gap == n_words:
            score += limits.ln_lm * log10_end(space.lm, states, lm_state, space.end_word)
            lm_state, phrase_state = FINAL, FINAL
        new = Arrival(score, score + remaining, first_gap, window, lm_state, phrase_state, node, option)
        status = arrive(stacks, row, new, limits.stack, limits.ln_beam)
        if status != OK:
            return status
    return OK
