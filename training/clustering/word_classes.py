"""Classes of words, and a binary tree over them (Brown et al. 1992, section 3; Liang 2005, chapter 4).

A class bigram model likes a text the better, the greater the average mutual information of neighbouring classes is.
With n(s, t) how often class t follows class s, n(s) how often s occurs, and h(n) = n log2 n, it is, times the length of
the text and but for a constant,

    sum over s, t of h(n(s, t)) - 2 sum over s of h(n(s)).

So what merging two classes loses is made of h alone, where both have neighbours in common. Liang's window: words come
in from frequent to rare, each as a class of its own, and of C + 1 classes the two that lose least are merged. At last
the C classes are merged to one, which makes the tree. What is no class (the ends of sentences, words left out, words
still to come) is one neighbour of all; Liang leaves it out.

h is rounded to whole units of 2**-20 bits. So losses can be kept up to date by differences and are nonetheless exactly
those computed anew, and equal losses are seen to be equal: then those classes are merged whose most frequent words are
the more frequent.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.base.progress import stage
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.training.clustering.bigrams import Bigrams

UNITS = np.float64(1 << 20)  # of h in a bit
TABULATED = 1 << 16  # numbers whose h is looked up
OUTSIDE = np.int64(0)  # slot of what is no class
EMPTY = np.int64(-1)
NEVER = np.int64(np.iinfo(np.int64).max)
JOINS, LEAVES = np.int64(1), np.int64(-1)
BATCH = 256  # words between two signs of progress


class Classes(NamedTuple):
    """C + 1 classes of W words in slots 1 ... of K = C + 2; words of a class are a tree under its most frequent one."""

    after: Annotated[np.ndarray, array(np.int64, "K", "K")]  # how often slot t follows slot s
    before: Annotated[np.ndarray, array(np.int64, "K", "K")]  # the same transposed
    totals: Annotated[np.ndarray, array(np.int64, "K")]  # how often the words of the slot occur
    # Of merging s < t, in units of h; NEVER where one is empty
    loss: Annotated[np.ndarray, array(np.int64, "K", "K", fill=NEVER)]
    root: Annotated[np.ndarray, array(np.int64, "K", fill=EMPTY)]  # most frequent word in the slot, or EMPTY
    # A more frequent word of the same class; of the most frequent one itself
    parent: Annotated[np.ndarray, array(np.int32, "W")]
    slot: Annotated[np.ndarray, array(np.int32, "W")]  # of roots
    h: Annotated[np.ndarray, array(np.int64, TABULATED)]
    # Roots of the classes merged, the more frequent first, one by one
    merges: Annotated[np.ndarray, array(np.int32, "M", 2)]


@inlined_kernel
def _h(table, n):
    if n < TABULATED:
        return table[n]
    return np.int64(math.floor(UNITS * n * math.log2(n) + 0.5))


@kernel
def _tabulate(table):
    table[0] = 0
    for n in range(1, table.size):
        table[n] = np.int64(math.floor(UNITS * n * math.log2(n) + 0.5))


@inlined_kernel
def _lost(table, x, y):
    """What adding up counts `x` and `y` loses."""
    if x == 0 or y == 0:
        return np.int64(0)
    return _h(table, x) + _h(table, y) - _h(table, x + y)


@kernel
def _loss(table, after, before, totals, s, t):
    """Of merging the classes in slots `s` and `t`, from their counts."""
    loss = np.int64(0)
    for u in range(totals.size):
        if u not in (s, t):
            loss += _lost(table, after[s, u], after[t, u]) + _lost(table, before[s, u], before[t, u])
    loss += _h(table, after[s, s]) + _h(table, after[s, t]) + _h(table, after[t, s]) + _h(table, after[t, t])
    loss -= _h(table, after[s, s] + after[s, t] + after[t, s] + after[t, t])
    return loss - 2 * _lost(table, totals[s], totals[t])


@kernel
def _fill_losses(classes, s):
    """Losses of merging slot `s` with each other."""
    for t in range(1, classes.totals.size):
        if t != s and classes.root[t] != EMPTY:
            loss = _loss(classes.h, classes.after, classes.before, classes.totals, s, t)
            classes.loss[min(s, t), max(s, t)] = loss


@kernel
def _join(classes, to_kept, to_other, kept, other, sign):
    """Bring the losses of others up to date: slot `other` JOINS slot `kept`, or LEAVES it.

    to_kept, to_other: int64[K] how often each slot neighbours these two, on one side, while they are apart.
    """
    table, loss, root = classes.h, classes.loss, classes.root
    for s in range(1, root.size):
        if to_other[s] == 0 or s in (kept, other) or root[s] == EMPTY:
            continue
        for t in range(1, root.size):
            if t in (s, kept, other) or root[t] == EMPTY or (t < s and to_other[t] != 0):
                continue
            change = _lost(table, to_kept[s] + to_other[s], to_kept[t] + to_other[t])
            change -= _lost(table, to_kept[s], to_kept[t]) + _lost(table, to_other[s], to_other[t])
            loss[min(s, t), max(s, t)] += sign * change


@kernel
def _root(parent, word):
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = np.int64(parent[word])
    return word


@kernel
def _add_neighbours(classes, word, slot, neighbours, row, column):
    """Enter those of `word` on one side into its row and the others' column; words to come are OUTSIDE."""
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
def _add_word(classes, counts, after, before, word, slot):
    """Make a class of `word`, the next one, in the empty `slot`."""
    classes.totals[slot] = counts[word]
    classes.root[slot], classes.slot[word], classes.parent[word] = word, slot, word
    _add_neighbours(classes, word, slot, after, classes.after, classes.before)
    _add_neighbours(classes, word, slot, before, classes.before, classes.after)
    for side in (classes.before, classes.after):
        _join(classes, side[OUTSIDE], side[slot], OUTSIDE, slot, LEAVES)
    _fill_losses(classes, slot)


