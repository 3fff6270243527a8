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
from phrasebeam.decoder.tables.phrase_table import ABSENT, DAMAGED, find_from, find_source
from phrasebeam.kernels.hashing import START, combine, first_slot, mix
from phrasebeam.kernels.jit import direct, inlined_kernel, kernel
from phrasebeam.kernels.prefetch import prefetch

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

    def span_sources(self, words: np.ndarray, offsets: np.ndarray, longest: int, row_size: int) -> np.ndarray:
        """int64[n * row_size], the source phrases of all spans of up to `longest` words, or ABSENT.

        `words` (int32[n]) are several texts, each words[offsets[i]:offsets[i + 1]] (int64[N + 1]). The span of k words
        from word i has the index i * row_size + k - 1, where `row_size` is at least `longest`. Raises ModelError if the
        table is damaged where it has one of these phrases.
        """
        sources, finding = np.full(words.size * row_size, ABSENT, np.int64), np.empty(3, np.int64)
        sizes = np.int64(longest), np.int64(row_size)
        status = _find_spans(self._tables, words, offsets, *sizes, self._checked, sources, finding)
        _refuse_unsound(status, finding)
        return sources

    def check(self, words: np.ndarray, longest: int) -> None:
        """Raise ModelError if the table is damaged where it has a phrase of `words` (int32[n]) of up to `longest`."""
        self.span_sources(words, np.array([0, words.size]), longest, longest)

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
def find_spans(tables: Tables, words, offsets, longest, row_size, checked, sources, finding):
    """Write the source phrases of all spans to `sources`, and check them: SOUND, or the status of the damaged file.

    For `words`, `offsets`, `longest`, `row_size` (int64) and `sources`, filled with ABSENT, see span_sources. Fills
    `checked` (int64[CAPACITY], the sound source phrases) and, if not SOUND, `finding` (int64[3]). The table is larger
    than the processor's caches. Therefore its slots, and what they lead to, are prefetched while the spans of the words
    before are looked up.
    """
    phrases, text = tables.phrases, np.int64(0)
    for step in range(words.size + 2):
        while step < words.size and step >= offsets[text + 1]:
            text += 1
        if step < words.size:
            _fetch_slots(phrases, words, step, min(step + longest, offsets[text + 1]), step * row_size, sources)
        if 1 <= step <= words.size:
            _fetch_sources(phrases, (step - 1) * row_size, longest, checked, sources)
        if step >= 2:
            status = _find_from(tables, words, step - 2, longest, (step - 2) * row_size, checked, sources, finding)
            if status != SOUND:
                return status
    return SOUND


@inlined_kernel
def _fetch_slots(phrases, words, begin, behind, at, sources):
    """Write the home slots of the spans from `begin` that end by `behind` to `sources` from `at` on; prefetch them."""
    h = START
    for end in range(begin, behind):
        h = combine(h, np.int64(words[end]))
        slot = first_slot(mix(h), phrases.slots.size)
        sources[at + end - begin] = slot
        prefetch(phrases.slots, slot)


@inlined_kernel
def _fetch_sources(phrases, at, longest, checked, sources):
    """Prefetch what is read of the source phrases in the slots sources[at:at + longest]."""
    for k in range(at, at + longest):
        if sources[k] != ABSENT:
            source = phrases.slots[sources[k]]
            if source != ABSENT:
                prefetch(phrases.source_offsets, source)
                prefetch(checked, source & (CAPACITY - 1))


@inlined_kernel
def _find_from(tables, words, begin, longest, at, checked, sources, finding):
    """Replace the slots sources[at:at + longest] by the source phrases from word `begin`, and check these."""
    for k in range(longest):
        if sources[at + k] != ABSENT:
            source = find_from(tables.phrases, sources[at + k], words, begin, begin + k + 1)
            sources[at + k] = source
            status = _check_source(tables, source, checked, finding)
            if status != SOUND:
                return status
    return SOUND


@kernel
def find_phrases(tables: Tables, words, offsets, checked, sources, finding):
    """Write the numbers of the source phrases words[offsets[i]:offsets[i + 1]] to `sources` (int64[Q]), and check them.

    `words` is int32[n], `offsets` int64[Q + 1]; for the status, `checked` and `finding` see find_spans.
    """
    for i in range(sources.size):
        source = np.int64(ABSENT)
        if offsets[i] < offsets[i + 1]:
            source = find_source(tables.phrases, words, offsets[i], offsets[i + 1])
        sources[i] = source
        status = _check_source(tables, source, checked, finding)
        if status != SOUND:
            return status
    return SOUND


@inlined_kernel
def _check_source(tables, source, checked, finding):
    """Check a result of find_source, unless it has been checked: SOUND, or the status of the damaged file."""
    if source == DAMAGED:
        return SOURCES
    if source == ABSENT or checked[source & (CAPACITY - 1)] == source:
        return SOUND
    status = _check_pairs(tables, source, finding)
    if status == SOUND:
        checked[source & (CAPACITY - 1)] = source
    return status


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


_find_spans = direct(find_spans)
