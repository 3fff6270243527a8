"""Stack decoding with coverage vectors (Koehn et al. 2003): every hypothesis is extended by every phrase that fits."""

import numpy as np

from phrasebeam.decoder.features.reordering import MONOTONE
from phrasebeam.decoder.features.stateful import fetch_scores
from phrasebeam.decoder.search.extension import SearchSpace, extend, extension, find_spans, start_search
from phrasebeam.decoder.search.stacks import OK, STOPPED, close_stack
from phrasebeam.kernels.jit import inlined_kernel, kernel

NEVER = np.int64(-1)  # the words are not the whole sentence


@kernel
def search(space: SearchSpace, n_words, n_whole):
    """Fill space.graph with the search of the first `n_words` words of a sentence.

    Returns OK, STOPPED or what is full. </s> follows after `n_whole` words (int64); if that is NEVER, it does not
    follow.
    """
    graph, stacks = space.graph, space.stacks
    start_search(space)
    for covered in range(n_words):
        for node in range(graph.stack_first[covered], graph.stack_first[covered + 1]):
            if space.stop[0] != 0:
                return STOPPED
            for i in range(find_spans(space, n_words, node)):
                status = _extend_over(space, n_whole, covered, node, space.spans[i])
                if status != OK:
                    return status
        row = (covered + 1) % stacks.n_edges.size
        status = close_stack(stacks, row, space.parameters.stack, graph, covered + 1)
        if status != OK:
            return status
    return OK


@inlined_kernel
def _extend_over(space, n_words, covered, node, span_index):
    """Extend `node` by the options of one span, from options.first[span_index] on. Returns OK or what is full."""
    first, end = space.options.first[span_index], space.options.first[span_index + 1]
    shared = extension(space, covered, node, first)
    if space.parameters.keeps_histories and not space.parameters.histories_lower:
        fetch_scores(space, np.int64(space.graph.history[node]), first, end, shared.orientation == MONOTONE)
    for option in range(first, end):
        status = extend(space, n_words, shared, option)
        if status != OK:
            return status
    return OK
