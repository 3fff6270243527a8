"""Word classes, and a binary tree over them (Brown et al. 1992, section 3; Liang 2005, chapter 4).

The likelihood of a text under a class bigram model grows with the average mutual information of neighbouring classes.
Let n(s, t) be how often class t follows class s, n(s) how often s occurs, and h(n) = n log2 n. Then this mutual
information, times the length of the text and up to a constant, is

    sum over s, t of h(n(s, t)) - 2 sum over s of h(n(s)).

So the loss of merging two classes is a sum of terms in h, for the neighbours that both have. Liang's algorithm adds
words from frequent to rare, each as a class of its own. Whenever there are C + 1 classes, it merges the two whose
merging has the smallest loss. Finally the C classes are merged to one, which gives the tree. Everything that is in no
class (ends of sentences, words left out, words not yet added) is one special neighbour; Liang ignores it.

h is rounded to integral units of 2**-20 bits. So losses that are updated by differences are exactly equal to losses
computed anew, and ties are recognised: among equal losses, the classes whose most frequent words are more frequent are
merged.
"""

import math
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.progress import stage
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.lm.text.word_classes import write_paths
from phrasebeam.training.clustering.bigrams import Bigrams, Neighbours

UNITS = np.float64(1 << 20)  # of h per bit
TABULATED = 1 << 16  # size of the table of h
OUTSIDE = np.int64(0)  # slot of everything that is in no class
EMPTY = np.int64(-1)  # root of a slot without a class
NEVER = np.int64(np.iinfo(np.int64).max)  # loss of merging an empty slot
JOINS, LEAVES = np.int64(1), np.int64(-1)
BATCH = 256  # words between two reports of progress
ONLY_CLASS = "0"  # of a text with a single word


class Classes(NamedTuple):
    """Up to C + 1 classes of W words, in slots 1 to C + 1 of K = C + 2; `parent` is a forest with a tree per class."""

    after: Annotated[np.ndarray, array(np.int64, "K", "K")]  # how often slot t follows slot s
    before: Annotated[np.ndarray, array(np.int64, "K", "K")]  # `after` transposed
    totals: Annotated[np.ndarray, array(np.int64, "K")]  # how often words of the class occur
    # Loss of merging the classes in slots s < t, in units of h; NEVER if one of the slots is empty
    loss: Annotated[np.ndarray, array(np.int64, "K", "K", fill=NEVER)]
    root: Annotated[np.ndarray, array(np.int64, "K", fill=EMPTY)]  # most frequent word of the class, or EMPTY
    # A more frequent word of the same class; the most frequent word is its own parent
    parent: Annotated[np.ndarray, array(np.int32, "W")]
    slot: Annotated[np.ndarray, array(np.int32, "W")]  # slot of the class; valid only for its root
    h: Annotated[np.ndarray, array(np.int64, TABULATED)]
    # Roots of the two classes of each merge in order, the more frequent root first
    merges: Annotated[np.ndarray, array(np.int32, "M", 2)]


@inlined_kernel
def _h(table, n):
    """h(n) = n log2 n in units (int64), for n >= 0 (int64); `table` int64[TABULATED]."""
    if n < TABULATED:
        return table[n]
    return np.int64(math.floor(UNITS * n * math.log2(n) + 0.5))


@kernel
def _tabulate(table):
    """Fill `table` with h of its indices."""
    table[0] = 0
    for n in range(1, table.size):
        table[n] = np.int64(math.floor(UNITS * n * math.log2(n) + 0.5))


@inlined_kernel
def _pooling_loss(table, x, y):
    """h(x) + h(y) - h(x + y), the loss of adding up the counts `x` and `y`."""
    if x == 0 or y == 0:
        return np.int64(0)
    return _h(table, x) + _h(table, y) - _h(table, x + y)


@kernel
def _loss(table, after, before, totals, s, t):
    """Loss of merging the classes in slots `s` and `t`, computed anew from all their counts."""
    loss = np.int64(0)
    for u in range(totals.size):
        if u not in (s, t):
            loss += _pooling_loss(table, after[s, u], after[t, u]) + _pooling_loss(table, before[s, u], before[t, u])
    loss += _h(table, after[s, s]) + _h(table, after[s, t]) + _h(table, after[t, s]) + _h(table, after[t, t])
    loss -= _h(table, after[s, s] + after[s, t] + after[t, s] + after[t, t])
    return loss - 2 * _pooling_loss(table, totals[s], totals[t])


