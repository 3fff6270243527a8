"""Bounds checks of phrase tables: whether offsets and ids of a sentence's phrases lie inside the table's arrays.

A damaged file may hold any number in place of an offset or an id. Tables are too large to be checked as a whole when
they are opened, so each source phrase is checked when a sentence first contains it, and later kernels need not
check.
"""

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.sparse.phrase_hashes import original_pair
from phrasebeam.decoder.sparse.templates import PAIR_SPARSE
from phrasebeam.decoder.tables.model_files import TRAIN_AGAIN
from phrasebeam.decoder.tables.phrase_table import ABSENT, DAMAGED, find_source
from phrasebeam.kernels.jit import direct, inlined_kernel, kernel

CAPACITY = 1 << 13  # number of source phrases remembered as sound, direct-mapped
# Status of a check: sound, or which file is damaged
SOUND, SOURCES, PAIRS, TARGETS, WORDS, SPARSE, ALIGNMENTS, POINTS = (np.int64(i) for i in range(8))
FILES = {
    PAIRS: "phrases/pair_offsets.npy",
    TARGETS: "phrases/target_offsets.npy",
    WORDS: "phrases/target_words.npy",
    SPARSE: "sparse/pairs/offsets.npy",
    ALIGNMENTS: "phrases/alignment_offsets.npy",
    POINTS: "phrases/alignment_points.npy",
}


POSITION, VALUE, LIMIT = range(3)  # of a finding (int64[3]): position in the array, value, and largest valid value


class BoundsChecks:
    """Checks the phrases of sentences in one table, each only once; threads may share it."""

    def __init__(self, tables: Tables):
        self._tables, self._checked = tables, np.full(CAPACITY, ABSENT, np.int64)

    def is_oov(self, words: np.ndarray, longest: int) -> np.ndarray:
        """bool[n], which of `words` (int32[n]) are not a source phrase by themselves.

        Raises ModelError if the table is damaged where it has a phrase of the sentence of up to `longest` words.
        """
        is_oov, finding = np.empty(words.size, bool), np.empty(3, np.int64)
        status = _check_phrases(self._tables, words, np.int64(longest), self._checked, is_oov, finding)
        _refuse_unsound(status, finding)
        return is_oov

    def find_sources(self, words: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """int64[Q], the numbers of the source phrases words[offsets[i]:offsets[i + 1]] (int32[n], int64[Q + 1]).

        ABSENT where the table has no such phrase. Raises ModelError if the table is damaged where it has one.
        """
        sources, finding = np.empty(offsets.size - 1, np.int64), np.empty(3, np.int64)
        status = find_phrases(self._tables, words, offsets, self._checked, sources, finding)
        _refuse_unsound(status, finding)
        return sources


def _refuse_unsound(status: int, finding: np.ndarray) -> None:
    """Raise ModelError unless the status is SOUND."""
    if status != SOUND:
        raise ModelError(f"{_message(status, finding)}; {TRAIN_AGAIN}")


def _message(status: int, finding: np.ndarray) -> str:
    if status == SOURCES:
        return "phrases/slots.npy, source_offsets.npy: a phrase is not where it should be"
    position, value, limit = finding.tolist()
    expected = {WORDS: "ids from 0", POINTS: "positions from 0"}.get(np.int64(status), "ascending offsets from 0")
    return f"{FILES[np.int64(status)]}: {value} at {position}, expected {expected} to {limit}"


@kernel
def check_phrases(tables: Tables, words, longest, checked, is_oov, finding):
    """Check the phrases of up to `longest` (int64) of `words` (int32[n]): SOUND, or the status of the damaged file.

    Fills `is_oov` (bool[n]), `checked` (int64[CAPACITY], the sound source phrases) and, if not SOUND, `finding`
    (int64[3]).
    """
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


@kernel
def find_phrases(tables: Tables, words, offsets, checked, sources, finding):
    """Write the numbers of the source phrases words[offsets[i]:offsets[i + 1]] to `sources` (int64[Q]), and check them.

    `words` is int32[n], `offsets` int64[Q + 1]; for the status, `checked` and `finding` see check_phrases.
    """
    for i in range(sources.size):
        source = np.int64(ABSENT)
        if offsets[i] < offsets[i + 1]:
            source = find_source(tables.phrases, words, offsets[i], offsets[i + 1])
        sources[i] = source
        if source == DAMAGED:
            return SOURCES
        if source != ABSENT and checked[source & (CAPACITY - 1)] != source:
            status = _check_pairs(tables, source, finding)
            if status != SOUND:
                return status
            checked[source & (CAPACITY - 1)] = source
    return SOUND


@inlined_kernel
def _check_pairs(tables, source, finding):
    """Check all pairs of one source phrase: SOUND, or the status of the damaged file. Fills `finding` if not SOUND."""
    phrases, sparse = tables.phrases, tables.sparse
    if not _is_ascending(phrases.pair_offsets, source, phrases.target_offsets.size - 1, finding):
        return PAIRS
    for pair in range(phrases.pair_offsets[source], phrases.pair_offsets[source + 1]):
        if not _is_ascending(phrases.target_offsets, pair, phrases.target_words.size, finding):
            return TARGETS
        for i in range(phrases.target_offsets[pair], phrases.target_offsets[pair + 1]):
            word = np.int64(phrases.target_words[i])
            if word < 0 or word >= tables.lms.word_ids.shape[0]:
                finding[POSITION], finding[VALUE], finding[LIMIT] = i, word, tables.lms.word_ids.shape[0] - 1
                return WORDS
        if sparse.active[PAIR_SPARSE] and not _is_ascending(sparse.pair_offsets, pair, sparse.pair_keys.size, finding):
            return SPARSE
        if sparse.has_phrase_features:
            n_source = phrases.source_offsets[source + 1] - phrases.source_offsets[source]
            n_target = phrases.target_offsets[pair + 1] - phrases.target_offsets[pair]
            original = original_pair(sparse.points.origin, pair)
            status = _check_points(sparse.points, original, n_source, n_target, finding)
            if status != SOUND:
                return status
    return SOUND


@inlined_kernel
def _check_points(points, pair, n_source, n_target, finding):
    """Check the alignment points of a `pair` of the model's table with these numbers of words; as _check_pairs."""
    if not _is_ascending(points.offsets, pair, points.points.shape[0], finding):
        return ALIGNMENTS
    for k in range(points.offsets[pair], points.offsets[pair + 1]):
        for side, size in enumerate((n_source, n_target)):
            if np.int64(points.points[k, side]) >= size:
                finding[POSITION], finding[VALUE], finding[LIMIT] = k, points.points[k, side], size - 1
                return POINTS
    return SOUND


@inlined_kernel
def _is_ascending(offsets, i, limit, finding):
    """Whether 0 <= offsets[i] <= offsets[i + 1] <= limit; fills `finding` if not."""
    first, last = offsets[i], offsets[i + 1]
    if 0 <= first <= last <= limit:
        return True
    position = i if first < 0 or first > limit else i + 1
    finding[POSITION], finding[VALUE], finding[LIMIT] = position, offsets[position], limit
    return False


_check_phrases = direct(check_phrases)
