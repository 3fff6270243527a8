"""Lines of text as word ids, by a kernel over their bytes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import direct, inlined_kernel, kernel
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary, Words, word_id

SPACE, TAB, CARRIAGE_RETURN = 32, 9, 13  # \t \n \v \f \r lie side by side, see corpus.split


class LineWords(NamedTuple):
    """The T words of N lines, whose text is `data`."""

    data: np.ndarray  # uint8[n], UTF-8 of all lines, without what ends a line
    offsets: np.ndarray  # int64[N + 1], words of line i are offsets[i]:offsets[i + 1]
    begin: np.ndarray  # int64[T], bytes of each word in `data`
    end: np.ndarray  # int64[T]
    ids: np.ndarray  # int32[T], -1 where the word is not in the vocabulary

    def word(self, i: int) -> str:
        return str(self.data[self.begin[i] : self.end[i]].data, "utf-8")


def line_words(lines: Sequence[str], vocabulary: FixedVocabulary) -> LineWords:
    """The words of `lines`, separated as by `split`, and their ids in `vocabulary`.

    >>> found = line_words(["der hund", "", "schläft"], model.source)
    >>> found.offsets.tolist(), found.word(2)
    ([0, 2, 2, 3], 'schläft')
    """
    encoded = [line.encode("utf-8") for line in lines]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    data = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    most = (data.size + len(encoded) + 1) // 2  # every word but the last of a line has a space behind it
    offsets, begin, end = np.zeros(len(encoded) + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    ids = np.empty(most, np.int32)
    found = LineWords(data, offsets, begin, end, ids)
    n_words = _find_words(found, ends, vocabulary.encoded, vocabulary.slots)
    return LineWords(data, offsets, begin[:n_words], end[:n_words], ids[:n_words])


@kernel
def find_words(lines: LineWords, ends, words: Words, slots):
    """Fill `lines`, whose texts end at `ends` (int64[N]), by `words` and their table `slots` (uint64[S]).

    Returns the number of words found (int64).
    """
    count, at = np.int64(0), np.int64(0)
    for line in range(ends.size):
        while at < ends[line]:
            if _is_space(lines.data[at]):
                at += 1
                continue
            lines.begin[count] = at
            while at < ends[line] and not _is_space(lines.data[at]):
                at += 1
            lines.end[count] = at
            lines.ids[count] = word_id(words, slots, lines.data, lines.begin[count], at, np.int64(-1))
            count += 1
        lines.offsets[line + 1] = count
    return count


@inlined_kernel
def _is_space(byte):
    return byte == SPACE or (byte >= TAB and byte <= CARRIAGE_RETURN)


_find_words = direct(find_words)
