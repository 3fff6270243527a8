"""Scores for a lattice of y-good derivations, which becomes a hypothesis graph like that of the search, unpruned.

The position in the reference is the state of the language models. The last phrase and the blocks, on which scores also
depend, divide a state of the lattice into nodes. The best derivation, n-best lists and lattices are read from this
graph as from any other, and so are the best partial derivations by number of covered words (Yu et al. 2013, equation
3).
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.features.histories import NO_HISTORY
from phrasebeam.decoder.features.language_model import BEGIN_STATE, States, intern_state, score_after, weighted_ln
from phrasebeam.decoder.features.lexical_reordering import FULL, NO_BLOCKS, shift
from phrasebeam.decoder.features.reordering import MONOTONE
from phrasebeam.decoder.forced.gold_lattice import NOT_THERE, GoldLattice
from phrasebeam.decoder.options.candidates import is_score
from phrasebeam.decoder.options.option_arrays import Options
from phrasebeam.decoder.search.extension import SearchSpace, history_after, jump, ln_history, start_graph
from phrasebeam.decoder.search.hypothesis_graph import START_NODE, ArrivedEdges, append_edges
from phrasebeam.decoder.search.stacks import EDGES_FULL, HISTORIES_FULL, NODES_FULL, OK, WRONG_SCORE
from phrasebeam.decoder.tables.language_models import LanguageModels
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel, kernel

ONE = np.int64(1)


class GoldSpace(NamedTuple):
    """The arrays, besides the graph, for scoring a lattice of S states, R rules and a reference of m words."""

    # Option of each rule; NOT_THERE: derivations with this rule are left out
    rule_option: Annotated[np.ndarray, array(np.int64, "R")]
    # Weighted score of the first words of the reference; the last entry includes </s>
    ln_lm: Annotated[np.ndarray, array(np.float64, "m + 2")]
    # Nodes of state i are node_first[i]:node_first[i + 1]
    node_first: Annotated[np.ndarray, array(np.int64, "S + 1")]
    # Best node by number of covered words, or EMPTY
    best_node: Annotated[np.ndarray, array(np.int64, "n + 1")]
    # See Options.state; N nodes and E edges as in the graph
    phrase_state: Annotated[np.ndarray, array(np.int32, "N")]
    # Edges that arrive at a node are chained from the latest
    last_edge: Annotated[np.ndarray, array(np.int32, "N")]
    best_edge: Annotated[np.ndarray, array(np.int32, "N")]
    edge_from: Annotated[np.ndarray, array(np.int32, "E")]
    edge_option: Annotated[np.ndarray, array(np.int32, "E")]
    edge_score: Annotated[np.ndarray, array(np.float64, "E")]
    edge_next: Annotated[np.ndarray, array(np.int32, "E")]  # or EMPTY
    slots: Annotated[np.ndarray, array(np.int32, "T")]  # hash table of nodes, T a power of two >= 2 N


def new_gold_space(n_nodes: int, n_edges: int) -> GoldSpace:
    """Space for a graph with room for nodes (a power of two) and edges; arrays by state, rule and word are empty."""
    return allocate(GoldSpace, {"R": 0, "m": 0, "S": 0, "n": 0, "N": n_nodes, "E": n_edges, "T": 2 * n_nodes})


@kernel
def find_options(lattice: GoldLattice, options: Options, origin, rule_option: np.ndarray):
    """Fill in the option of each rule, or NOT_THERE; return how many exist. `origin`: FilteredTables', or NO_ORIGIN."""
    n_found = 0
    for rule in range(rule_option.size):
        begin, end = np.int64(lattice.rule_begin[rule]), np.int64(lattice.rule_end[rule])
        rule_option[rule] = NOT_THERE
        if end - begin > options.longest:
            continue
        span_index = begin * options.longest + end - begin - 1
        for option in range(options.first[span_index], options.first[span_index + 1]):
            pair = options.pair[option]
            if pair >= 0 and origin.size > 0:
                pair = origin[pair]
            if pair == lattice.rule_pair[rule]:
                rule_option[rule] = option
        n_found += rule_option[rule] != NOT_THERE
    return n_found


@kernel
def score_reference(lms: LanguageModels, lm_words, states: States, ln_lm: np.ndarray):
    """Fill in the scores of a reference with the ids `lm_words` (int32[m, L]); begin_states must be called before."""
    state, n_words = BEGIN_STATE, lm_words.shape[0]
    ln_lm[0] = 0.0
    for i in range(n_words):
        row = score_after(lms, lm_words, np.int64(i), np.int64(i + 1), states, state)
        ln_lm[i + 1] = ln_lm[i] + weighted_ln(lms.ln_weights, states.log10_prob)
        state = intern_state(states, row)
    score_after(lms, lms.end_ids, np.int64(0), ONE, states, state)
    ln_lm[n_words + 1] = ln_lm[n_words] + weighted_ln(lms.ln_weights, states.log10_prob)


