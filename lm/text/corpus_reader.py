"""Text files as word ids; tokenized text is split, and its words are looked up, inside a kernel."""

from array import array
from pathlib import Path

import numpy as np

from phrasebeam.base.files import read_blocks, read_lines
from phrasebeam.kernels.jit import kernel
from phrasebeam.lm.text.corpus import Corpus, Words, split
from phrasebeam.lm.text.encoded_words import WordTable
from phrasebeam.lm.text.fields import add_words, line_end
from phrasebeam.lm.text.text_vocabulary import TextVocabulary, has_room
from phrasebeam.lm.text.vocabulary import Vocabulary


@kernel
def _add_lines(table: WordTable, text: np.ndarray, place: np.ndarray, offsets: np.ndarray, tokens: np.ndarray):
    """Write word ids of the lines of `text` (uint8[n]) to `tokens` (int32[...]), and `offsets` (int64[N + 1]).

    `place` (int64[2]), the next byte and the number of lines read, is advanced. Returns whether all lines were read; if
    not, `table` may lack room for the next one.
    """
    while place[0] < text.size:
        begin, line = place[0], place[1]
        end = line_end(text, begin)
        if not has_room(table, end - begin):
            return False
        offsets[line + 1] = offsets[line] + add_words(table, text, begin, end, tokens, offsets[line])
        place[0], place[1] = end, line + 1
    return True


def read_corpus(path: str | Path, vocabulary: Vocabulary, words: Words = split) -> Corpus:
    """Read text of one sentence per line, plain or compressed; words not in `vocabulary` are added to it."""
    if words is not split:
        return _read_by_words(path, vocabulary, words)
    known, ends, tokens = TextVocabulary(vocabulary.words), [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
    for block in read_blocks(path):
        offsets, ids = np.zeros(block.count(b"\n") + 2, np.int64), np.empty(len(block) // 2 + 1, np.int32)
        text, place = np.frombuffer(bytearray(block), np.uint8), np.zeros(2, np.int64)
        while not _add_lines(known.table, text, place, offsets, ids):
            known.make_room(block.find(b"\n", place[0]) + 1 or len(block))
        n_lines = int(place[1])
        ends.append(offsets[1 : n_lines + 1] + ends[-1][-1])
        tokens.append(ids[: offsets[n_lines]].copy())
    for word in known.words[len(vocabulary) :]:
        vocabulary.add(word)
    return Corpus(np.concatenate(ends), np.concatenate(tokens))


def _read_by_words(path: str | Path, vocabulary: Vocabulary, words: Words) -> Corpus:
    offsets, tokens = array("q", [0]), array("i")  # lists would need 8 bytes per word, and an object per sentence
    for line in read_lines(path):
        tokens.extend([vocabulary.add(word) for word in words(line)])
        offsets.append(len(tokens))
    return Corpus(np.array(offsets, np.int64), np.array(tokens, np.int32))
