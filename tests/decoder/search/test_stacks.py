"""A stack against a dict of states and sorted()."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.decoder.search.hypothesis_graph import new_graph
from phrasebeam.decoder.search.stacks import (
    EDGES_FULL,
    NODES_FULL,
    OK,
    STACK_EDGES_FULL,
    STACK_FULL,
    WRONG_SCORE,
    Arrival,
    clear_stack,
    close_stack,
    new_stacks,
)
from tests.inner_kernels import arrive

pytestmark = pytest.mark.kernels

ROW = 1


class Node(NamedTuple):
    """What became of a state: its best score, and its (from node, option, score), the best one first."""

    state: tuple
    score: float
    edges: list


# (score, state): few of each, so that they tie and recombine; a state is
# (first gap, window, LM state, phrase state, blocks)
STATES = st.tuples(
    st.integers(0, 1), st.sampled_from([0, 2, 2**63]), st.integers(0, 1), st.integers(-1, 0), st.integers(0, 1)
)
ARRIVALS = st.lists(st.tuples(st.integers(-9, 9), STATES), min_size=1, max_size=80)


def future(state):
    """Equal states have equal futures."""
    return -float(state[0] + 2 * (state[1] == 2))


def run(arrivals, limit, ln_beam, capacity, n_edges=256):
    """The nodes that a stack gives to the graph, or what was full."""
    stacks, graph = new_stacks(2, capacity, n_edges), new_graph(3, 64, 256)
    graph.stack_first[1] = 1
    for row in range(2):
        clear_stack(stacks, row)
    for option, (score, state) in enumerate(arrivals):
        first_gap, window, *others = state
        where = np.int64(first_gap), np.uint64(window), *map(np.int64, others)
        new = Arrival(float(score), score + future(state), *where, option % 5, option)
        status = arrive(stacks, ROW, new, limit, ln_beam)
        if status != OK:
            return status
    assert close_stack(stacks, ROW, limit, graph, 1) == OK
    assert stacks.n_hypotheses.tolist() == [0, 0]
    assert np.all(stacks.slots == -1)
    nodes = []
    for node in range(graph.stack_first[1], graph.stack_first[2]):
        begin, end = graph.edge_first[node], graph.edge_first[node + 1]
        columns = graph.edge_from[begin:end], graph.edge_option[begin:end], graph.edge_score[begin:end]
        edges = list(zip(*(column.tolist() for column in columns)))
        assert graph.option[node] == edges[0][1]
        state = arrivals[edges[0][1]][1]
        seen = graph.first_gap[node], graph.window[node], graph.lm_state[node], graph.blocks[node]
        assert (*state[:3], state[4]) == seen
        nodes.append(Node(state, float(graph.score[node]), edges))
    return nodes


def naive(arrivals, limit, ln_beam):
    """All states in the order in which they were first met, ranked by priority, then cut."""
    edges = {}
    for option, (score, state) in enumerate(arrivals):
        edges.setdefault(state, []).append((option % 5, option, float(score)))
    nodes = []
    for state, some in edges.items():
        best = max(some, key=lambda edge: edge[2])  # the first of equals
        nodes.append(Node(state, best[2], [best, *(edge for edge in reversed(some) if edge != best)]))
    nodes.sort(key=lambda node: -priority(node))
    highest = priority(nodes[0])
    return [node for node in nodes[: limit or None] if priority(node) >= highest + ln_beam]


def priority(node):
    return node.score + future(node.state)


@given(ARRIVALS, st.just(0) | st.integers(12, 30), st.sampled_from([-math.inf, -3.0, -0.5]))
@settings(max_examples=80)
def test_a_stack_that_is_cut_at_the_end(arrivals, limit, ln_beam):
    assert run(arrivals, limit, ln_beam, capacity=64) == naive(arrivals, limit, ln_beam)


@given(ARRIVALS, st.integers(1, 6), st.sampled_from([-math.inf, -3.0]))
@settings(max_examples=80)
def test_a_stack_that_is_cut_on_the_way(arrivals, limit, ln_beam):
    found, expected = run(arrivals, limit, ln_beam, capacity=2 * limit), naive(arrivals, limit, ln_beam)
    assert [priority(node) for node in found] == [priority(node) for node in expected]
    worst = priority(expected[-1])
    better = [{node.state for node in nodes if priority(node) > worst} for nodes in (found, expected)]
    assert better[0] == better[1]  # those that tie for the last place may have come back after they were dropped
    every = {node.state: set(node.edges) for node in naive(arrivals, 0, -math.inf)}
    for node in found:
        assert set(node.edges) <= every[node.state]
        assert node.edges[0][2] == node.score == max(score for _, _, score in node.edges)


NUMBERS = st.sampled_from([0.0, -1.0, 1e99, math.nan, math.inf, -math.inf, 1e101, -1e308])


@given(st.lists(st.tuples(NUMBERS, STATES), min_size=1, max_size=80), st.integers(0, 3))
def test_what_is_no_score_is_refused(arrivals, limit):
    """For such numbers would leave pruning without an order."""
    is_sound = all(abs(score) <= 1e100 for score, _ in arrivals)
    assert (run(arrivals, limit, -math.inf, capacity=96) == WRONG_SCORE) == (not is_sound)


def test_what_is_full():
    arrivals = [(0, (0, 0, i, 0, 0)) for i in range(5)]
    assert run(arrivals, limit=0, ln_beam=-math.inf, capacity=4) == STACK_FULL
    assert run(arrivals, limit=2, ln_beam=-math.inf, capacity=4, n_edges=4) == STACK_EDGES_FULL
    assert run(arrivals, limit=3, ln_beam=-math.inf, capacity=4) == STACK_FULL
    assert len(run(arrivals, limit=2, ln_beam=-math.inf, capacity=4)) == 2
    small, large = (run(arrivals, limit=2, ln_beam=-math.inf, capacity=capacity) for capacity in (4, 64))
    assert small == large


@pytest.mark.parametrize(("room", "status"), [((4, 256), NODES_FULL), ((64, 4), EDGES_FULL), ((6, 5), OK)])
def test_a_graph_that_is_full(room, status):
    stacks, graph = new_stacks(2, 8, 8), new_graph(3, *room)
    graph.stack_first[1] = 1
    clear_stack(stacks, ROW)
    for i in range(5):
        new = Arrival(0.0, 0.0, np.int64(0), np.uint64(0), np.int64(i), np.int64(0), np.int64(0), 0, i)
        assert arrive(stacks, ROW, new, 0, -math.inf) == OK
    assert close_stack(stacks, ROW, 0, graph, 1) == status
