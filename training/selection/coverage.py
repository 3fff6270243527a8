"""How many of the in-domain n-grams occur in a selection of sentences."""

from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import kernel
from phrasebeam.training.selection.config import Budget
from phrasebeam.training.selection.domain_ngrams import SentenceNgrams


class NgramCoverage(NamedTuple):
    """The size of a selection, and the share of the distinct in-domain n-grams that occur in it."""

    n_sentences: int
    n_words: int  # of the source
    shares: list[float]  # of the n-grams of 1, 2, ... words


@kernel
def _mark(sentences: SentenceNgrams, chosen, is_covered):
    """Mark the n-grams of the `chosen` sentences (int64[K]) in `is_covered` (bool[F])."""
    for k in range(chosen.size):
        for i in range(sentences.offsets[chosen[k]], sentences.offsets[chosen[k] + 1]):
            is_covered[sentences.ngrams[i]] = True


def coverage(chosen: np.ndarray, sentences: SentenceNgrams, lengths: np.ndarray) -> NgramCoverage:
    """The coverage of the `chosen` sentences (int64[K]); `lengths` int64[F] of the in-domain n-grams, in words."""
    is_covered = np.zeros(lengths.size, bool)
    _mark(sentences, chosen, is_covered)
    shares = np.bincount(lengths, is_covered)[1:] / np.bincount(lengths)[1:]
    return NgramCoverage(chosen.size, int(sentences.n_words[chosen].sum(dtype=np.int64)), shares.tolist())


def random_sentences(sentences: SentenceNgrams, budget: Budget, seed: int) -> np.ndarray:
    """int64[K] sentences with words, drawn at random until the budget is used."""
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(sentences.n_words))
    n_words = np.cumsum(sentences.n_words[shuffled], dtype=np.int64)
    return shuffled[: min(budget.sentences, int(np.searchsorted(n_words, budget.words)) + 1)]
