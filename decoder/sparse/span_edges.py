"""Weighted word edges of the pairs of a span: each pair looks up only the features that the previous one lacked.

Their sum equals that of weigh_fired to the last bit: scores are added in the same order.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import array
from phrasebeam.decoder.sparse.levels import KIND, LENGTH
from phrasebeam.decoder.sparse.phrase_hashes import (
    add_target_parts,
    feature_key,
    fill_source_edges,
    fill_target_edges,
    part_hash,
    source_parts,
)
from phrasebeam.decoder.sparse.sparse_features import Sparse, SparseFeatureBuffer, weigh_fired
from phrasebeam.decoder.sparse.sparse_weights import find_slots, weight_in
from phrasebeam.decoder.sparse.template_kernels import fire_without_edges
from phrasebeam.decoder.sparse.templates import FIRST_EDGES, GROUP_HASHES
from phrasebeam.kernels.jit import inlined_kernel

NO_SPAN = np.int64(-1)


class SpanEdges(NamedTuple):
    """The C combinations of word edges of the previous pair; the next pair of the same span shares many of them."""

    place: Annotated[np.ndarray, array(np.int64, 2, fill=NO_SPAN)]  # begin and end of the span, or NO_SPAN
    source: Annotated[np.ndarray, array(np.uint64, "C")]  # source_parts
    hash: Annotated[np.ndarray, array(np.uint64, "C")]  # combination_hash
    score: Annotated[np.ndarray, array(np.float64, "C")]  # weighted
    changed: Annotated[np.ndarray, array(np.int64, "C")]  # scratch space: combinations whose hash has changed


@inlined_kernel
def forget_span(span: SpanEdges):
    """Reset for another sentence or other weights."""
    span.place[0] = NO_SPAN


@inlined_kernel
def score_rule(sparse: Sparse, scales, sentence, phrase, span: SpanEdges, fired: SparseFeatureBuffer):
    """Weighted sum of the features that fire_rule lists, times the `scales` of their groups (float64[len(GROUPS)]).

    `phrase`: OptionPhrase, of the `sentence` (Sentence).
    """
    pair, words, size, begin, end = phrase
    fired.n[0] = 0
    fire_without_edges(sparse, sentence, pair, words, size, begin, end, fired)
    total, rows = weigh_fired(sparse.weights, scales, fired), sparse.combinations
    if rows.shape[0] == 0:
        return total
    is_first = span.place[0] != begin or span.place[1] != end
    if is_first:
        span.place[0], span.place[1] = begin, end
        fill_source_edges(sentence.classes, begin, end, fired.edges)
        for c in range(rows.shape[0]):
            span.source[c] = source_parts(rows[c], fired.edges, part_hash(LENGTH, end - begin))
    fill_target_edges(sparse, sentence.synthetic, words, size, fired.edges)
    count = _list_changed(rows, is_first, span, fired)
    find_slots(sparse.weights, fired.keys, count, fired.slots)
    for k in range(count):
        c = span.changed[k]
        span.score[c] = scales[FIRST_EDGES + np.int64(rows[c, KIND])] * weight_in(sparse.weights, fired.slots[k])
    for c in range(rows.shape[0]):
        total += span.score[c]
    return total


@inlined_kernel
def _list_changed(rows, is_first, span, fired):
    """List the combinations, `rows` (int8[C, 8]), whose hash differs from the last pair's, or all; return their number.

    The keys of their features are written to fired.keys.
    """
    source, hashes, changed, count = span.source, span.hash, span.changed, np.int64(0)
    keys, edges = fired.keys, fired.edges
    for c in range(rows.shape[0]):
        h = add_target_parts(rows[c], edges, source[c])
        if is_first or h != hashes[c]:
            hashes[c], changed[count] = h, c
            keys[count] = feature_key(h, GROUP_HASHES[FIRST_EDGES + np.int64(rows[c, KIND])])
            count += 1
    return count
