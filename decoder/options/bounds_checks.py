"""The door of a phrase table: whether what it says of a sentence's phrases lies inside its arrays.

A damaged file may hold any number in place of an offset or an id. Tables are too large to be read whole when they are
opened, so each source phrase is checked when a sentence first has it, and kernels behind this door check no more.
"""

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.sparse.templates import PAIR_SPARSE
from phrasebeam.decoder.tables.phrase_table import ABSENT, DAMAGED, TRAIN_AGAIN, find_source
from phrasebeam.kernels.jit import direct, inlined_kernel, kernel

CAPACITY = 1 << 13  # source phrases that are known to be sound; a newer one takes the place of an older one
# What may be wrong, and where.
SOUND, SOURCES, PAIRS, TARGETS, WORDS, SPARSE = (np.int64(i) for i in range(6))
FILES = {
    PAIRS: "phrases/pair_offsets.npy",
    TARGETS: "phrases/target_offsets.npy",
    WORDS: "phrases/target_words.npy",
    SPARSE: "sparse/pairs/offsets.npy",
}


PLACE, VALUE, LIMIT = range(3)  # of what was found: where in the array, what, and what is expected at most


class BoundsChecks:
    """Looks up the phrases of sentences in one table for the first time; any number of threads may share one."""

    def __init__(self, tables: Tables):
        self._tables, self._checked = tables, np.full(CAPACITY, ABSENT, np.int64)

    def is_oov(self, words: np.ndarray, longest: int) -> np.ndarray:
        """bool[n], which of `words` (int32[n]) are no source phrase on their own.

        Raises ModelError if what the table says of any phrase of up to `longest` words cannot be.
        """
        is_oov, finding = np.empty(words.size, bool), np.empty(3, np.int64)
        status = _check_phrases(self._tables, words, np.int64(longest), self._checked, is_oov, finding)
        if status != SOUND:
            raise ModelError(f"{_message(status, finding)}; {TRAIN_AGAIN}")
        return is_oov


def _message(status: int, finding: np.ndarray) -> str:
    if status == SOURCES:
        return "phrases/slots.npy, source_offsets.npy: a phrase is not where it should be"
    place, value, limit = finding.tolist()
    expected = "ids from 0" if status == WORDS else "ascending offsets from 0"
    return f"{FILES[np.int64(status)]}: {value} at {place}, expected {expected} to {limit}"


@kernel
def check_phrases(tables, words, longest, checked, is_oov, finding):
    """Fill in `is_oov`; SOUND, or what is wrong with a phrase of the sentence, and int64[3] of what was found."""
    for begin in range(words.size):
        for end in range(begin + 1, min(begin + longest, words.size) + 1):
            source = find_source(tables.phrases, words, begin, end)
            if source == DAMAGED:
                return SOURCES
            if end == begin + 1:
                is_oov[begin] = source == ABSENT
            if source == ABSENT or checked[source & (CAPACITY - 1)] == source:
                continue
            status = _check_pairs(tables, source, finding)
            if status != SOUND:
                return status
            checked[source & (CAPACITY - 1)] = source
    return SOUND


@inlined_kernel
def _check_pairs(tables, source, finding):
    """The same for all that is known of one source phrase."""
    phrases, sparse = tables.phrases, tables.sparse
    if not _is_ascending(phrases.pair_offsets, source, phrases.target_offsets.size - 1, finding):
        return PAIRS
    for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
        if not _is_ascending(phrases.target_offsets, pair, phrases.target_words.size, finding):
            return TARGETS
        for i in range(phrases.target_offsets[pair], phrases.target_offsets[pair + 1]):
            word = np.int64(phrases.target_words[i])
            if word < 0 or word >= tables.lms.word_ids.shape[0]:
                finding[PLACE], finding[VALUE], finding[LIMIT] = i, word, tables.lms.word_ids.shape[0] - 1
                return WORDS
        if sparse.active[PAIR_SPARSE] and not _is_ascending(sparse.pair_offsets, pair, sparse.pair_keys.size, finding):
            return SPARSE
    return SOUND


@inlined_kernel
def _is_ascending(offsets, i, limit, finding):
    """Whether 0 <= offsets[i] <= offsets[i + 1] <= limit."""
    first, last = offsets[i], offsets[i + 1]
    if 0 <= first <= last <= limit:
        return True
    at = i if first < 0 or first > limit else i + 1
    finding[PLACE], finding[VALUE], finding[LIMIT] = at, offsets[at], limit
    return False


_check_phrases = direct(check_phrases)
