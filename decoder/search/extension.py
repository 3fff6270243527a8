"""How a hypothesis is extended by a phrase, in every search: where the phrase may lie, and what it adds to the score.

Limits and scores are Moses': a phrase may begin at most `distortion_limit` words from the end of the one before, and
unless it fills the first gap it must end within that distance of the gap, so that the search can return.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.features.distortion import early_distortion, jump_length
from phrasebeam.decoder.features.hierarchical import FULL, NO_BLOCKS, Blocks, forget_blocks, orientation_of_next, shift
from phrasebeam.decoder.features.histories import (
    NO_HISTORY,
    START_HISTORY,
    Histories,
    forget_histories,
    next_history,
    score_history,
)
from phrasebeam.decoder.features.language_model import (
    BEGIN_STATE,
    NO_SLOT,
    OPEN,
    States,
    begin_states,
    ln_end,
    remember,
)
from phrasebeam.decoder.features.reordering import (
    MONOTONE,
    MONOTONE_TO_BLOCK,
    START_BEGIN,
    START_END,
    orientation,
)
from phrasebeam.decoder.input.coverage import COVERAGE_WINDOW, cover, is_covered
from phrasebeam.decoder.input.synthetic_pairs import SyntheticPairs
from phrasebeam.decoder.input.zones import Zones, obeys
from phrasebeam.decoder.operations.operation_states import (
    BEGIN_OPERATIONS,
    NO_OPERATION_STATE,
    OperationStates,
    begin_operations,
    remember_operations,
)
from phrasebeam.decoder.operations.operations import Operations
from phrasebeam.decoder.options.future_cost import FutureCost, future_cost
from phrasebeam.decoder.options.translation_options import Options
from phrasebeam.decoder.search.hypothesis_graph import NO_OPTION, HypothesisGraph
from phrasebeam.decoder.search.stacks import (
    BLOCKS_FULL,
    HISTORIES_FULL,
    OK,
    STATES_FULL,
    Arrival,
    Stacks,
    arrive,
    clear_stack,
)
from phrasebeam.decoder.sparse.sparse_features import Sparse
from phrasebeam.decoder.sparse.template_kernels import START_RULE, RuleHashes
from phrasebeam.decoder.sparse.templates import CLASS_REORDERING, RULE_BIGRAM, RULE_HISTORY
from phrasebeam.decoder.tables.language_models import LanguageModels
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

PRUNED = -1  # the hypothesis is too bad for its stack
IMPOSSIBLE = -np.inf  # score of what the translation must not be
FINAL = np.int64(-1)  # language model state and phrase state of the one final node


class SearchParameters(NamedTuple):
    """Limits of the search, and the weights of the features that depend on the words or phrases before."""

    stack: int  # 0 for all
    pops: int  # hypotheses a stack that cube pruning tries, 0 for all
    ln_beam: float  # -inf for all
    distortion_limit: int  # negative for none
    distortion: float  # weight
    early_distortion: float  # weight, 0 without this feature
    is_hierarchical: bool  # the reordering model, see Orientations
    keeps_blocks: bool
    sparse: np.ndarray  # float64[len(GROUPS)], scales
    keeps_histories: bool  # whether features depend on Histories
    histories_lower: bool  # and can only lower scores


class SearchSpace(NamedTuple):
    """All that the search of one sentence reads and writes."""

    options: Options
    future: FutureCost
    lms: LanguageModels
    states: States
    stacks: Stacks
    graph: HypothesisGraph
    blocks: Blocks
    spans: np.ndarray  # int64[64 * longest], work space of find_spans
    zones: Zones
    sparse: Sparse
    synthetic: SyntheticPairs
    histories: Histories
    operations: Operations
    operation_states: OperationStates
    parameters: SearchParameters
    distances: np.ndarray  # int32, see SourcePaths
    stop: np.ndarray  # int64[1], see StopFlag


class Extension(NamedTuple):
    """What the hypotheses share that extend one node over one span."""

    node: int
    lm_state: np.int64  # of the node
    base: float  # score of the node and of the jump from its last phrase
    orientation: int  # of the phrase to what comes before it, see jump
    first_gap: int  # with `window` the coverage afterwards
    window: np.uint64
    remaining: float  # future cost
    blocks: np.int64  # FULL if there is no room for them
    row: int  # the open stack they arrive in


@inner_kernel
def start_graph(space: SearchSpace):
    """Make the start node, all open stacks empty, and forget the sentence before."""
    graph, stacks = space.graph, space.stacks
    forget_blocks(space.blocks)
    begin_states(space.lms, space.states)
    begin_histories(space)
    graph.stack_first[0], graph.stack_first[1] = 0, 1
    graph.score[0] = space.states.constraint.ln_rest[0]  # and 0 when it has been paid, see Required
    graph.first_gap[0], graph.window[0] = 0, np.uint64(0)
    graph.lm_state[0], graph.blocks[0], graph.option[0] = BEGIN_STATE, NO_BLOCKS, NO_OPTION
    graph.history[0] = START_HISTORY
    graph.edge_first[0], graph.edge_first[1] = 0, 0
    for row in range(stacks.n_edges.size):
        clear_stack(stacks, row)


@inner_kernel
def begin_histories(space: SearchSpace):
    """Forget all histories but the first, where features depend on them."""
    if space.parameters.keeps_histories:
        forget_histories(space.histories)
    if space.operations.ln_weights.size > 0:
        begin_operations(space.operations, space.operation_states)


@inner_kernel
def find_spans(space: SearchSpace, n_words: int, node):
    """Write the spans that a phrase after `node` may cover to space.spans, indices of options.first; their number."""
    first_gap, window = np.int64(space.graph.first_gap[node]), space.graph.window[node]
    last = space.graph.option[node]
    previous_end = np.int64(0) if last == NO_OPTION else np.int64(space.options.end[last])
    if space.distances.size > 0:
        return _find_spans_in_lattice(space, n_words, first_gap, window, previous_end)
    return find_spans_after(space, n_words, first_gap, window, previous_end)


@inner_kernel
def _find_spans_in_lattice(space, n_words, first_gap, window, previous_end):
    """find_spans_after where arcs skip nodes: jumps are as long as the shortest path.

    A phrase may leave a gap that no path crosses; then its future cost is -inf, and the hypothesis is pruned.
    """
    options, limit, distances = space.options, space.parameters.distortion_limit, space.distances
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
    """find_spans for a coverage, `first_gap` (int64) and `window` (uint64), after a phrase ended at `previous_end`."""
    options, limit, spans = space.options, space.parameters.distortion_limit, space.spans
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
            if space.zones.begin.size == 0 or obeys(space.zones, limit, first_gap, window, begin, end):
                spans[count] = span_index
                count += 1
    return count


@inlined_kernel
def jump(space: SearchSpace, node, begin, end):
    """(score of `node` and of the jump from its last phrase to words begin:end, orientation to what comes before).

    The orientation is MONOTONE only if the phrase is so to the last phrase, else perhaps MONOTONE_TO_BLOCK.
    """
    options, graph, parameters, last = space.options, space.graph, space.parameters, space.graph.option[node]
    base, first_gap = graph.score[node], np.int64(graph.first_gap[node])
    if last == NO_OPTION:
        previous_end, backward = START_END, orientation(START_BEGIN, START_END, begin, end)
    else:
        previous_begin, previous_end = np.int64(options.begin[last]), np.int64(options.end[last])
        backward = orientation(previous_begin, previous_end, begin, end)
        forward = backward
        if parameters.is_hierarchical and backward != MONOTONE:  # else it is monotone to the block, too
            window = graph.window[node]
            forward = _block_case(orientation_of_next(backward, first_gap, window, previous_begin, previous_end))
            backward = _block_case(_block_orientation(space, node, begin, end))
        base += options.forward[last, forward]
    if parameters.early_distortion != 0.0:
        base += parameters.early_distortion * early_distortion(first_gap, previous_end, begin, end)
    return base - parameters.distortion * jump_length(space.distances, previous_end, begin), backward


@inlined_kernel
def _block_case(orientation_id):
    """The index in Options.backward or forward of an orientation to a block, of a phrase not monotone to the last."""
    return MONOTONE_TO_BLOCK if orientation_id == MONOTONE else orientation_id


@inlined_kernel
def _block_orientation(space, node, begin, end):
    """Orientation to the block on top of the node's."""
    top = space.graph.blocks[node]
    return orientation(np.int64(space.blocks.begin[top]), np.int64(space.blocks.end[top]), begin, end)


