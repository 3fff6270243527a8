"""The operations that generate a phrase pair (Durrani, Schmid & Fraser 2011), without the jumps between its words.

Words connected by the alignment are a cept. In the order of the target words, a step generates a cept at the first of
its source words, and further steps visit its other source words. A target word without alignment is generated alone.
Source words without alignment are generated after their left neighbour, see walk.py.
"""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.sparse.phrase_hashes import SOURCE, TARGET, UNALIGNED, fill_cliques
from phrasebeam.kernels.hashing import START, combine, mix
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel

GENERATE, CONTINUE, SOURCE_ALONE, TARGET_ALONE = map(np.int64, range(4))  # kinds of operations
GAP, FORWARD, BACK = map(np.int64, range(4, 7))
MOST_GAPS = 9  # gaps that jumps back distinguish, counted from the right
NO_POSITION = np.int64(-1)  # for steps without source words
ALIGNED = -1  # replaces the name of a source word that has an alignment
ZERO = np.int64(0)


class OperationSteps(NamedTuple):
    """The steps of a phrase pair with up to W words a side, at most T = 2 W in all; names are keys, see key_of."""

    n: Annotated[np.ndarray, array(np.int64, 1)]  # number of steps
    position: Annotated[np.ndarray, array(np.int32, "T")]  # source position within the pair, or NO_POSITION
    name: Annotated[np.ndarray, array(np.int64, "T")]
    alone: Annotated[np.ndarray, array(np.int64, "W")]  # name of each source word without alignment, otherwise ALIGNED
    cliques: Annotated[np.ndarray, array(np.int64, 2, "W")]  # see fill_cliques


def new_operation_steps(n_words: int) -> OperationSteps:
    """Room for the steps of pairs of up to `n_words` words a side."""
    return allocate(OperationSteps, {"W": n_words, "T": 2 * n_words})


@inlined_kernel
def key_of(h):
    """The key (int64, 1 to 2^62 - 1) of an operation from the hash `h` (uint64) of its kind and words."""
    return np.int64((mix(h) >> np.uint64(2)) | np.uint64(1))


@inlined_kernel
def word_key(kind, word):
    """Key of an operation of `kind` (int64) with one `word` (int64), which for BACK is the number of the gap."""
    return key_of(combine(combine(START, kind), word))


@inner_kernel
def fill_steps(points, source, target, n_target, steps: OperationSteps):
    """Write the steps of the pair of `source` (int32[n]) and target[:n_target] (int32[m], n_target int64) words.

    `points` (int[K, 2]) is its alignment; without any points, all words are one cept.
    """
    n_source, cliques = np.int64(source.size), steps.cliques
    fill_cliques(points, n_source, n_target, cliques)
    if points.shape[0] == 0 and n_target > 0:
        cliques[SOURCE, :n_source], cliques[TARGET, :n_target] = 0, 0
    for i in range(n_source):
        is_alone = cliques[SOURCE, i] == UNALIGNED
        steps.alone[i] = word_key(SOURCE_ALONE, np.int64(source[i])) if is_alone else ALIGNED
    steps.n[0] = 0
    for j in range(n_target):
        clique = cliques[TARGET, j]
        if clique == UNALIGNED:
            _add_step(steps, NO_POSITION, word_key(TARGET_ALONE, np.int64(target[j])))
        elif _is_first(cliques, j):
            _add_step(steps, clique, _cept_key(source, target, n_target, cliques, clique))
            for i in range(clique + 1, n_source):
                if cliques[SOURCE, i] == clique:
                    _add_step(steps, i, word_key(CONTINUE, np.int64(source[i])))


@inlined_kernel
def _add_step(steps, position, name):
    steps.position[steps.n[0]], steps.name[steps.n[0]] = position, name
    steps.n[0] += 1


@inlined_kernel
def _is_first(cliques, j):
    """Whether target word `j` is the first of its clique."""
    for other in range(j):
        if cliques[TARGET, other] == cliques[TARGET, j]:
            return False
    return True


@inlined_kernel
def _cept_key(source, target, n_target, cliques, clique):
    """Key of the operation that generates a cept."""
    h, n_words = combine(START, GENERATE), ZERO
    for i in range(source.size):
        if cliques[SOURCE, i] == clique:
            h = combine(h, np.int64(source[i]))
            n_words += 1
    h = combine(h, n_words)  # so that the key changes if a word moves to the other side
    for j in range(n_target):
        if cliques[TARGET, j] == clique:
            h = combine(h, np.int64(target[j]))
    return key_of(h)
