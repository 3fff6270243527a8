"""Target strings as numbers, equal where all words are: a trie whose children stand in a hash table."""

from typing import NamedTuple

import numpy as np

from decoder.options import Options
from lm.hashing import START, combine, mix
from lm.jit import kernel

EMPTY_STRING = np.int64(0)
NO_STRING = np.int64(-1)
EMPTY = -1


class Strings(NamedTuple):
    """Up to S strings over the words of one sentence's options; where they `matter` not, all are the empty one."""

    matter: bool
    target: np.ndarray  # int32[O], as `target_first` and `words` of Options
    target_first: np.ndarray  # int64[D + 1]
    words: np.ndarray  # int32[W]
    n_strings: np.ndarray  # int64[1]
    parent: np.ndarray  # int32[S], the string without its last word
    word: np.ndarray  # int32[S], the last word
    slots: np.ndarray  # int32[T], hash table by parent and word, T a power of two >= 2 S


def new_strings(options: Options, matter: bool, capacity: int) -> Strings:
    """Room for `capacity` strings (a power of two), if they matter."""
    capacity = capacity if matter else 1
    return Strings(
        matter,
        options.target,
        options.target_first,
        options.words,
        np.ones(1, np.int64),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.full(2 * capacity, EMPTY, np.int32),
    )


@kernel
def append_option(strings, string, option):
    """The `string` followed by the target words of an option; NO_STRING if there is no room."""
    if not strings.matter:
        return EMPTY_STRING
    target = strings.target[option]
    for place in range(strings.target_first[target], strings.target_first[target + 1]):
        string = _append_word(strings, string, np.int64(strings.words[place]))
        if string == NO_STRING:
            break
    return string


@kernel
def _append_word(strings, string, word):
    mask = np.int64(strings.slots.size - 1)
    slot = np.int64(mix(combine(combine(START, string), word)) & np.uint64(mask))
    while strings.slots[slot] != EMPTY:
        child = np.int64(strings.slots[slot])
        if strings.parent[child] == string and strings.word[child] == word:
            return child
        slot = (slot + 1) & mask
    child = strings.n_strings[0]
    if child == strings.parent.size:
        return NO_STRING
    strings.n_strings[0] += 1
    strings.parent[child], strings.word[child], strings.slots[slot] = string, word, child
    return child
