"""Lines of n-best lists, number ||| text ||| features ||| score ..., as arrays that a kernel fills.

Features are "name= value value ..."; in Moses' lists from before 2013, "name: value value ..."; in lists of Joshua and
cdec, "name=value".
"""

from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.output.rendering import restore_bars
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.text.encoded_words import WordTable, add_word
from phrasebeam.lm.text.fields import (
    DIGIT_0,
    DIGIT_9,
    line_end,
    read_numbers,
    split_fields,
    word_begin,
    word_end,
)
from phrasebeam.lm.text.text_vocabulary import has_room
from phrasebeam.training.nbest.nbest_store import LARGEST_VALUE

ONE = np.int64(1)
SENTENCE_DIGITS = 9
FIELDS = 4
READ, NO_ROOM, ODD = range(3)  # results of reading a line, see read_lines_of
# Indices of `place`: next byte; lines read; last sentence; features and values read; tries to read a line
NEXT, LINES, LAST, FEATURES, VALUES, TRIES = range(6)
EQUAL, COLON = b"=:"


class NbestLines(NamedTuple):
    """L lines of a list, which have Z features with V values in all."""

    text: np.ndarray  # uint8[n]
    begin: np.ndarray  # int64[L + 1], where in `text` each line begins, and where the last one ends
    sentence: np.ndarray  # int64[L]
    span: np.ndarray  # int64[L, 2], where in `text` the words of the hypothesis begin and end
    score: np.ndarray  # float64[L]
    feature_first: np.ndarray  # int64[L + 1], features of line i are feature_first[i]:feature_first[i + 1]
    name: np.ndarray  # int32[Z], number of the feature's name
    value_first: np.ndarray  # int64[Z + 1], values of feature z are value[value_first[z]:value_first[z + 1]]
    value: np.ndarray  # float64[V]

    def first(self, n: int) -> "NbestLines":
        """The first `n` lines; `text` stays that of all lines."""
        features = int(self.feature_first[n])
        values = int(self.value_first[features])
        return NbestLines(
            self.text,
            self.begin[: n + 1],
            self.sentence[:n],
            self.span[:n],
            self.score[:n],
            self.feature_first[: n + 1],
            self.name[:features],
            self.value_first[: features + 1],
            self.value[:values],
        )

    def lists(self) -> list[tuple[int, int]]:
        """The first line of the list of each sentence, and the line behind its last one."""
        begins = np.flatnonzero(np.diff(self.sentence, prepend=-1)).tolist()
        return list(zip(begins, [*begins[1:], self.sentence.size]))

    def hypotheses(self) -> list[str]:
        """The words of the hypothesis in each line, as text."""
        data = self.text.tobytes()
        return [restore_bars(data[begin:end].decode("utf-8")) for begin, end in self.span.tolist()]


@kernel
def read_lines_of(lines: NbestLines, place: np.ndarray, fields: np.ndarray, names: WordTable, seen: np.ndarray):
    """Read the lines of lines.text from place[NEXT] on. Returns READ, or why the next line was not read.

    NO_ROOM: `names` or `seen` may be too small. ODD: only Python can read the line. `place` (int64[6]) is advanced.
    `fields` (int64[6, 2]) is work space for the fields of a line; seen[i] (int64[...]) is the number of the last try to
    read a line with the name i, by which repeated names are found.
    """
    while place[NEXT] < lines.text.size:
        begin = place[NEXT]
        end = line_end(lines.text, begin)
        if not has_room(names, end - begin) or names.n_words[0] + (end - begin) > seen.size:
            return NO_ROOM
        place[TRIES] += 1
        if not _read_line(lines, place, begin, end, fields, names, seen):
            return ODD
        place[NEXT] = end
        lines.begin[place[LINES] + 1] = end
        place[LINES] += 1
    return READ


@inner_kernel
def _read_line(lines: NbestLines, place, begin, end, fields, names: WordTable, seen):
    """Read a line, if it has the usual format; return whether it was read."""
    text, line = lines.text, place[LINES]
    if split_fields(text, begin, end, fields) < FIELDS:
        return False
    sentence = _sentence(text, fields[0, 0], fields[0, 1])
    if not place[LAST] <= sentence <= max(place[LAST] + 1, np.int64(0)):
        return False
    if read_numbers(text, fields[3, 0], fields[3, 1], lines.score, line, ONE) != ONE:
        return False
    n_features = _read_features(lines, place, fields[2, 0], fields[2, 1], names, seen)
    if n_features < 0 or not abs(lines.score[line]) <= LARGEST_VALUE:
        return False
    lines.sentence[line] = sentence
    lines.span[line, 0], lines.span[line, 1] = fields[1, 0], fields[1, 1]
    place[LAST] = sentence
    place[FEATURES] += n_features
    place[VALUES] = lines.value_first[place[FEATURES]]
    lines.feature_first[line + 1] = place[FEATURES]
    return True


@inner_kernel
def _sentence(text, begin, end):
    """The number text[begin:end], or -2 if it is not a number."""
    if not 0 < end - begin <= SENTENCE_DIGITS:
        return np.int64(-2)
    number = np.int64(0)
    for i in range(begin, end):
        if not DIGIT_0 <= text[i] <= DIGIT_9:
            return np.int64(-2)
        number = 10 * number + np.int64(text[i] - DIGIT_0)
    return number


@inner_kernel
def _read_features(lines: NbestLines, place, begin, end, names: WordTable, seen):
    """Add the features in text[begin:end] to `lines`; return their number, or -1 if the format is unusual."""
    text, first, n_features, n_values = lines.text, place[FEATURES], np.int64(0), place[VALUES]
    begin = word_begin(text, begin, end)
    while begin < end:
        behind = word_end(text, begin, end)
        name_end = behind - 1
        is_named = text[name_end] == EQUAL or text[name_end] == COLON
        if not is_named:
            while name_end > begin and text[name_end] != EQUAL:
                name_end -= 1
            is_named = name_end > begin
        if is_named:
            name = add_word(names, text, begin, name_end)
            if seen[name] == place[TRIES]:
                return np.int64(-1)
            seen[name] = place[TRIES]
            lines.name[first + n_features] = name
            n_features += 1
        elif n_features == 0:
            return np.int64(-1)
        value_begin = name_end + 1 if is_named else begin
        if value_begin < behind:
            if read_numbers(text, value_begin, behind, lines.value, n_values, ONE) != ONE:
                return np.int64(-1)
            if not abs(lines.value[n_values]) <= LARGEST_VALUE:
                return np.int64(-1)
            n_values += 1
        lines.value_first[first + n_features] = n_values
        begin = word_begin(text, behind, end)
    return n_features


def room_for(text: bytearray) -> NbestLines:
    """Make arrays with room for all lines of `text`."""
    n_lines, n_tokens = text.count(b"\n") + 1, len(text) // 2 + 1
    return NbestLines(
        text=np.frombuffer(text, np.uint8),
        begin=np.zeros(n_lines + 1, np.int64),
        sentence=np.empty(n_lines, np.int64),
        span=np.empty((n_lines, 2), np.int64),
        score=np.empty(n_lines),
        feature_first=np.zeros(n_lines + 1, np.int64),
        name=np.empty(n_tokens, np.int32),
        value_first=np.zeros(n_tokens + 1, np.int64),
        value=np.empty(n_tokens),
    )
