"""Keys and names of operations with one word or none: words without alignment, further words of cepts, jumps.

Other operations generate whole cepts, and cannot be derived from the vocabularies.
"""

from collections.abc import Iterator

import numpy as np

from phrasebeam.base.errors import excerpt
from phrasebeam.decoder.operations.steps import (
    BACK,
    CONTINUE,
    FORWARD,
    GAP,
    MOST_GAPS,
    SOURCE_ALONE,
    TARGET_ALONE,
    word_key,
)
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.fixed_vocabulary import ABSENT, FixedVocabulary

JUMP_NAMES = ["gap", "forward", *(f"back:{number}" for number in range(1, MOST_GAPS + 1))]
PREFIXES = {SOURCE_ALONE: "source:", CONTINUE: "continue:", TARGET_ALONE: "target:"}  # of names, before the word
NUMBER = "#"  # appended to a name that another operation has, too


@kernel
def _fill_word_keys(kind, words, keys):
    """Write word_key of `kind` (int64) and each of `words` (int64[V]) to `keys` (int64[V])."""
    for i in range(words.size):
        keys[i] = word_key(kind, words[i])


def word_keys(kind: np.int64, words: np.ndarray) -> np.ndarray:
    """int64[V] keys of the operations of `kind` with one of `words` (int64[V]) each, see word_key."""
    keys = np.empty(words.size, np.int64)
    _fill_word_keys(kind, words, keys)
    return keys


def jump_keys() -> np.ndarray:
    """int64[N_JUMPS] keys of jumps: gap, forward, back to the first gap from the right, to the second, ..."""
    none, gaps = np.zeros(1, np.int64), np.arange(1, MOST_GAPS + 1)
    return np.concatenate([word_keys(GAP, none), word_keys(FORWARD, none), word_keys(BACK, gaps)])


def misnamed(
    keys: np.ndarray, names: FixedVocabulary, source: FixedVocabulary, target: FixedVocabulary
) -> Iterator[tuple[int, str]]:
    """Yield the number of each operation whose name and key do not fit each other, and what was expected instead.

    `keys`: int64[O], ascending, of the operations with these `names`, which consist of words of `source` and `target`.
    """
    for place, key in zip(names.ids(JUMP_NAMES).tolist(), jump_keys().tolist()):
        if place != ABSENT and keys[place] != key:
            yield place, f"{key} in its place of operations/keys.npy"
    expected_keys, expected = [jump_keys()], [*JUMP_NAMES]
    for kind, prefix in PREFIXES.items():
        words = target if kind == TARGET_ALONE else source
        expected_keys.append(word_keys(kind, np.arange(len(words))))
        expected += [f"{prefix}{word}" for word in words.words]
    _, places, numbers = np.intersect1d(keys, np.concatenate(expected_keys), return_indices=True)
    for place, number in zip(places.tolist(), numbers.tolist()):
        name = names.word(place)
        if name != expected[number] and not name.startswith(expected[number] + NUMBER):
            yield place, f"{excerpt(expected[number])}, of which its key is"