@kernel
def _fill_losses(classes: Classes, s):
    """Compute the losses of merging the class in slot `s` with each other class."""
    for t in range(1, classes.totals.size):
        if t != s and classes.root[t] != EMPTY:
            loss = _loss(classes.h, classes.after, classes.before, classes.totals, s, t)
            classes.loss[min(s, t), max(s, t)] = loss


@kernel
def _update_losses(classes: Classes, to_slot, to_other, slot, other, sign):
    """Update the losses of all other pairs of classes after the class in `other` JOINS or LEAVES the class in `slot`.

    to_slot, to_other: int64[K], how often each class is next to these two classes on one side, while they are separate.
    """
    table, loss, root = classes.h, classes.loss, classes.root
    for s in range(1, root.size):
        if to_other[s] == 0 or s in (slot, other) or root[s] == EMPTY:
            continue
        for t in range(1, root.size):
            if t in (s, slot, other) or root[t] == EMPTY or (t < s and to_other[t] != 0):
                continue
            change = _pooling_loss(table, to_slot[s] + to_other[s], to_slot[t] + to_other[t])
            change -= _pooling_loss(table, to_slot[s], to_slot[t]) + _pooling_loss(table, to_other[s], to_other[t])
            loss[min(s, t), max(s, t)] += sign * change


@kernel
def _root(parent, word):
    """Most frequent word of the class of `word`; shortens the path to it in `parent`."""
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = np.int64(parent[word])
    return word


@kernel
def _add_neighbours(classes: Classes, word, slot, neighbours: Neighbours, row, column):
    """Add the neighbours of `word` on one side to the counts of its class in `slot`; words not yet added are OUTSIDE.

    row, column: `classes.after` and `classes.before`, or the other way round.
    """
    outside = classes.totals[slot]
    for i in range(neighbours.offsets[word], neighbours.offsets[word + 1]):
        other = np.int64(neighbours.words[i])
        if other <= word:
            s = slot if other == word else np.int64(classes.slot[_root(classes.parent, other)])
            row[slot, s] += neighbours.counts[i]
            outside -= neighbours.counts[i]
    for s in range(1, classes.totals.size):
        if s != slot:
            column[s, slot] = row[slot, s]
            column[s, OUTSIDE] -= row[slot, s]
            row[OUTSIDE, s] -= row[slot, s]
    row[slot, OUTSIDE] = outside
    column[OUTSIDE, slot] = outside


@kernel
def _add_word(classes: Classes, counts, after: Neighbours, before: Neighbours, word, slot):
    """Add the next `word` as a class in the empty `slot`."""
    classes.totals[slot] = counts[word]
    classes.root[slot], classes.slot[word], classes.parent[word] = word, slot, word
    _add_neighbours(classes, word, slot, after, classes.after, classes.before)
    _add_neighbours(classes, word, slot, before, classes.before, classes.after)
    for side in (classes.before, classes.after):
        _update_losses(classes, side[OUTSIDE], side[slot], OUTSIDE, slot, LEAVES)
    _fill_losses(classes, slot)


@kernel
def _merge(classes: Classes, s, t):
    """Merge the class in slot `t` into that in slot `s`, and empty slot `t`."""
    for side in (classes.before, classes.after):
        _update_losses(classes, side[s], side[t], s, t, JOINS)
    n = classes.totals.size
    for counts in (classes.after, classes.before):
        for u in range(n):
            counts[s, u] += counts[t, u]
            counts[t, u] = 0
        for u in range(n):
            counts[u, s] += counts[u, t]
            counts[u, t] = 0
    for u in range(1, n):
        classes.loss[min(t, u), max(t, u)] = NEVER
    classes.totals[s] += classes.totals[t]
    classes.totals[t] = 0
    classes.parent[classes.root[t]] = classes.root[s]
    classes.root[t] = EMPTY
    _fill_losses(classes, s)


