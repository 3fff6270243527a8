"""Smoothed p(f|e) and p(e|f) of phrase pairs from their counts (Foster, Kuhn and Johnson 2006, section 3).

Kneser-Ney with three discounts; its lower-order distribution is the share of all phrase pairs that contain a phrase:
p(f|e) = (c(f,e) - D(c(f,e)) + sum of D over the pairs of e * pairs of f / pairs) / c(e).
Good-Turing as in `score --GoodTuring` of Moses: (c - D(c)) / c(e); the rest is left to unseen events.
"""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from phrasebeam.base.config import MOST_COUNTED, Section
from phrasebeam.decoder.tables.model_files import PAIR_TYPES, TYPES, open_arrays
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import inlined_kernel

Method = Literal["good-turing", "kneser-ney"]


class ScoreSmoothing(Section):
    """How the probabilities of a phrase table were smoothed, in model.yaml."""

    method: Method
    discounts: list[float] = Field(min_length=2, max_length=100)  # for counts 0, 1, ...; the last for all above
    phrase_pairs: int = Field(ge=1, le=MOST_COUNTED)

    @model_validator(mode="after")
    def _has_a_discount_for_each_type(self) -> "ScoreSmoothing":
        if self.method == "kneser-ney" and len(self.discounts) != TYPES + 1:
            raise ValueError(f"{len(self.discounts)} discounts, expected {TYPES + 1} for kneser-ney")
        return self


class Discounting(NamedTuple):
    """Discounts for computing the scores of a table of P phrase pairs from its counts."""

    discounts: np.ndarray  # float64[B], for counts 0, 1, ..., B - 1 or more; [0]: relative frequencies
    target_types: np.ndarray  # int32[P, TYPES], pairs of each pair's target phrase by count; no rows: Good-Turing
    n_pairs: float


NO_DISCOUNTING = Discounting(np.zeros(1), np.zeros((0, TYPES), np.int32), 1.0)


@inlined_kernel
def discount_of(discounting: Discounting, count):
    """The discount (float64) of a count (int64), which is negative in damaged tables."""
    return discounting.discounts[max(min(count, discounting.discounts.size - 1), 0)]


@inlined_kernel
def type_of(count):
    """The column (int64) of pairs with a count (int64) in types; counts below 1, from damage, get the first column."""
    return max(min(count, TYPES), 1) - 1


@inlined_kernel
def ln_smoothed(discounting: Discounting, joint, total, left, n_types):
    """ln p of a pair seen `joint` > 0 of `total` times.

    `left`: the sum of the discounts of the pairs with the condition; `n_types`: number of pairs of the predicted
    phrase.
    """
    return np.log((joint - discount_of(discounting, joint) + left * n_types / discounting.n_pairs) / total)


def open_discounting(directory: Path, smoothing: ScoreSmoothing | None, n_pairs: int) -> Discounting:
    """The discounting of the model in `directory` with `n_pairs` phrase pairs. Raises ModelError or FormatError."""
    if smoothing is None:
        return NO_DISCOUNTING
    target_types = NO_DISCOUNTING.target_types
    if smoothing.method == "kneser-ney":
        target_types = open_arrays(directory / "smoothing", PAIR_TYPES, {"P": n_pairs})["target_types"]
    return Discounting(np.array(smoothing.discounts), target_types, float(smoothing.phrase_pairs))


def smoothed_scores(phrases: PhraseTable, discounting: Discounting, first: int, last: int) -> np.ndarray:
    """float64[K, 2] ln p(f|e) and ln p(e|f) of the K pairs of the source phrases first:last; needs sound offsets."""
    offsets = np.asarray(phrases.pair_offsets[first : last + 1])
    pairs, sizes = slice(int(offsets[0]), int(offsets[-1])), np.diff(offsets)
    joint = np.asarray(phrases.joint_counts[pairs]).astype(np.int64)
    discount = discounting.discounts[np.clip(joint, 0, discounting.discounts.size - 1)]
    share = np.zeros((joint.size, 2))  # share of the smoothed count that discounts leave to the lower order
    if len(discounting.target_types):
        types = np.asarray(discounting.target_types[pairs])
        sources = np.repeat(np.arange(sizes.size), sizes)
        share[:, 0] = types @ discounting.discounts[1:] * sizes[sources]
        share[:, 1] = np.bincount(sources, discount, minlength=sizes.size)[sources] * types.sum(axis=1)
    totals = np.column_stack((phrases.target_counts[pairs], np.repeat(phrases.source_counts[first:last], sizes)))
    with np.errstate(divide="ignore", invalid="ignore"):  # tables of other toolkits may have counts of 0
        return np.log(((joint - discount)[:, np.newaxis] + share / discounting.n_pairs) / totals)