@kernel
def fill_gold_graph(space: SearchSpace, n_words: int, lattice: GoldLattice, gold: GoldSpace):
    """Fill space.graph with the lattice. Returns OK, what is full, or WRONG_SCORE.

    The nodes of a stack are in the order of states, not best first.
    """
    graph = space.graph
    start_graph(space, 0.0)
    gold.node_first[0], gold.node_first[1] = 0, 1
    gold.slots[:] = EMPTY
    gold.best_node[:] = EMPTY
    gold.best_node[0] = START_NODE
    for state in range(1, lattice.position.size):
        status = _fill_state(space, n_words, lattice, gold, state)
        if status != OK:
            return status
    for covered in range(n_words + 2):
        graph.stack_first[covered] = gold.node_first[lattice.stack_first[covered]]
        for node in range(graph.stack_first[max(covered - 1, 0)], graph.stack_first[covered]):
            best = gold.best_node[covered - 1]
            if best == EMPTY or graph.score[node] > graph.score[best]:
                gold.best_node[covered - 1] = node
    return OK


@inner_kernel
def _fill_state(space, n_words, lattice, gold, state):
    """Make the nodes of one state, and their edges. Returns OK, what is full, or WRONG_SCORE."""
    graph, options, first = space.graph, space.options, gold.node_first[state]
    n_nodes, n_edges, first_edge = first, np.int64(0), graph.edge_first[first]
    is_end = lattice.is_end[state] and lattice.merges_ends
    before_end = lattice.position[state] + (is_end and lattice.first_gap[state] == n_words)
    for arc in range(lattice.arc_first[state], lattice.arc_first[state + 1]):
        source, option = np.int64(lattice.arc_from[arc]), gold.rule_option[lattice.arc_rule[arc]]
        if option == NOT_THERE:
            continue
        begin, end = np.int64(options.begin[option]), np.int64(options.end[option])
        ln_lm = gold.ln_lm[before_end] - gold.ln_lm[lattice.position[source]]
        for node in range(gold.node_first[source], gold.node_first[source + 1]):
            base, orientation = jump(space, node, begin, end)
            score = base + options.backward[option, orientation] + options.score[option] + ln_lm
            if space.parameters.keeps_histories:
                score += ln_history(space, node, option, orientation == MONOTONE)
            if not is_score(score):
                return WRONG_SCORE
            blocks, phrase_state = NO_BLOCKS, np.int64(EMPTY)
            if not is_end:
                phrase_state = np.int64(options.state[option])
                if space.parameters.keeps_histories:
                    phrase_state = history_after(space, node, option)
                    if phrase_state == NO_HISTORY:
                        return HISTORIES_FULL
                if space.tables.orientations.keeps_blocks:
                    blocks = shift(space.memory.reordering, np.int64(graph.blocks[node]), begin, end)
                    if blocks == FULL:
                        return HISTORIES_FULL
            if first_edge + n_edges == graph.edge_from.size:
                return EDGES_FULL
            gold.edge_from[n_edges], gold.edge_option[n_edges], gold.edge_score[n_edges] = node, option, score
            slot = _find_slot(graph, gold, first, phrase_state, blocks)
            to_node = np.int64(gold.slots[slot])
            if to_node == EMPTY:
                if n_nodes == graph.score.size:
                    return NODES_FULL
                to_node = gold.slots[slot] = n_nodes
                gold.phrase_state[to_node], graph.blocks[to_node] = phrase_state, blocks
                graph.history[to_node] = phrase_state
                graph.first_gap[to_node], graph.window[to_node] = lattice.first_gap[state], lattice.window[state]
                graph.lm_state[to_node] = lattice.position[state]
                gold.last_edge[to_node], gold.best_edge[to_node] = EMPTY, EMPTY
                n_nodes += 1
            gold.edge_next[n_edges] = gold.last_edge[to_node]
            gold.last_edge[to_node] = n_edges
            if gold.best_edge[to_node] == EMPTY or score > graph.score[to_node]:
                gold.best_edge[to_node], graph.score[to_node], graph.option[to_node] = n_edges, score, option
            n_edges += 1
    edges = ArrivedEdges(gold.edge_from, gold.edge_option, gold.edge_score, gold.edge_next)
    for node in range(first, n_nodes):  # there is room for their edges
        append_edges(graph, node, edges, gold.last_edge[node], gold.best_edge[node])
    gold.node_first[state + 1] = n_nodes
    return OK


@inlined_kernel
def _find_slot(graph, gold, first, phrase_state, blocks):
    """The node with this phrase state and these blocks, among the nodes of a state from `first` on."""
    slot = first_slot(mix(combine(combine(combine(START, first), phrase_state), blocks)), gold.slots.size)
    while gold.slots[slot] != EMPTY:
        node = np.int64(gold.slots[slot])
        if node >= first and gold.phrase_state[node] == phrase_state and graph.blocks[node] == blocks:
            break
        slot = next_slot(slot, gold.slots.size)
    return slot
