"""Lines of text as word ids, by a kernel over their bytes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phrasebeam.kernels.jit import direct, kernel
from phrasebeam.lm.text.encoded_words import Words, find_word
from phrasebeam.lm.text.fields import word_begin, word_end
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary


class LineWords(NamedTuple):
    """The T words of N lines, whose text is `data`."""

    data: np.ndarray  # uint8[n], UTF-8 of all lines, without line ends
    offsets: np.ndarray  # int64[N + 1], words of line i are offsets[i]:offsets[i + 1]
    begin: np.ndarray  # int64[T], bytes of each word in `data`
    end: np.ndarray  # int64[T]
    ids: np.ndarray  # int32[T], -1 for words that are not in the vocabulary

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
    most = (data.size + len(encoded) + 1) // 2  # every word but the last of a line has a space after it
    offsets, begin, end = np.zeros(len(encoded) + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    ids = np.empty(most, np.int32)
    found = LineWords(data, offsets, begin, end, ids)
    n_words = _find_words(found, ends, vocabulary.encoded, vocabulary.slots)
    return LineWords(data, offsets, begin[:n_words], end[:n_words], ids[:n_words])


@kernel
def find_words(lines: LineWords, ends, words: Words, slots):
    """Fill `lines`, whose texts end at `ends` (int64[N]), using `words` and their hash table `slots` (uint64[S]).

    Returns the number of words found (int64).
    """
    count, begin = np.int64(0), np.int64(0)
    for line in range(ends.size):
        begin = word_begin(lines.data, begin, ends[line])
        while begin < ends[line]:
            end = word_end(lines.data, begin, ends[line])
            lines.begin[count], lines.end[count] = begin, end
            lines.ids[count] = find_word(words, slots, lines.data, begin, end, np.int64(-1))
            count += 1
            begin = word_begin(lines.data, end, ends[line])
        lines.offsets[line + 1] = count
    return count


_find_words = direct(find_words)
