"""Extension of a hypothesis by a phrase, in every search: the allowed positions and the added score.

Limits and scores are those of Moses: a phrase may begin at most `distortion_limit` words from the end of the previous
phrase, and unless it fills the first gap it must end within that distance of the gap, so that the search can return.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.dense import DenseWeights
from phrasebeam.decoder.features.distortion import jump_length
from phrasebeam.decoder.features.histories import NO_HISTORY, START_HISTORY, Histories, forget_histories, intern_history
from phrasebeam.decoder.features.language_model import (
    BEGIN_STATE,
    NO_SLOT,
    OPEN,
    States,
    begin_states,
    ln_end,
    remember,
)
from phrasebeam.decoder.features.lexical_reordering import FULL, NO_BLOCKS, forget_blocks, orientation_before, shift
from phrasebeam.decoder.features.reordering import MONOTONE, START_BEGIN, START_END
from phrasebeam.decoder.features.stateful import FeatureMemory, add_jumps, begin_features, follow_step, score_histories
from phrasebeam.decoder.features.stateful_feature import Jump, NextPhrase, target_span
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, cover, is_covered
from phrasebeam.decoder.input.zones import obeys
from phrasebeam.decoder.model.tables import Sentence, Tables
from phrasebeam.decoder.options.future_cost import FutureCost, future_cost
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.search.hypothesis_graph import NO_OPTION, START_NODE, HypothesisGraph
from phrasebeam.decoder.search.stacks import HISTORIES_FULL, OK, STATES_FULL, Arrival, Stacks, arrive, clear_stack
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

PRUNED = -1  # the hypothesis is too bad for its stack
IMPOSSIBLE = -np.inf  # score of a translation that the constraints exclude
FINAL = np.int64(-1)  # language model state and phrase state of the final node, of which there is one


class SearchParameters(NamedTuple):
    """Limits of the search, and the layout of the features with history."""

    stack: int  # stack limit, 0 for none
    pops: int  # hypotheses that cube pruning tries in each stack, 0 for all
    ln_beam: float  # -inf for no beam threshold
    distortion_limit: int  # negative for none
    columns: np.ndarray  # int64[len(WITH_HISTORY)], see history_columns
    n_columns: int  # number of columns of histories
    keeps_histories: bool  # whether features depend on Histories
    histories_lower: bool  # whether these features can only lower scores


class SearchSpace(NamedTuple):
    """Everything that the search of one sentence reads and writes."""

    tables: Tables
    sentence: Sentence
    weights: DenseWeights
    parameters: SearchParameters
    options: Options
    future: FutureCost
    states: States
    histories: Histories
    memory: FeatureMemory
    stacks: Stacks
    graph: HypothesisGraph
    spans: np.ndarray  # int64[64 * longest], work space of find_spans
    stop: np.ndarray  # int64[1], see StopFlag


class Extension(NamedTuple):
    """The common part of all hypotheses that extend one node over one span."""

    node: int
    lm_state: np.int64  # of the node
    base: float  # score of the node and of the jump from its last phrase
    orientation: int  # orientation of the phrase to what precedes it, see jump
    first_gap: int  # first_gap and `window`: the coverage afterwards
    window: np.uint64
    remaining: float  # future cost of the words not covered
    blocks: np.int64  # FULL if there is no room for them
    row: int  # the open stack of the new hypotheses


@inner_kernel
def start_search(space: SearchSpace):
    """Make the start node, empty all open stacks, and forget the previous sentence."""
    graph, stacks = space.graph, space.stacks
    begin_states(space.tables.lms, space.states)
    start_graph(space, space.states.constraint.ln_rest[0])  # 0 without a constraint, see TargetConstraint
    graph.stack_first[0], graph.stack_first[1] = 0, 1
    for row in range(stacks.n_edges.size):
        clear_stack(stacks, row)


@inner_kernel
def start_graph(space: SearchSpace, score):
    """Make the start node with this `score` (float64), and forget what features remember of another graph."""
    graph = space.graph
    forget_blocks(space.memory.reordering)
    if space.parameters.keeps_histories:
        forget_histories(space.histories)
        begin_features(space)
    graph.score[START_NODE] = score
    graph.first_gap[START_NODE], graph.window[START_NODE] = 0, np.uint64(0)
    graph.lm_state[START_NODE], graph.blocks[START_NODE], graph.option[START_NODE] = BEGIN_STATE, NO_BLOCKS, NO_OPTION
    graph.history[START_NODE] = START_HISTORY
    graph.edge_first[START_NODE], graph.edge_first[START_NODE + 1] = 0, 0


@inner_kernel
def find_spans(space: SearchSpace, n_words: int, node):
    """Write the spans of phrases allowed after `node` to space.spans, indices of options.first; return their number."""
    first_gap, window = np.int64(space.graph.first_gap[node]), space.graph.window[node]
    last = space.graph.option[node]
    previous_end = np.int64(0) if last == NO_OPTION else np.int64(space.options.end[last])
    if space.sentence.paths.distances.size > 0:
        return _find_spans_in_lattice(space, n_words, first_gap, window, previous_end)
    return find_spans_after(space, n_words, first_gap, window, previous_end)


@inner_kernel
def _find_spans_in_lattice(space, n_words, first_gap, window, previous_end):
    """Like find_spans_after, for lattices in which arcs skip nodes: jumps are as long as the shortest path.

    A phrase may leave a gap that no path crosses; the future cost is then -inf, and the hypothesis is pruned.
    """
    options, limit, distances = space.options, space.parameters.distortion_limit, space.sentence.paths.distances
    reach, count = min(n_words, first_gap + COVERAGE_WINDOW), np.int64(0)
    for begin in range(first_gap, reach):
        if is_covered(first_gap, window, begin):
            continue
        if limit >= 0 and jump_length(distances, previous_end, begin) > limit:
            continue
        for end in range(begin + 1, min(begin + options.longest, reach) + 1):
            if is_covered(first_gap, window, end - 1):
                break
            if limit >= 0 and begin != first_gap and distances[first_gap, end] > limit:
                continue
            span_index = begin * options.longest + end - begin - 1
            if options.first[span_index] < options.first[span_index + 1]:
                space.spans[count] = span_index
                count += 1
    return count


@inlined_kernel
def find_spans_after(space: SearchSpace, n_words: int, first_gap, window, previous_end):
    """Like find_spans, for a coverage, `first_gap` (int64) and `window` (uint64), and a phrase up to `previous_end`."""
    options, limit, spans, zones = space.options, space.parameters.distortion_limit, space.spans, space.sentence.zones
    reach = min(n_words, first_gap + COVERAGE_WINDOW)
    count = np.int64(0)
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
            span_index = begin * options.longest + end - begin - 1
            if options.first[span_index] == options.first[span_index + 1]:
                continue
            if zones.begin.size == 0 or obeys(zones, limit, first_gap, window, begin, end):
                spans[count] = span_index
                count += 1
    return count


@inlined_kernel
def jump(space: SearchSpace, node, begin, end):
    """(score of `node` and of the jump from its last phrase to words begin:end, orientation to what precedes them).

    For the orientation see orientation_before.
    """
    options, graph, last = space.options, space.graph, np.int64(space.graph.option[node])
    previous_begin, previous_end = START_BEGIN, START_END
    if last != NO_OPTION:
        previous_begin, previous_end = np.int64(options.begin[last]), np.int64(options.end[last])
    coverage = np.int64(graph.first_gap[node]), graph.window[node]
    way = Jump(node, last, previous_begin, previous_end, coverage[0], coverage[1], begin, end)
    return add_jumps(space, way, graph.score[node]), orientation_before(space, way)


@inlined_kernel
def ln_history(space: SearchSpace, node, option, is_monotone: bool):
    """Weighted score of the features of `option` that depend on the history of `node`.

    `is_monotone`: whether the option is monotone to the last phrase of `node`.
    """
    return score_histories(space, NextPhrase(node, np.int64(space.graph.history[node]), option), is_monotone)


@inlined_kernel
def history_after(space: SearchSpace, node, option):
    """Id of the history after `option` extends `node`, on which the scores of the next phrase depend; or NO_HISTORY."""
    space.histories.row[0] = space.options.state[option]
    if not follow_step(space, NextPhrase(node, np.int64(space.graph.history[node]), option)):
        return NO_HISTORY
    return intern_history(space.histories, space.parameters.n_columns)


@inlined_kernel
def extension(space: SearchSpace, covered, node, first):
    """The Extension of `node`, which covers `covered` source words, over the span of the option with index `first`."""
    begin, end = np.int64(space.options.begin[first]), np.int64(space.options.end[first])
    first_gap, window = cover(np.int64(space.graph.first_gap[node]), space.graph.window[node], begin, end)
    base, backward = jump(space, node, begin, end)
    row = (covered + end - begin) % space.stacks.n_edges.size
    remaining = future_cost(space.future, first_gap, window)
    lm_state, blocks = np.int64(space.graph.lm_state[node]), NO_BLOCKS
    if space.tables.orientations.keeps_blocks:
        blocks = shift(space.memory.reordering, np.int64(space.graph.blocks[node]), begin, end)
    return Extension(node, lm_state, base, backward, first_gap, window, remaining, blocks, row)


@inlined_kernel
def extend(space: SearchSpace, n_words: int, shared: Extension, option):
    """Send the hypothesis of `shared` and `option` to its stack, unless PRUNED. Returns OK or what is full."""
    status, score, lm_state = weigh(space, n_words, shared, option)
    if status == OK:
        return send(space, n_words, shared, option, score, lm_state)
    return OK if status == PRUNED else status


@inlined_kernel
def weigh(space: SearchSpace, n_words: int, shared: Extension, option):
    """Score `shared` extended by `option` (int64): (OK, PRUNED or what is full; ln model score; language model state).

    An example: `shared` is a node that ends in "the" (score -2.0), extended over "haus" without a jump, so that
    shared.base is -2.0; the remaining words have future cost -3.0. The stack of the result drops hypotheses below -9.5
    with the future cost, hence those with a score below `threshold` = -9.5 + 3.0 = -6.5. The option "house" has score
    -1.2, backward -0.3 for the monotone orientation, and bound -1.2, since a language model adds 0 at best.

        known = -2.0 - 0.3 = -2.3           -2.3 - 1.2 = -3.5 is above -6.5: ask the language model
        ln p(house | the) = -1.6            score = -2.3 - 1.2 - 1.6 = -5.1 is above -6.5: OK

    The option "old house" with bound -1.5 has ln p(old | the) = -4.0, and -2.3 - 1.5 - 4.0 = -7.8: PRUNED before the
    language model is queried about "house". The language model is the most expensive query: each `return PRUNED` saves
    those below it. The score is IMPOSSIBLE if it contradicts what the translation must begin with.
    """
    options, states = space.options, space.states
    threshold = space.stacks.threshold[shared.row] - shared.remaining
    known = shared.base + options.backward[option, shared.orientation]
    # Features with history cost more than this check; if they only lower scores, the bound is valid without them
    if space.parameters.histories_lower and known + options.bound[option] < threshold:
        return PRUNED, known, BEGIN_STATE
    if space.parameters.keeps_histories:
        known += ln_history(space, shared.node, option, shared.orientation == MONOTONE)
    if known + options.bound[option] < threshold:
        return PRUNED, known, BEGIN_STATE
    first, end = target_span(options, option)
    ln_lm, lm_state = 0.0, shared.lm_state
    # The first word is looked up alone: many options begin with the same word, and a state meets few words
    if first < end:
        word, memo = np.int64(options.words[first]), states.first_words
        if first + 1 < end and states.constraint.allowed.size > 0:
            word += OPEN  # within a phrase the state of the constraint differs from that at its end
        slot = remember(space.tables.lms, options, first, first + 1, states, lm_state, memo, word)
        if slot == NO_SLOT:
            return STATES_FULL, known, BEGIN_STATE
        ln_lm, lm_state = states.first_words.ln_score[slot], np.int64(states.first_words.state[slot])
    # The rest is looked up by the number of the target phrase, in the state after the first word
    if first + 1 < end:
        if options.bound[option] < np.inf and known + options.bound[option] + ln_lm < threshold:  # ln_lm may be -inf
            return PRUNED, known + ln_lm, BEGIN_STATE
        target = np.int64(options.target[option])
        slot = remember(space.tables.lms, options, first + 1, end, states, lm_state, states.rests, target)
        if slot == NO_SLOT:
            return STATES_FULL, known, BEGIN_STATE
        ln_lm += states.rests.ln_score[slot]
        lm_state = np.int64(states.rests.state[slot])
    score = known + options.score[option] + ln_lm
    is_last = shared.first_gap == n_words
    # </s> follows the last word; options do not contain it. With a negative weight, it may raise the score
    if score < threshold and not (is_last and options.bound[option] == np.inf):
        return PRUNED, score, BEGIN_STATE
    if is_last:
        score += ln_end(space.tables.lms, states, lm_state)
        if score == IMPOSSIBLE:
            return PRUNED, score, BEGIN_STATE
    return OK, score, lm_state


@inlined_kernel
def send(space: SearchSpace, n_words: int, shared: Extension, option, score, lm_state):
    """Send `option` after `shared`, with `score` and `lm_state` of weigh, to its stack. Returns OK or what is full."""
    phrase_state, blocks = np.int64(space.options.state[option]), shared.blocks
    if blocks == FULL:
        return HISTORIES_FULL
    if shared.first_gap == n_words:
        lm_state, phrase_state, blocks = FINAL, FINAL, NO_BLOCKS
    elif space.parameters.keeps_histories:
        phrase_state = history_after(space, shared.node, option)
        if phrase_state == NO_HISTORY:
            return HISTORIES_FULL
    where = shared.first_gap, shared.window
    new = Arrival(score, score + shared.remaining, *where, lm_state, phrase_state, blocks, shared.node, option)
    return arrive(space.stacks, shared.row, new, space.parameters.stack, space.parameters.ln_beam)
