"""Scores as the decimal probabilities of Moses' tables."""

from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN

LARGEST_LN = 88.0  # its exponential still fits into a float32
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class ScoreTexts(NamedTuple):
    """The texts of P rows of K scores."""

    texts: np.ndarray  # uint32[V, W], characters of V distinct numbers, padded with zeros
    text_of: np.ndarray  # int64[P, K], the index of each score's text

    def rows(self) -> list[list[str]]:
        """The texts of each row."""
        texts = self.texts.view(f"U{self.texts.shape[1]}").ravel().tolist()
        return [[texts[i] for i in row] for row in self.text_of.tolist()]


def probabilities(ln_scores: np.ndarray) -> ScoreTexts:
    """`ln_scores` (float32[P, K]) as decimal probabilities, with enough digits to restore the ln.

    Raises ModelError if one exceeds the largest number that Moses can read.
    """
    values, value_of = _distinct(ln_scores.ravel())  # most values occur many times
    if values.max(initial=0.0) > LARGEST_LN:
        found = f"a score of {values.max():g} in the phrase table or the reordering table"
        raise ModelError(
            f"{found}, expected at most {LARGEST_LN:g}, because Moses stores e to the power of it; {TRAIN_AGAIN}"
        )
    exact = np.exp(values.astype(np.float64))
    texts = exact.astype(np.float32).astype(str)
    with np.errstate(divide="ignore"):
        is_other = np.log(texts.astype(np.float64)).astype(np.float32) != values
    texts[is_other] = exact[is_other].astype(str)
    characters = texts.view(np.uint32).reshape(values.size, texts.itemsize // 4)
    return ScoreTexts(characters, value_of.reshape(ln_scores.shape))


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float32[V], the distinct `values` (float32[n]), and int64[n], the index of each among them.

    As np.unique with its inverse, but much faster: sorts 64-bit numbers, made of value and place.
    """
    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    keys = np.sort(bits << HALF | np.arange(bits.size, dtype=np.uint64))
    bits, value_of = keys >> HALF, np.empty(values.size, np.int64)
    is_first = np.diff(bits, prepend=bits[:1] + np.uint64(1)) != 0
    value_of[(keys & LOW).astype(np.int64)] = np.cumsum(is_first) - 1
    return bits[is_first].astype(np.uint32).view(np.float32), value_of