@inner_kernel
def ln_history(space: SearchSpace, node, option, is_monotone: bool):
    """Weighted score of the features of `option` that depend on the history of `node`: sparse ones, and operations.

    `is_monotone`: whether the option is so to the last phrase of `node`.
    """
    history, scales, total = np.int64(space.graph.history[node]), space.parameters.sparse, 0.0
    if space.sparse.has_history:
        rule, states = RuleHashes(space.options.rule[option, 0], space.options.rule[option, 1]), space.histories
        total += score_history(space.sparse, scales, space.synthetic, states, history, option, rule, is_monotone)
    if space.operations.ln_weights.size > 0:
        total += space.operation_states.memo_scores[_operations(space, node, history, option)]
    return total


@inlined_kernel
def _operations(space, node, history, option):
    """Slot of the memo for the operations of `option` after `node`."""
    state, graph, model = np.int64(space.histories.operations[history]), space.graph, space.operations
    states, first_gap = space.operation_states, np.int64(graph.first_gap[node])
    return remember_operations(model, states, space.options, state, option, first_gap, graph.window[node])


@inner_kernel
def history_after(space: SearchSpace, node, option):
    """What features of the next phrase depend on, of `option` after `node`; or NO_HISTORY."""
    options, active, target = space.options, space.sparse.active, np.int64(space.options.target[option])
    first, end = options.target_first[target], options.target_first[target + 1]
    if not active[RULE_HISTORY]:
        end = first
    rule = RuleHashes(
        options.rule[option, 0] if active[RULE_BIGRAM] else START_RULE,
        options.rule[option, 1] if active[CLASS_REORDERING] else START_RULE,
    )
    history, state, operations = np.int64(space.graph.history[node]), np.int64(options.state[option]), BEGIN_OPERATIONS
    if space.operations.ln_weights.size > 0:
        operations = np.int64(space.operation_states.memo_states[_operations(space, node, history, option)])
        if operations == NO_OPERATION_STATE:
            return NO_HISTORY
    return next_history(space.histories, history, state, operations, rule, options.words, first, end)


