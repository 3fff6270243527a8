"""Sparse features of the words of a phrase pair as Moses has them: inserted, deleted and translated words, lengths.

They are its TargetWordInsertionFeature, SourceWordDeletionFeature, WordTranslationFeature and PhraseLengthFeature
(Hasler, Haddow & Koehn 2011). An unaligned pair of two words has no inserted or deleted word. With a word list, what
it lacks is OTHER.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.sparse.levels import WordLists
from phrasebeam.decoder.sparse.sparse_group import RuleInContext, SparseGroup, feature_key
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.decoder.tables.text_hashes import hash_texts
from phrasebeam.kernels.hashing import START, combine
from phrasebeam.kernels.jit import inlined_kernel, kernel

OTHER = "OTHER"  # in place of words that a list lacks
NO_PART = np.int64(-1)  # in place of the second word, or of a length
MOST_POINTS = 2 * LONGEST_PHRASE  # alignment points of a phrase pair that are looked at


class ListedWords(NamedTuple):
    """The hashes of the words of each of WordLists, ascending, OTHER among them; empty where all words are listed."""

    inserted: np.ndarray  # uint64[...]
    deleted: np.ndarray  # uint64[...]
    pair_source: np.ndarray  # uint64[...]
    pair_target: np.ndarray  # uint64[...]
    other: np.ndarray  # uint64[1], the hash of OTHER


def listed_words(lists: WordLists) -> ListedWords:
    """The words of `lists` as kernels take them."""
    none = np.zeros(0, np.uint64)
    hashes = {name: none if words is None else np.unique(word_hashes([*words, OTHER])) for name, words in lists}
    return ListedWords(**hashes, other=word_hashes([OTHER]))


def word_hashes(words: list[str]) -> np.ndarray:
    """uint64[W] hashes of `words` as in column WORD of Sentence.classes."""
    return hash_texts([f"word={word}" for word in words])


def _named(word: str, words: frozenset[str] | None) -> str:
    return word if words is None or word in words else OTHER


def _inserted_names(context: RuleInContext) -> Iterator[str]:
    n_source, words = context.end - context.begin, context.target[:LONGEST_PHRASE]
    aligned = {j for _, j in context.points}
    for j, word in enumerate(words):
        if j not in aligned and (aligned or n_source > 1 or len(words) > 1):
            yield _named(word, context.levels.listed["inserted"])


def _deleted_names(context: RuleInContext) -> Iterator[str]:
    words = context.source[context.begin : context.end][:LONGEST_PHRASE]
    aligned = {i for i, _ in context.points}
    for i, word in enumerate(words):
        if i not in aligned and (aligned or len(words) > 1 or len(context.target) != 1):
            yield _named(word, context.levels.listed["deleted"])


def _pair_names(context: RuleInContext) -> Iterator[str]:
    listed = context.levels.listed
    for i, j in context.points[:MOST_POINTS]:
        source, target = context.source[context.begin + i], context.target[j]
        yield f"{_named(source, listed['pair_source'])}~{_named(target, listed['pair_target'])}"


def _length_names(context: RuleInContext) -> Iterator[str]:
    n_source, n_target = (min(n, LONGEST_PHRASE) for n in (context.end - context.begin, len(context.target)))
    yield from (f"s{n_source}", f"t{n_target}", f"{n_source},{n_target}")


WORD_GROUPS = (
    SparseGroup(
        "inserted_words",
        "unaligned target word: Moses' TargetWordInsertionFeature (Hasler et al. 2011)",
        "rule",
        _inserted_names,
        rate=0.02,
    ),
    SparseGroup(
        "deleted_words", "unaligned source word: Moses' SourceWordDeletionFeature", "rule", _deleted_names, rate=0.02
    ),
    SparseGroup(
        "word_pairs", "two words aligned with each other: Moses' WordTranslationFeature", "rule", _pair_names, rate=0.02
    ),
    SparseGroup(
        "phrase_lengths",
        "words of the source phrase, of the target phrase, and both: Moses' PhraseLengthFeature",
        "rule",
        _length_names,
        rate=0.02,
    ),
)


@inlined_kernel
def parts_hash(first, second):
    """uint64 hash of a feature of two parts, `first` and `second` (int64): hashes of words, or lengths; or NO_PART."""
    return combine(combine(START, first), second)


@inlined_kernel
def listed(hashes, lists: ListedWords, word):
    """int64: the hash `word` (uint64), or that of OTHER where `hashes` (uint64[N], one of `lists`) lacks it."""
    first, last = 0, hashes.size
    while first < last:
        middle = (first + last) // 2
        if hashes[middle] < word:
            first = middle + 1
        else:
            last = middle
    is_listed = hashes.size == 0 or (first < hashes.size and hashes[first] == word)
    return np.int64(word) if is_listed else np.int64(lists.other[0])


@kernel
def fill_part_keys(group_hash, first: np.ndarray, second: np.ndarray, keys: np.ndarray):
    """Write the keys (uint64[N]) of the features of the parts `first` and `second` (int64[N]), see parts_hash.

    `group_hash` (uint64) is the group's in GROUP_HASHES.
    """
    for i in range(keys.size):
        keys[i] = feature_key(parts_hash(first[i], second[i]), group_hash)
