"""Numbers for sequences of words: equal sequences have equal numbers. A trie whose children are in a hash table."""

from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.kernels.hashing import EMPTY, START, combine, first_slot, mix, next_slot
from phrasebeam.kernels.jit import kernel

ROOT = np.int64(0)  # the empty sequence
NO_ROOM = np.int64(-1)


class Trie(NamedTuple):
    """Up to S nodes, each of which stands for a sequence of words."""

    n_nodes: Annotated[np.ndarray, array(np.int64, 1, fill=1)]
    parent: Annotated[np.ndarray, array(np.int32, "S")]  # the sequence without its last word
    word: Annotated[np.ndarray, array(np.int32, "S")]  # the last word
    # Hash table by parent and word, T a power of two >= 2 S
    slots: Annotated[np.ndarray, array(np.int32, "T", fill=EMPTY)]


def new_trie(capacity: int) -> Trie:
    """A trie with room for `capacity` sequences, the empty one included."""
    slots = 2
    while slots < 2 * capacity:
        slots *= 2
    return allocate(Trie, {"S": capacity, "T": slots})


@kernel
def child(trie: Trie, node, word):
    """The node of the sequence `node` followed by `word` (int64), added if it is new; NO_ROOM if the trie is full."""
    slot = first_slot(mix(combine(combine(START, node), word)), trie.slots.size)
    while trie.slots[slot] != EMPTY:
        child_node = np.int64(trie.slots[slot])
        if trie.parent[child_node] == node and trie.word[child_node] == word:
            return child_node
        slot = next_slot(slot, trie.slots.size)
    child_node = trie.n_nodes[0]
    if child_node == trie.parent.size:
        return NO_ROOM
    trie.n_nodes[0] += 1
    trie.parent[child_node], trie.word[child_node], trie.slots[slot] = node, word, child_node
    return child_node
