"""The paths of a lattice as kernels see them: each is a source phrase in tables of the sentence's own.

In a text, a phrase over the positions begin:end translates the words begin:end. In a lattice it translates the words of
one of the paths between the nodes; the pair tells which.
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.input.synthetic_pairs import synthetic_number
from phrasebeam.decoder.input.word_lattice import NO_DISTANCES
from phrasebeam.kernels.jit import inlined_kernel


class SourcePaths(NamedTuple):
    """Q paths of S spans, with I scores, of P pairs in the sentence's tables and K synthetic ones; all empty for text.

    Path q is source phrase q of the tables.
    """

    of_span: np.ndarray  # int64[S + 1], paths of the span with index s are of_span[s]:of_span[s + 1]
    of_pair: np.ndarray  # int64[P], path of each pair
    of_synthetic: np.ndarray  # int64[K], path of each synthetic pair
    first: np.ndarray  # int64[Q], first word of each path in Sentence.classes, where its words stand together
    end: np.ndarray  # int64[Q], half open
    ln_scores: np.ndarray  # float64[Q, I], sums over the arcs
    distances: np.ndarray  # int32[n + 1, n + 1], see WordLattice.distances


_NONE = np.zeros(0, np.int64)
NO_PATHS = SourcePaths(_NONE, _NONE, _NONE, _NONE, _NONE, np.zeros((0, 0)), NO_DISTANCES)


@inlined_kernel
def path_of(paths: SourcePaths, pair):
    """The path (int64) that `pair` (int64, negative if synthetic) translates; there must be paths."""
    if pair < 0:
        return paths.of_synthetic[synthetic_number(pair)]
    return paths.of_pair[pair]


@inlined_kernel
def source_words(paths: SourcePaths, pair, begin, end):
    """(begin, end) of the source words in Sentence.classes that `pair` translates over the positions begin:end."""
    if paths.of_span.size == 0:
        return np.int64(begin), np.int64(end)
    path = path_of(paths, pair)
    return paths.first[path], paths.end[path]


@inlined_kernel
def weighted_input(paths: SourcePaths, weights, pair):
    """The scores of the path of `pair` (int64) times `weights` (float64[I]); 0 for text."""
    total = 0.0
    if paths.of_span.size > 0:
        path = path_of(paths, pair)
        for i in range(weights.size):
            total += weights[i] * paths.ln_scores[path, i]
    return total


@inlined_kernel
def add_input_scores(paths: SourcePaths, pair, place, features):
    """Add the scores of the path of `pair` (int64) to `features` (float64[F]) from `place` on; none for text."""
    if paths.of_span.size > 0:
        path = path_of(paths, pair)
        for i in range(paths.ln_scores.shape[1]):
            features[place + i] += paths.ln_scores[path, i]
