"""The texts of the best derivations of plain sentences, written by a kernel that copies the bytes of words."""

import numpy as np

from phrasebeam.decoder.search.sentence_batch import BestDerivations
from phrasebeam.decoder.tables.phrase_table import PhraseTable
from phrasebeam.kernels.jit import direct, inlined_kernel, kernel
from phrasebeam.lm.text.encoded_words import Words
from phrasebeam.lm.text.fields import SPACE
from phrasebeam.lm.text.line_words import LineWords

FULL = np.int64(-1)  # returned if there is not enough room
BYTES_OF_PHRASE = 32  # initial room for each phrase


def batch_texts(
    found: BestDerivations, n_found: int, table: PhraseTable, target: Words, lines: LineWords, unknown: np.ndarray
) -> list[str]:
    """The translations of the first `n_found` sentences, as tokens separated by spaces.

    `target` are the target words, `unknown` (int64[K]) the indices in `lines` of all copied words.
    """
    ends, size = np.empty(n_found, np.int64), int(found.offsets[n_found]) * BYTES_OF_PHRASE
    while True:
        text = np.empty(size, np.uint8)
        written = _write_texts(found, table, target, lines, unknown, text, ends)
        if written != FULL:
            break
        size = 2 * size + BYTES_OF_PHRASE
    view, begin, texts = text.data, 0, list[str]()
    for end in ends.tolist():
        texts.append(str(view[begin:end], "utf-8"))
        begin = end
    return texts


@kernel
def write_texts(found: BestDerivations, table: PhraseTable, target: Words, lines: LineWords, unknown, text, ends):
    """Write the texts of the first N sentences, given `ends` (int64[N]); return the number of bytes written, or FULL.

    For each sentence, `ends` gets the end of its text in `text` (uint8[n]). Synthetic pairs of a sentence are its
    unknown words.
    """
    size, copied = np.int64(0), np.int64(0)
    for i in range(ends.size):
        first_unknown = copied
        while copied < unknown.size and unknown[copied] < lines.offsets[i + 1]:
            copied += 1
        begin = size
        for k in range(found.offsets[i], found.offsets[i + 1]):
            pair = found.pair[k]
            if pair < 0:
                word = unknown[first_unknown - 1 - pair]
                size = _append(lines.data, lines.begin[word], lines.end[word], text, begin, size)
                if size == FULL:
                    return FULL
                continue
            for j in range(table.target_offsets[pair], table.target_offsets[pair + 1]):
                word = np.int64(table.target_words[j])
                size = _append(target.data, target.offsets[word], target.offsets[word + 1], text, begin, size)
                if size == FULL:
                    return FULL
        ends[i] = size
    return size


@inlined_kernel
def _append(data, first, end, text, begin, size):
    """Append data[first:end] to the sentence text[begin:size], after a space if it has words; return size, or FULL."""
    if size + 1 + end - first > text.size:
        return FULL
    if size > begin:
        text[size] = SPACE
        size += 1
    for k in range(first, end):
        text[size + k - first] = data[k]
    return size + end - first


_write_texts = direct(write_texts)