@inlined_kernel
def extension(space: SearchSpace, covered, node, first):
    """The Extension of `node`, of `covered` words, over the span of option `first`."""
    begin, end = np.int64(space.options.begin[first]), np.int64(space.options.end[first])
    first_gap, window = cover(np.int64(space.graph.first_gap[node]), space.graph.window[node], begin, end)
    base, backward = jump(space, node, begin, end)
    row = (covered + end - begin) % space.stacks.n_edges.size
    remaining = future_cost(space.future, first_gap, window)
    lm_state, blocks = np.int64(space.graph.lm_state[node]), NO_BLOCKS
    if space.parameters.keeps_blocks:
        blocks = shift(space.blocks, np.int64(space.graph.blocks[node]), begin, end)
    return Extension(node, lm_state, base, backward, first_gap, window, remaining, blocks, row)


@inlined_kernel
def extend(space: SearchSpace, n_words: int, shared: Extension, option):
    """Send the hypothesis of the Extension `shared` and an option to its stack, unless PRUNED; OK or what is full."""
    status, score, lm_state = weigh(space, n_words, shared, option)
    if status == OK:
        return send(space, n_words, shared, option, score, lm_state)
    return OK if status == PRUNED else status


@inlined_kernel
def weigh(space: SearchSpace, n_words: int, shared: Extension, option):
    """Score `shared` extended by `option` (int64): (OK, PRUNED or what is full; ln model score; language model state).

    The score is IMPOSSIBLE, and the hypothesis PRUNED, if it contradicts what the translation must begin with.
    """
    options, states = space.options, space.states
    threshold = space.stacks.threshold[shared.row] - shared.remaining
    known = shared.base + options.backward[option, shared.orientation]
    if space.parameters.histories_lower and known + options.bound[option] < threshold:
        return PRUNED, known, BEGIN_STATE
    if space.parameters.keeps_histories:
        known += ln_history(space, shared.node, option, shared.orientation == MONOTONE)
    if known + options.bound[option] < threshold:
        return PRUNED, known, BEGIN_STATE
    target = np.int64(options.target[option])
    first, end = options.target_first[target], options.target_first[target + 1]
    ln_lm, lm_state = 0.0, shared.lm_state
    if first < end:
        word, memo = np.int64(options.words[first]), states.first_words
        if first + 1 < end and states.constraint.allowed.size > 0:
            word += OPEN
        slot = remember(space.lms, options, first, first + 1, states, lm_state, memo, word)
        if slot == NO_SLOT:
            return STATES_FULL, known, BEGIN_STATE
        ln_lm, lm_state = states.first_words.ln_score[slot], np.int64(states.first_words.state[slot])
    if first + 1 < end:
        if options.bound[option] < np.inf and known + options.bound[option] + ln_lm < threshold:  # ln_lm may be -inf
            return PRUNED, known + ln_lm, BEGIN_STATE
        slot = remember(space.lms, options, first + 1, end, states, lm_state, states.rests, target)
        if slot == NO_SLOT:
            return STATES_FULL, known, BEGIN_STATE
        ln_lm += states.rests.ln_score[slot]
        lm_state = np.int64(states.rests.state[slot])
    score = known + options.score[option] + ln_lm
    if score < threshold:
        return PRUNED, score, BEGIN_STATE
    if shared.first_gap == n_words:
        score += ln_end(space.lms, states, lm_state)
        if score == IMPOSSIBLE:
            return PRUNED, score, BEGIN_STATE
    return OK, score, lm_state


@inlined_kernel
def send(space: SearchSpace, n_words: int, shared: Extension, option, score, lm_state):
    """Send `option` after `shared`, with `score` and `lm_state` by weigh, to its stack; OK or what is full."""
    phrase_state, blocks = np.int64(space.options.state[option]), shared.blocks
    if blocks == FULL:
        return BLOCKS_FULL
    if shared.first_gap == n_words:
        lm_state, phrase_state, blocks = FINAL, FINAL, NO_BLOCKS
    elif space.parameters.keeps_histories:
        phrase_state = history_after(space, shared.node, option)
        if phrase_state == NO_HISTORY:
            return HISTORIES_FULL
    where = shared.first_gap, shared.window
    new = Arrival(score, score + shared.remaining, *where, lm_state, phrase_state, blocks, shared.node, option)
    return arrive(space.stacks, shared.row, new, space.parameters.stack, space.parameters.ln_beam)