@kernel
def _best_pair(loss, root):
    """Slots (int64) of the two classes whose merging loses least; first the slot with the more frequent root."""
    least, best, second = NEVER, EMPTY, EMPTY
    for s in range(1, root.size):
        for t in range(s + 1, root.size):
            if loss[s, t] > least or loss[s, t] == NEVER:
                continue
            low, high = (np.int64(s), np.int64(t)) if root[s] < root[t] else (np.int64(t), np.int64(s))
            is_tie = loss[s, t] == least
            if is_tie and (root[low] > root[best] or (low == best and root[high] > root[second])):
                continue
            least, best, second = loss[s, t], low, high
    return best, second


@kernel
def _merge_best(classes: Classes, number):
    """Merge the two classes whose merging loses least, as merge `number` (int64). Returns the slot that it empties."""
    s, t = _best_pair(classes.loss, classes.root)
    classes.merges[number, 0], classes.merges[number, 1] = classes.root[s], classes.root[t]
    _merge(classes, s, t)
    return t


@kernel
def _add_words(classes: Classes, counts, after: Neighbours, before: Neighbours, begin, end, free):
    """Add words begin:end, the first in slot `free`; merge whenever C + 1 slots are in use. Returns an empty slot."""
    n_classes = classes.totals.size - 2
    for word in range(begin, end):
        _add_word(classes, counts, after, before, np.int64(word), free)
        free = np.int64(word + 2) if word < n_classes else _merge_best(classes, np.int64(word - n_classes))
    return free


@kernel
def _make_tree(classes: Classes):
    """Merge all C classes to one."""
    n_merges = classes.merges.shape[0]
    for number in range(n_merges - (classes.totals.size - 3), n_merges):
        _merge_best(classes, np.int64(number))


@kernel
def _roots(parent, roots):
    """Fill `roots` (int32[W]) with the most frequent word of each word's class."""
    for word in range(parent.size):
        roots[word] = _root(parent, np.int64(word))


def cluster(bigrams: Bigrams, n_classes: int) -> list[str]:
    """Bit string of each word: the path in the tree to its class. There are `n_classes` classes (2 to W).

    Time grows with W * n_classes**2. Raises ValueError for another number of classes.
    """
    roots, merges = merge_words(bigrams, n_classes)
    bits = _bit_strings(merges[len(merges) - n_classes + 1 :].tolist())
    return [bits[root] for root in roots.tolist()]


def merge_words(bigrams: Bigrams, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """The root (most frequent word) of each word's class (int32[W]), and all merges in order (int32[W - 1, 2]).

    A merge is the roots of two classes, the more frequent one first. The last n_classes - 1 merges make the tree over
    the classes.
    """
    n_words = len(bigrams.words)
    if not 2 <= n_classes <= n_words:
        raise ValueError(f"{n_classes} classes of {n_words} words")
    classes, free = _new_classes(n_words, n_classes), 1
    with stage(f"clustering {n_words} words into {n_classes} classes", n_words, "words") as advance:
        for begin in range(0, n_words, BATCH):
            end = min(begin + BATCH, n_words)
            free = _add_words(classes, *bigrams[1:], begin, end, free)
            advance(end - begin)
        roots = np.empty(n_words, np.int32)
        _roots(classes.parent, roots)
        _make_tree(classes)
    return roots, classes.merges


def _new_classes(n_words: int, n_classes: int) -> Classes:
    """Slots for `n_classes` + 1 classes, all empty."""
    classes = allocate(Classes, {"K": n_classes + 2, "W": n_words, "M": n_words - 1})
    _tabulate(classes.h)
    return classes


def _bit_strings(merges: list[list[int]]) -> dict[int, str]:
    """Bit string from the top of the tree to each class, by root; 0 leads to the class with the more frequent root."""
    bits = {merges[-1][0]: ""}
    for first, second in reversed(merges):
        bits[first], bits[second] = bits[first] + "0", bits[first] + "1"
    return bits


def write_classes(path: Path, bigrams: Bigrams, n_classes: int) -> None:
    """Write the classes of all words; there are `n_classes` classes (2 or more), but no more than words."""
    n_classes = min(n_classes, len(bigrams.words))
    bits = cluster(bigrams, n_classes) if n_classes > 1 else [ONLY_CLASS] * n_classes
    write_paths(path, zip(bits, bigrams.words, bigrams.counts.tolist()))
