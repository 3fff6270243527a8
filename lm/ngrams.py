"""A language model as lists of n-grams, the form between estimation, ARPA files and hash tables."""

from typing import NamedTuple

import numpy as np

from phrasebeam.lm.text.vocabulary import Vocabulary

MAX_ORDER = 6


class NgramOrder(NamedTuple):
    """All n-grams of one length n."""

    words: np.ndarray  # int32[K, n], oldest word first
    log10_prob: np.ndarray  # float32[K]
    log10_backoff: np.ndarray  # float32[K], zeros for the highest order


class NgramModel(NamedTuple):
    """orders[n - 1] holds the n-grams; the unigrams are aligned with the vocabulary, whose word 0 is <unk>."""

    vocabulary: Vocabulary
    orders: tuple[NgramOrder, ...]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.orders)
