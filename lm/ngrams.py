"""A language model as arrays of n-grams, the exchange format of estimation, ARPA files and hash tables."""

from typing import NamedTuple

import numpy as np

from phrasebeam.lm.text.vocabulary import Vocabulary

MAX_ORDER = 8  # words of the longest n-grams that are supported; KenLM by default reads up to 6


class NgramOrder(NamedTuple):
    """All n-grams of one length n."""

    words: np.ndarray  # int32[K, n], word ids from left to right
    log10_prob: np.ndarray  # float32[K]
    log10_backoff: np.ndarray  # float32[K], zeros for the highest order


class NgramModel(NamedTuple):
    """An n-gram model with backoff."""

    vocabulary: Vocabulary  # word 0 is <unk>
    orders: tuple[NgramOrder, ...]  # [n - 1]: the n-grams; unigram i is word i of the vocabulary

    @property
    def order(self) -> int:
        return len(self.orders)
