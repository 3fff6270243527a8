"""All that a search could try: for each hypothesis that it kept, the spans that the next phrase may cover."""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.input.coverage import cover
from phrasebeam.decoder.options.future_cost import future_cost
from phrasebeam.decoder.search.extension import SearchSpace, find_spans, jump
from phrasebeam.kernels.jit import kernel

FULL = np.int64(-1)
FIRST_ROOM = 1 << 14  # extensions


class Extensions(NamedTuple):
    """X pairs of a node and a span, by node; and the future costs of N nodes."""

    node: Annotated[np.ndarray, array(np.int32, "X", fill=None)]
    covered: Annotated[np.ndarray, array(np.int32, "X", fill=None)]  # words, with those of the span
    span: Annotated[np.ndarray, array(np.int64, "X", fill=None)]  # index in Options.first
    base: Annotated[np.ndarray, array(np.float64, "X", fill=None)]  # score of the node and of the jump to the span
    orientation: Annotated[np.ndarray, array(np.int64, "X", fill=None)]  # index in Options.backward
    remaining: Annotated[np.ndarray, array(np.float64, "X", fill=None)]  # future cost behind the span
    node_remaining: Annotated[np.ndarray, array(np.float64, "N", fill=None)]


@kernel
def fill_extensions(space: SearchSpace, n_words: int, extensions: Extensions):
    """List what the nodes of a searched graph can be extended by; the number (int64), or FULL."""
    graph, options, count = space.graph, space.options, np.int64(0)
    for covered in range(n_words + 1):
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            gap, window = np.int64(graph.first_gap[node]), graph.window[node]
            extensions.node_remaining[node] = future_cost(space.future, gap, window)
            n_spans = find_spans(space, n_words, node) if covered < n_words else np.int64(0)
            if count + n_spans > extensions.node.size:
                return FULL
            for i in range(n_spans):
                first = options.first[space.spans[i]]
                begin, end = np.int64(options.begin[first]), np.int64(options.end[first])
                first_gap, behind = cover(gap, window, begin, end)
                base, orientation = jump(space, node, begin, end)
                extensions.node[count], extensions.covered[count] = node, covered + end - begin
                extensions.span[count], extensions.base[count] = space.spans[i], base
                extensions.orientation[count] = orientation
                extensions.remaining[count] = future_cost(space.future, first_gap, behind)
                count += 1
    return count


def all_extensions(space: SearchSpace, n_words: int) -> Extensions:
    """The extensions of all nodes in the graph that the search of a sentence of `n_words` words left behind."""
    room, n_nodes = FIRST_ROOM, int(space.graph.stack_first[n_words + 1])
    while True:
        extensions = allocate(Extensions, {"X": room, "N": n_nodes})
        count = fill_extensions(space, n_words, extensions)
        if count != FULL:
            names = [name for name in Extensions._fields if name != "node_remaining"]
            return extensions._replace(**{name: getattr(extensions, name)[:count] for name in names})
        room *= 2
