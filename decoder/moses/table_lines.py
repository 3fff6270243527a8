"""Lines of Moses' text phrase tables inside kernels: each line becomes a phrase pair of a piece of a table."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.text.encoded_words import WordTable, add_word
from phrasebeam.lm.text.fields import (
    NONE,
    add_words,
    has_bar,
    line_end,
    read_numbers,
    read_points,
    split_fields,
    word_begin,
    word_end,
)
from phrasebeam.lm.text.text_vocabulary import has_room

SEPARATOR = "|||"
FEWEST_FIELDS, MOST_FIELDS = 3, 7
ONE, N_COUNTS = np.int64(1), np.int64(3)  # numbers in a feature; counts of a pair: c(e), c(f), c(f, e)
FIRST_ROWS = 1 << 12  # initial room of the arrays of a piece
MOST_DIGITS, MOST_PLAIN = np.int64(6), np.int64(15)  # of a position; Python refuses points of 16 characters
PAIRS, SOURCES, SOURCE_WORDS, TARGET_WORDS, POINTS, FEATURES = range(6)  # what a piece counts
NEXT, SOURCE_BEGIN, SOURCE_END = range(3)  # indices in LineReading.place
READ, FULL, NO_ROOM, NO_WORDS, ODD = range(5)  # result of reading a line
FIRST_SEPARATOR, LAST_SEPARATOR, LAST_ASCII = 28, 31, 127  # characters that Python may treat as white space


class PairColumns(NamedTuple):
    """Phrase pairs of a piece of a table; only the last source phrase can lack pairs. Ends refer to the piece."""

    counts: np.ndarray  # int64[6], the number of each: PAIRS to FEATURES
    source_ends: np.ndarray  # int64[...]
    source_words: np.ndarray  # int32[...]
    first_pairs: np.ndarray  # int64[...], of each source phrase
    target_ends: np.ndarray  # int64[...]
    target_words: np.ndarray  # int32[...]
    scores: np.ndarray  # float64[K * ...], K probabilities a pair
    pair_counts: np.ndarray  # float64[3 * ...], c(e), c(f), c(f, e) of each pair
    point_ends: np.ndarray  # int64[...]
    points: np.ndarray  # int64[..., 2]
    feature_ends: np.ndarray  # int64[...], of sparse features
    feature_names: np.ndarray  # int32[...]
    feature_values: np.ndarray  # float64[...]


class LineReading(NamedTuple):
    """Lines of a table that are being read, and the source phrase of the line before them."""

    text: np.ndarray  # uint8[n]
    place: np.ndarray  # int64[3]: place of the next line, and begin and end of the source phrase before it
    fields: np.ndarray  # int64[8, 2], of a line
    source: WordTable
    target: WordTable
    names: WordTable  # of sparse features
    pairs: PairColumns


@kernel
def read_pairs(reading: LineReading, at_once, is_plain: bool):
    """Add the lines to reading.pairs; return READ when all are added, or the reason why the next line is not.

    FULL: it has another source phrase, and there are at least `at_once` pairs (int64). NO_ROOM, NO_WORDS: an array of
    pairs, or of a vocabulary, may be too short. ODD: the line is unusual, and Python must handle it; lines that are
    `is_plain` have already been handled.
    """
    while reading.place[NEXT] < reading.text.size:
        begin = reading.place[NEXT]
        end = line_end(reading.text, begin)
        if not _has_room(reading.pairs, end - begin):
            return NO_ROOM
        if not (
            has_room(reading.source, end - begin)
            and has_room(reading.target, end - begin)
            and has_room(reading.names, end - begin)
        ):
            return NO_WORDS
        status = _read_pair(reading, begin, end, at_once, is_plain)
        if status != READ:
            return status
        reading.place[NEXT] = end
    return READ


@inner_kernel
def _has_room(pairs: PairColumns, n_bytes):
    """Whether a line of `n_bytes` fits into all arrays; each item except numbers takes at least one byte."""
    counts = pairs.counts
    return (
        counts[PAIRS] < pairs.target_ends.size
        and counts[SOURCES] < pairs.source_ends.size
        and counts[SOURCE_WORDS] + n_bytes <= pairs.source_words.size
        and counts[TARGET_WORDS] + n_bytes <= pairs.target_words.size
        and counts[POINTS] + n_bytes <= pairs.points.shape[0]
        and counts[FEATURES] + n_bytes <= pairs.feature_names.size
    )


@inner_kernel
def _read_pair(reading: LineReading, begin, end, at_once, is_plain):
    text, fields, place, pairs, counts = (
        reading.text,
        reading.fields,
        reading.place,
        reading.pairs,
        reading.pairs.counts,
    )
    n_fields = split_fields(text, begin, end, fields)
    if not FEWEST_FIELDS <= n_fields <= MOST_FIELDS:
        return ODD
    for i in range(n_fields, MOST_FIELDS):
        fields[i, 0], fields[i, 1] = end, end
    n_source, pair = np.int64(0), counts[PAIRS]
    is_new = not _is_same(text, place[SOURCE_BEGIN], place[SOURCE_END], fields[0, 0], fields[0, 1])
    if is_new and pair >= at_once:
        return FULL
    if is_new or counts[SOURCES] == 0:
        is_new = True
        n_source = add_words(reading.source, text, fields[0, 0], fields[0, 1], pairs.source_words, counts[SOURCE_WORDS])
        if not 0 < n_source <= LONGEST_PHRASE or has_bar(text, fields[0, 0], fields[0, 1]):
            return ODD
    n_features = _read_features(reading, fields[5, 0], fields[5, 1], is_plain)
    n_target = add_words(reading.target, text, fields[1, 0], fields[1, 1], pairs.target_words, counts[TARGET_WORDS])
    n_scores = pairs.scores.size // pairs.target_ends.size
    n_read = read_numbers(text, fields[2, 0], fields[2, 1], pairs.scores, pair * n_scores, n_scores)
    most_digits = MOST_PLAIN if is_plain else MOST_DIGITS
    n_points = read_points(text, fields[3, 0], fields[3, 1], pairs.points, counts[POINTS], most_digits, False)
    n_counts = read_numbers(text, fields[4, 0], fields[4, 1], pairs.pair_counts, pair * N_COUNTS, N_COUNTS)
    is_phrase = 0 < n_target <= LONGEST_PHRASE and not has_bar(text, fields[1, 0], fields[1, 1])
    if not is_phrase or n_read != n_scores or n_features == NONE or n_points == NONE or n_counts == NONE:
        return ODD
    for i in range(n_counts, N_COUNTS):
        pairs.pair_counts[pair * N_COUNTS + i] = 0
    if is_new:
        source = counts[SOURCES]
        pairs.first_pairs[source] = pair
        counts[SOURCES] = source + 1
        counts[SOURCE_WORDS] += n_source
        pairs.source_ends[source] = counts[SOURCE_WORDS]
        place[SOURCE_BEGIN], place[SOURCE_END] = fields[0, 0], fields[0, 1]
    counts[TARGET_WORDS] += n_target
    counts[POINTS] += n_points
    counts[FEATURES] += n_features
    pairs.target_ends[pair], pairs.point_ends[pair] = counts[TARGET_WORDS], counts[POINTS]
    pairs.feature_ends[pair] = counts[FEATURES]
    counts[PAIRS] = pair + 1
    return READ


@inner_kernel
def _is_same(text, begin, end, other_begin, other_end):
    if end - begin != other_end - other_begin:
        return False
    for i in range(end - begin):
        if text[begin + i] != text[other_begin + i]:
            return False
    return True


@inner_kernel
def _read_features(reading: LineReading, begin, end, is_plain):
    """Add the sparse features in text[begin:end], alternately names and values, to reading.pairs; how many, or NONE."""
    text, pairs = reading.text, reading.pairs
    n_features, first = np.int64(0), pairs.counts[FEATURES]
    for i in range(begin, end):
        if not is_plain and (FIRST_SEPARATOR <= text[i] <= LAST_SEPARATOR or text[i] > LAST_ASCII):
            return NONE
    begin = word_begin(text, begin, end)
    while begin < end:
        behind = word_end(text, begin, end)
        value_begin = word_begin(text, behind, end)
        value_end = word_end(text, value_begin, end)
        place = first + n_features
        if read_numbers(text, value_begin, value_end, pairs.feature_values, place, ONE) != ONE:
            return NONE
        if not np.isfinite(pairs.feature_values[place]):
            return NONE
        pairs.feature_names[place] = add_word(reading.names, text, begin, behind)
        n_features += 1
        begin = word_begin(text, value_end, end)
    return n_features


def new_columns(n_scores: int) -> PairColumns:
    """Empty columns for pairs with `n_scores` scores each."""
    ends, ids, numbers = (np.empty(FIRST_ROWS, dtype) for dtype in (np.int64, np.int32, np.float64))
    return PairColumns(
        counts=np.zeros(6, np.int64),
        source_ends=ends,
        source_words=ids,
        first_pairs=ends.copy(),
        target_ends=ends.copy(),
        target_words=ids.copy(),
        scores=np.empty(FIRST_ROWS * n_scores),
        pair_counts=np.empty(FIRST_ROWS * N_COUNTS),
        point_ends=ends.copy(),
        points=np.empty((FIRST_ROWS, 2), np.int64),
        feature_ends=ends.copy(),
        feature_names=ids.copy(),
        feature_values=numbers,
    )


def grown(pairs: PairColumns, n_bytes: int) -> PairColumns:
    """The same pairs with twice the room, and at least enough for another line of `n_bytes`."""
    factor = 2 + n_bytes // pairs.target_ends.size
    columns = [np.empty((len(old) * factor, *old.shape[1:]), old.dtype) for old in pairs[1:]]
    for old, column in zip(pairs[1:], columns):
        column[: len(old)] = old
    return PairColumns(pairs.counts, *columns)
