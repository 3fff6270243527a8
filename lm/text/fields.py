"""Lines of text as bytes inside kernels: fields separated by |||, and the words and numbers in them.

White space is that of ASCII, as in `corpus.split`.
"""

import numpy as np

from phrasebeam.kernels.decimals import read_number
from phrasebeam.kernels.jit import inlined_kernel, inner_kernel
from phrasebeam.lm.text.encoded_words import WordTable, add_word, find_word

NEWLINE, RETURN, TAB, SPACE, BAR = b"\n\r\t |"
DIGIT_0, DIGIT_9, MINUS, MARK, P = b"09-?p"
NONE = np.int64(-1)  # returned instead of a count if the text cannot be read here


@inlined_kernel
def is_blank(byte):
    """Whether `byte` (uint8) is white space."""
    return byte == SPACE or TAB <= byte <= RETURN


@inner_kernel
def line_end(text, begin):
    """The end of the line that begins at text[begin]: after its newline, or the end of `text` (uint8[n])."""
    while begin < text.size and text[begin] != NEWLINE:
        begin += 1
    return min(begin + 1, text.size)


@inner_kernel
def split_fields(text, begin, end, fields):
    """Set `fields` (int64[F, 2]) to the begin and end of each field of the line text[begin:end], without blanks.

    Returns the number of fields, at most F; if it is F, the last one is not set.
    """
    while end > begin and (text[end - 1] == NEWLINE or text[end - 1] == RETURN):
        end -= 1
    n_fields, i = 0, begin
    while n_fields < fields.shape[0] - 1:
        while i < end and not (text[i] == BAR and i + 2 < end and text[i + 1] == BAR and text[i + 2] == BAR):
            i += 1
        last = i
        while begin < last and (text[begin] == SPACE or text[begin] == TAB):
            begin += 1
        while begin < last and (text[last - 1] == SPACE or text[last - 1] == TAB):
            last -= 1
        fields[n_fields, 0], fields[n_fields, 1] = begin, last
        n_fields += 1
        if i == end:
            return n_fields
        i += 3
        begin = i
    return n_fields + 1


@inner_kernel
def has_bar(text, begin, end):
    """Whether text[begin:end] (uint8[n]) contains a |."""
    for i in range(begin, end):
        if text[i] == BAR:
            return True
    return False


@inner_kernel
def word_begin(text, begin, end):
    """The beginning of the first word of text[begin:end], or `end`."""
    while begin < end and is_blank(text[begin]):
        begin += 1
    return begin


@inner_kernel
def word_end(text, begin, end):
    """The end of the word that begins at text[begin], at most `end` (int64)."""
    while begin < end and not is_blank(text[begin]):
        begin += 1
    return begin


@inner_kernel
def add_words(table: WordTable, text, begin, end, ids, place):
    """Write the ids of the words of text[begin:end] to `ids` (int32[n]) from `place` (int64) on; returns their number.

    New words are added to `table`, which must have room.
    """
    first = place
    begin = word_begin(text, begin, end)
    while begin < end:
        behind = word_end(text, begin, end)
        ids[place] = add_word(table, text, begin, behind)
        place += 1
        begin = word_begin(text, behind, end)
    return place - first


@inner_kernel
def find_words_in(table: WordTable, text, begin, end, ids, place):
    """Write the ids of the words of text[begin:end], -1 for absent ones, to `ids` (int32[n]) from `place` (int64) on.

    Returns their number.
    """
    first = place
    begin = word_begin(text, begin, end)
    while begin < end:
        behind = word_end(text, begin, end)
        ids[place] = find_word(table.words, table.slots, text, begin, behind, np.int64(-1))
        place += 1
        begin = word_begin(text, behind, end)
    return place - first


@inner_kernel
def read_numbers(text, begin, end, numbers, place, most):
    """Write the numbers in text[begin:end] to `numbers` (float64[n]) from `place` on; return how many, or NONE.

    NONE if there are more than `most`, or if one needs float() to be read, see read_number.
    """
    n_numbers = np.int64(0)
    begin = word_begin(text, begin, end)
    while begin < end:
        behind = word_end(text, begin, end)
        if n_numbers == most or not read_number(text, begin, behind, numbers, place + n_numbers):
            return NONE
        n_numbers += 1
        begin = word_begin(text, behind, end)
    return n_numbers


@inner_kernel
def read_points(text, begin, end, points, place, most_digits, has_possible: bool):
    """Write the alignment points in text[begin:end], like 0-0 1-2, to `points` (int64[n, 2]) from `place` (int64) on.

    Positions have at most `most_digits` (int64) digits. With `has_possible`, points may also be 0?0 or 0p0. Returns the
    number of points, or NONE if there is anything else.
    """
    n_points = np.int64(0)
    begin = word_begin(text, begin, end)
    while begin < end:
        for side in range(2):
            number, first = np.int64(0), begin
            while begin < end and begin - first <= most_digits and DIGIT_0 <= text[begin] <= DIGIT_9:
                number = 10 * number + np.int64(text[begin] - DIGIT_0)
                begin += 1
            if not 0 < begin - first <= most_digits:
                return NONE
            points[place + n_points, side] = number
            if side == 0:
                if begin == end or not (
                    text[begin] == MINUS or (has_possible and (text[begin] == MARK or text[begin] == P))
                ):
                    return NONE
                begin += 1
        if begin < end and not is_blank(text[begin]):
            return NONE
        n_points += 1
        begin = word_begin(text, begin, end)
    return n_points


def line_at(text: bytearray, begin: int) -> bytearray:
    """The line that begins at position `begin`, including its line end."""
    return text[begin : text.find(b"\n", begin) + 1 or len(text)]