@kernel
def _merge(classes, s, t):
    """Put the class in slot `t` to that in slot `s`, and leave `t` empty."""
    for side in (classes.before, classes.after):
        _join(classes, side[s], side[t], s, t, JOINS)
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
    """Slots of the two classes that lose least, that of the more frequent word first."""
    least, best, second = NEVER, EMPTY, EMPTY
    for s in range(1, root.size):
        for t in range(s + 1, root.size):
            if loss[s, t] > least or loss[s, t] == NEVER:
                continue
            low, high = (np.int64(s), np.int64(t)) if root[s] < root[t] else (np.int64(t), np.int64(s))
            ties = loss[s, t] == least
            if ties and (root[low] > root[best] or (low == best and root[high] > root[second])):
                continue
            least, best, second = loss[s, t], low, high
    return best, second


@kernel
def _merge_best(classes, number):
    """Merge the two classes that lose least, as merge `number` of all. Returns the slot that is empty then."""
    s, t = _best_pair(classes.loss, classes.root)
    classes.merges[number, 0], classes.merges[number, 1] = classes.root[s], classes.root[t]
    _merge(classes, s, t)
    return t


@kernel
def _add_words(classes, counts, after, before, begin, end, free):
    """Let words `begin` ... `end` - 1 in, merging where the window is full. Returns the slot that is empty then."""
    n_classes = classes.totals.size - 2
    for word in range(begin, end):
        _add_word(classes, counts, after, before, np.int64(word), free)
        free = np.int64(word + 2) if word < n_classes else _merge_best(classes, np.int64(word - n_classes))
    return free


@kernel
def _make_tree(classes):
    """Merge all classes to one."""
    n_merges = classes.merges.shape[0]
    for number in range(n_merges - (classes.totals.size - 3), n_merges):
        _merge_best(classes, np.int64(number))


@kernel
def _roots(parent, roots):
    for word in range(parent.size):
        roots[word] = _root(parent, np.int64(word))


def cluster(bigrams: Bigrams, n_classes: int) -> list[str]:
    """Bit string of each word: where its class, one of `n_classes` (2 to W), stands in the tree.

    Takes time that grows with words times the square of classes.
    """
    roots, merges = merge_words(bigrams, n_classes)
    bits = _bit_strings(merges[len(merges) - n_classes + 1 :].tolist())
    return [bits[root] for root in roots.tolist()]


def merge_words(bigrams: Bigrams, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """The most frequent word of each word's class, int32[W], and all merges, the last of them of these classes.

    A merge, of int32["M", 2], is two classes by their most frequent words, the more frequent first.
    """
    n_words = len(bigrams.words)
    if not 2 <= n_classes <= n_words:
        raise ValueError(f"{n_classes} classes of {n_words} words")
    classes, free = _new_classes(n_words, n_classes), 1
    with stage(f"clustering {n_words} words into {n_classes} classes", n_words) as advance:
        for begin in range(0, n_words, BATCH):
            end = min(begin + BATCH, n_words)
            free = _add_words(classes, *bigrams[1:], begin, end, free)
            advance(end - begin)
        roots = np.empty(n_words, np.int32)
        _roots(classes.parent, roots)
        _make_tree(classes)
    return roots, classes.merges


def _new_classes(n_words: int, n_classes: int) -> Classes:
    classes = allocate(Classes, {"K": n_classes + 2, "W": n_words, "M": n_words - 1})
    _tabulate(classes.h)
    return classes


def _bit_strings(merges: list[list[int]]) -> dict[int, str]:
    """Path from the top of the tree to each class, by its root; 0 leads to the class of the more frequent word."""
    bits = {merges[-1][0]: ""}
    for first, second in reversed(merges):
        bits[first], bits[second] = bits[first] + "0", bits[first] + "1"
    return bits
