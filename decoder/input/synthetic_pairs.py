"""Synthetic phrase pairs, which a sentence brings itself: unknown words to copy, translations that a user gives."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.levels import NO_CLASSES, Levels
from phrasebeam.decoder.tables.language_models import TargetModel
from phrasebeam.kernels.jit import inner_kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

NO_TABLE_PAIR = -1
LENGTHS_KEPT = 256  # of sentences, for which there is something to share


class SyntheticPair(NamedTuple):
    """A translation of the source words begin:end."""

    begin: int
    end: int
    target: tuple[str, ...]
    ln_score: float = 0.0  # value of each of the phrase table's features
    unknown: float = 0.0  # value of the unknown-word penalty
    alignment: tuple[tuple[int, int], ...] = ()  # (source, target) positions inside the pair
    shown: str = ""  # what is written in place of the target, which the language model sees


class SyntheticPairs(NamedTuple):
    """K pairs, by their spans; pair number k is known as -1 - k. W words are not in the target vocabulary (V words)."""

    first: np.ndarray  # int64[n * longest + 1]; pairs of begin:begin+k are first[begin * longest + k - 1] and on
    target_offsets: np.ndarray  # int64[K + 1], into target_words
    target_words: np.ndarray  # int32[...], target ids; V + i for word i of those not in the vocabulary
    lm_ids: np.ndarray  # int32[W, L], what the language models call these
    ln_score: np.ndarray  # float64[K]
    unknown: np.ndarray  # float64[K]
    table_pair: (
        np.ndarray
    )  # int64[K], the table's pair of the same words, which lends its reordering scores; or NO_TABLE_PAIR
    score: np.ndarray  # float64[K], room for what Options calls so
    estimate: np.ndarray  # float64[K], likewise
    bound: np.ndarray  # float64[K], likewise
    classes: np.ndarray  # uint64[W, 1 + L], what stands for these words in sparse features


def pack_synthetic_pairs(
    pairs: Sequence[SyntheticPair],
    n_words: int,
    longest: int,
    target: FixedVocabulary,
    models: Sequence[TargetModel],
    levels: Levels | None = None,
) -> SyntheticPairs:
    """`pairs`, sorted by (begin, end), for a sentence of `n_words` words; none is longer than `longest` words."""
    if not pairs:
        return no_synthetic_pairs(len(models), n_words * longest + 1)
    first = np.zeros(n_words * longest + 1, np.int64)
    for pair in pairs:
        first[pair.begin * longest + pair.end - pair.begin] += 1
    strange: dict[str, int] = {}
    words, n_known = [word for pair in pairs for word in pair.target], len(target)
    ids = [
        i if i >= 0 else n_known + strange.setdefault(word, len(strange))
        for i, word in zip(target.ids(words).tolist(), words)
    ]
    lm_ids = np.empty((len(strange), len(models)), np.int32)
    for which, model in enumerate(models):
        lm_ids[:, which] = model.word_ids(list(strange))
    ln_score, unknown, score, estimate, bound = np.zeros((5, len(pairs)))
    ln_score[:], unknown[:] = [pair.ln_score for pair in pairs], [pair.unknown for pair in pairs]
    return SyntheticPairs(
        np.cumsum(first),
        np.array([0, *accumulate(len(pair.target) for pair in pairs)], np.int64),
        np.array(ids, np.int32),
        lm_ids,
        ln_score,
        unknown,
        np.full(len(pairs), NO_TABLE_PAIR, np.int64),
        score,
        estimate,
        bound,
        levels.classes("target", strange) if levels else NO_CLASSES,
    )


@lru_cache(LENGTHS_KEPT)
def no_synthetic_pairs(n_models: int, n_places: int = 0) -> SyntheticPairs:
    """None, for a sentence of so many places and so many language models; they are shared."""
    no_numbers, no_scores = np.zeros(0, np.int64), np.zeros(0)
    no_words, no_ids = np.zeros(0, np.int32), np.zeros((0, n_models), np.int32)
    return SyntheticPairs(
        np.zeros(n_places, np.int64),
        np.zeros(1, np.int64),
        no_words,
        no_ids,
        no_scores,
        no_scores,
        no_numbers,
        no_scores,
        no_scores,
        no_scores,
        NO_CLASSES,
    )


def longest_target(synthetic: SyntheticPairs) -> int:
    """Words of the longest target phrase."""
    return max((end - begin for begin, end in pairwise(synthetic.target_offsets.tolist())), default=0)


@inner_kernel
def synthetic_number(pair):
    """The number of a synthetic pair, from its negative id."""
    return -1 - pair


@inner_kernel
def table_pair(synthetic, pair):
    """The pair, or the pair of the phrase table with the words of a synthetic one; NO_TABLE_PAIR if there is none."""
    if pair < 0:
        return synthetic.table_pair[synthetic_number(pair)]
    return pair
