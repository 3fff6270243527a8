"""Hashes of texts: words, classes of words, and names of features."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.kernels.hashing import mix, murmur
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.encoded_words import Words, encode


def hash_texts(texts: Sequence[str]) -> np.ndarray:
    """uint64[N] hashes of N texts."""
    hashes = np.empty(len(texts), np.uint64)
    _hash_words(encode(texts), hashes)
    return hashes


@kernel
def _hash_words(words: Words, hashes: np.ndarray) -> None:
    for i in range(hashes.size):
        hashes[i] = mix(murmur(words.data, words.offsets[i], words.offsets[i + 1]))


def name_keys(names: Sequence[str]) -> np.ndarray:
    """uint64[N] keys of the features of single phrase pairs that have these `names`."""
    return hash_texts(names) | np.uint64(1)
