"""Synthetic phrase pairs, which a sentence adds to the phrase table.

They are copies of unknown words, translations of known words that replace unknown words, translations of the letters
of unknown words, and translations of terms.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Annotated, NamedTuple

import numpy as np

from phrasebeam.base.array_struct import allocate, array
from phrasebeam.decoder.sparse.levels import NO_CLASSES, Levels
from phrasebeam.decoder.tables.language_models import TargetModel
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.kernels.jit import inner_kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary

NO_TABLE_PAIR = -1


class SyntheticPair(NamedTuple):
    """A translation of the source words begin:end."""

    begin: int
    end: int
    target: tuple[str, ...]
    ln_score: float = 0.0  # value of each of the phrase table's features
    unknown: float = 0.0  # value of the unknown-word penalty
    alignment: tuple[tuple[int, int], ...] = ()  # (source, target) positions inside the pair
    # For known words that replace an unknown word: values of the table's features, number of these words
    ln_scores: tuple[float, ...] = ()
    n_related: int = 0
    # For letters that are translated: number of words; ln of the probability of the translation, or of a copy
    n_spelled: int = 0
    ln_spelling: float = 0.0
    shown: str = ""  # text of the output instead of `target`, which the language model scores; "": `target`

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """The alignment for sparse features; empty for very long pairs, since points are bytes in kernels."""
        return self.alignment if len(self.target) <= LONGEST_PHRASE else ()


class SyntheticPairs(NamedTuple):
    """K pairs, sorted by span; pair k has the id -1 - k. W of their words are not among the V known target words."""

    # Pairs of the span begin:begin+k are first[s]:first[s+1], s = begin * longest + k - 1; S is n * longest + 1
    first: Annotated[np.ndarray, array(np.int64, "S")]
    target_offsets: Annotated[np.ndarray, array(np.int64, "K + 1")]  # into target_words
    target_words: Annotated[np.ndarray, array(np.int32, "N")]  # target ids; V + i for word i of the W
    alignment_offsets: Annotated[np.ndarray, array(np.int64, "K + 1")]  # into alignment_points
    alignment_points: Annotated[np.ndarray, array(np.uint8, "A", 2)]  # (source, target) positions inside the pairs
    lm_ids: Annotated[np.ndarray, array(np.int32, "W", "L")]  # ids of the W words in the L language models
    ln_scores: Annotated[np.ndarray, array(np.float64, "K", "T")]  # values of the T features of the phrase table
    unknown: Annotated[np.ndarray, array(np.float64, "K")]  # value of the unknown-word penalty
    n_related: Annotated[np.ndarray, array(np.float64, "K")]  # value of the feature related_words
    n_spelled: Annotated[np.ndarray, array(np.float64, "K")]  # value of the feature spelled_words
    ln_spelling: Annotated[np.ndarray, array(np.float64, "K")]  # value of the feature spelling
    # The table's pair of the same words, whose reordering scores they get; or NO_TABLE_PAIR
    table_pair: Annotated[np.ndarray, array(np.int64, "K", fill=NO_TABLE_PAIR)]
    # Hashes of the W words at each of E levels of sparse features, see Levels
    classes: Annotated[np.ndarray, array(np.uint64, "W", "E + 1")]


def pack_synthetic_pairs(
    pairs: Sequence[SyntheticPair],
    n_words: int,
    longest: int,
    target: FixedVocabulary,
    models: Sequence[TargetModel],
    n_scores: int,
    levels: Levels | None = None,
) -> SyntheticPairs:
    """The `pairs` (sorted by begin and end) of a sentence of `n_words` words; none covers more than `longest` words.

    The phrase table has `n_scores` features.
    """
    first = np.zeros(n_words * longest + 1, np.int64)
    if not pairs:
        return no_synthetic_pairs(len(models))._replace(first=first)
    for pair in pairs:
        first[pair.begin * longest + pair.end - pair.begin] += 1
    oov_ids: dict[str, int] = {}
    words, n_known = [word for pair in pairs for word in pair.target], len(target)
    ids = [
        i if i >= 0 else n_known + oov_ids.setdefault(word, len(oov_ids))
        for i, word in zip(target.ids(words).tolist(), words)
    ]
    lm_ids = np.empty((len(oov_ids), len(models)), np.int32)
    for column, model in enumerate(models):
        lm_ids[:, column] = model.word_ids(list(oov_ids))
    return allocate(
        SyntheticPairs,
        {"K": len(pairs)},
        first=np.cumsum(first),
        target_offsets=np.array([0, *accumulate(len(pair.target) for pair in pairs)], np.int64),
        target_words=np.array(ids, np.int32),
        alignment_offsets=np.array([0, *accumulate(len(pair.points) for pair in pairs)], np.int64),
        alignment_points=np.array([point for pair in pairs for point in pair.points], np.uint8).reshape(-1, 2),
        lm_ids=lm_ids,
        ln_scores=np.array([pair.ln_scores or (pair.ln_score,) * n_scores for pair in pairs], np.float64),
        unknown=np.array([pair.unknown for pair in pairs], np.float64),
        n_related=np.array([pair.n_related for pair in pairs], np.float64),
        n_spelled=np.array([pair.n_spelled for pair in pairs], np.float64),
        ln_spelling=np.array([pair.ln_spelling for pair in pairs], np.float64),
        classes=levels.classes("target", oov_ids) if levels else NO_CLASSES,
    )


@cache
def no_synthetic_pairs(n_models: int) -> SyntheticPairs:
    """No pairs, no spans, for `n_models` language models; shared by all sentences without pairs."""
    sizes = {"S": 0, "K": 0, "N": 0, "A": 0, "W": 0, "L": n_models, "T": 0}
    return allocate(SyntheticPairs, sizes, classes=NO_CLASSES)


def longest_target(synthetic: SyntheticPairs) -> int:
    """Number of words of the longest target phrase, 0 without pairs."""
    return max((end - begin for begin, end in pairwise(synthetic.target_offsets.tolist())), default=0)


@inner_kernel
def synthetic_number(pair):
    """Index into SyntheticPairs of a synthetic pair, from its negative id."""
    return -1 - pair


@inner_kernel
def table_pair(synthetic: SyntheticPairs, pair):
    """`pair` or, if it is synthetic, the phrase table's pair of the same words, or NO_TABLE_PAIR."""
    if pair < 0:
        return synthetic.table_pair[synthetic_number(pair)]
    return pair
