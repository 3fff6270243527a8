"""Lines of Moses' text phrase and reordering tables, written as bytes inside a kernel."""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.moses.score_texts import ScoreTexts
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.text.encoded_words import Words
from phrasebeam.lm.text.fields import NEWLINE, SPACE

SEPARATOR = np.frombuffer(b" ||| ", np.uint8).copy()
END = np.frombuffer(b" |||", np.uint8).copy()
DIGIT_0, MINUS = b"0-"


class TableLines(NamedTuple):
    """Lines of K consecutive phrase pairs of a table, which begin at row `first`."""

    table: PhraseTable
    source: Words
    target: Words
    first: np.ndarray  # int64[1]
    source_of: np.ndarray  # int64[K], source phrases
    is_written: np.ndarray  # bool[K], whether the pair gets a line
    scores: ScoreTexts  # of K rows
    features: Words  # K texts of sparse features; a reordering table has 0, since no fields follow its scores


@kernel
def write_lines(lines: TableLines, has_target: bool, out: np.ndarray):
    """Write the lines to `out` (uint8[n]); return their size (int64), which is above n if there is no room."""
    table, place = lines.table, np.int64(0)
    for k in range(lines.source_of.size):
        if not lines.is_written[k]:
            continue
        pair, source = lines.first[0] + k, lines.source_of[k]
        first, last = table.source_offsets[source], table.source_offsets[source + 1]
        place = _put_words(lines.source, table.source_words, first, last, out, place)
        place = _put(SEPARATOR, np.int64(0), SEPARATOR.size, out, place)
        if has_target:
            first, last = table.target_offsets[pair], table.target_offsets[pair + 1]
            place = _put_words(lines.target, table.target_words, first, last, out, place)
            place = _put(SEPARATOR, np.int64(0), SEPARATOR.size, out, place)
        for i in range(lines.scores.text_of.shape[1]):
            if i > 0:
                place = _put_byte(SPACE, out, place)
            place = _put_score(lines.scores.texts, lines.scores.text_of[k, i], out, place)
        if lines.features.offsets.size > 1:
            place = _put_fields(lines, k, pair, source, out, place)
        place = _put_byte(NEWLINE, out, place)
    return place


@inner_kernel
def _put_fields(lines: TableLines, k, pair, source, out, place):
    """Write the fields after the scores: alignment, counts, sparse features, properties (always empty)."""
    table, nothing = lines.table, np.int64(0)
    place = _put(SEPARATOR, nothing, SEPARATOR.size, out, place)
    first, last = table.alignment_offsets[pair], table.alignment_offsets[pair + 1]
    for i in range(first, last):
        if i > first:
            place = _put_byte(SPACE, out, place)
        place = _put_number(np.int64(table.alignment_points[i, 0]), out, place)
        place = _put_byte(MINUS, out, place)
        place = _put_number(np.int64(table.alignment_points[i, 1]), out, place)
    place = _put(SEPARATOR, nothing, SEPARATOR.size, out, place)
    target_count, source_count = np.int64(table.target_counts[pair]), np.int64(table.source_counts[source])
    joint_count = np.int64(table.joint_counts[pair])
    if target_count != 0 or source_count != 0 or joint_count != 0:
        place = _put_byte(SPACE, out, _put_number(target_count, out, place))
        place = _put_byte(SPACE, out, _put_number(source_count, out, place))
        place = _put_number(joint_count, out, place)
    place = _put(SEPARATOR, nothing, SEPARATOR.size, out, place)
    place = _put_word(lines.features, k, out, place)
    return _put(END, nothing, END.size, out, place)


@inner_kernel
def _put_words(words: Words, ids, first, last, out, place):
    for i in range(first, last):
        if i > first:
            place = _put_byte(SPACE, out, place)
        place = _put_word(words, np.int64(ids[i]), out, place)
    return place


@inner_kernel
def _put_score(texts, i, out, place):
    """Write the characters texts[i], which are ASCII, up to the first 0."""
    for j in range(texts.shape[1]):
        if texts[i, j] == 0:
            break
        place = _put_byte(texts[i, j], out, place)
    return place


@inner_kernel
def _put_word(words: Words, i, out, place):
    return _put(words.data, words.offsets[i], words.offsets[i + 1], out, place)


@inner_kernel
def _put(data, begin, end, out, place):
    """Write data[begin:end] to out[place:], if there is room; return the place after it."""
    if place + end - begin <= out.size:
        for i in range(end - begin):
            out[place + i] = data[begin + i]
    return place + end - begin


@inner_kernel
def _put_byte(byte, out, place):
    if place < out.size:
        out[place] = byte
    return place + 1


@inner_kernel
def _put_number(number, out, place):
    """Write the decimal digits of `number` (int64), which is not negative."""
    n_digits, power = 1, 10
    while power <= number:
        n_digits, power = n_digits + 1, 10 * power
    end = place + n_digits
    for i in range(n_digits):
        if end - 1 - i < out.size:
            out[end - 1 - i] = DIGIT_0 + number % 10
        number //= 10
    return end
