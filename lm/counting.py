"""Distinct n-grams of a text with their counts, in memory that does not grow with the text.

Every token is the end of one window of `order` words, padded with <s> at the left. Windows are distributed to buckets
on disk by their last word but one, and each bucket is sorted in memory. A bucket is a range of that word's ids, so that
n-grams with the same context, and n-grams and their suffixes, are in one bucket, as estimation needs them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.files import read_lines
from phrasebeam.base.spill import BucketFiles, RowFile
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.vocabulary import BEGIN, END, UNKNOWN, Vocabulary
from phrasebeam.process.hints import hint

SPECIALS = (UNKNOWN, BEGIN, END)  # words 0, 1 and 2 of every vocabulary of a language model
BEGIN_ID, END_ID = 1, 2
CHUNK = 1 << 19  # tokens that are processed at a time
KEY_BITS = 63  # of an int64 that stays positive


class Windows(NamedTuple):
    """All windows of a text, in files; bucket b has those with the last word but one in the b-th range of word ids."""

    files: BucketFiles  # int32[R, order] each, word ids
    bucket_of_word: np.ndarray  # int32[V], bucket of windows by their last word but one
    n_buckets: int


def text_tokens(
    paths: Sequence[str | Path], vocabulary: Vocabulary, order: int, classes: Mapping[str, str] | None = None
) -> Iterator[np.ndarray]:
    """Word ids of the texts `paths` in int32 chunks of whole sentences: order - 1 times <s>, the words, </s>.

    With `classes`, words become their classes, or <unk> if they have none. New words or classes are added to
    `vocabulary`, which must begin with SPECIALS. SPECIALS in the text are left out, as if they were white space, and a
    hint reports it. Raises FormatError if a text is not UTF-8.
    """
    padding, chunk = [BEGIN_ID] * (order - 1), []
    for path in paths:
        n_specials = 0
        for line in read_lines(path):
            words = split(line)
            found = without_specials(words)
            n_specials += len(words) - len(found)
            if classes is not None:
                found = [classes.get(word, UNKNOWN) for word in found]
            ids = [vocabulary.add(word) for word in found]
            chunk += padding
            chunk += ids
            chunk.append(END_ID)
            if len(chunk) >= CHUNK:
                yield np.array(chunk, np.int32)
                chunk = []
        if n_specials:
            what = f"{n_specials} words that language models keep for themselves ({', '.join(SPECIALS)})"
            hint(f"{path}: {what} were left out, as lmplz --skip_symbols does")
    if chunk:
        yield np.array(chunk, np.int32)


def without_specials(words: list[str]) -> list[str]:
    """The words that are not in SPECIALS."""
    if UNKNOWN in words or BEGIN in words or END in words:
        return [word for word in words if word not in SPECIALS]
    return words


def spill_windows(chunks: Iterator[np.ndarray], order: int, bucket_rows: Callable[[], int], directory: Path) -> Windows:
    """Write the windows of padded sentences (int32 `chunks`) to buckets of at most bucket_rows() in `directory`.

    `bucket_rows` is called when all words are known, since the vocabulary takes memory.

    All windows with the same last word but one are in one bucket, so a frequent word can make a larger bucket.
    """
    tokens = RowFile(directory / "tokens", np.int32)
    frequencies = np.zeros(len(SPECIALS), np.int64)
    for chunk in chunks:
        tokens.append(chunk)
        counts = np.bincount(chunk, minlength=frequencies.size)
        counts[: frequencies.size] += frequencies
        frequencies = counts
    # The last word but one is <s> in one window of each sentence, and is never </s>.
    frequencies[[BEGIN_ID, END_ID]] = frequencies[END_ID], 0
    bucket_of_word, n_buckets = _assign_buckets(frequencies, bucket_rows())
    files = BucketFiles(directory / "windows", np.int32, order)
    for begin in range(order - 1, tokens.n_rows, CHUNK):
        # Chunks overlap by order - 1 words, so that every window is whole in one of them.
        windows = _windows(tokens.read(begin - order + 1, min(begin + CHUNK, tokens.n_rows)), order)
        files.scatter(bucket_of_word[windows[:, -2]], windows)
    tokens.path.unlink()
    return Windows(files, bucket_of_word, n_buckets)


def _assign_buckets(frequencies: np.ndarray, bucket_rows: int) -> tuple[np.ndarray, int]:
    """int32[V] bucket of each word, so that consecutive words fill buckets of `bucket_rows`, and their number."""
    bucket_of_word = np.zeros(frequencies.size, np.int32)
    bucket = n_rows = 0
    for word, frequency in enumerate(frequencies.tolist()):
        if n_rows and n_rows + frequency > bucket_rows:
            bucket, n_rows = bucket + 1, 0
        bucket_of_word[word] = bucket
        n_rows += frequency
    return bucket_of_word, bucket + 1


def _windows(tokens: np.ndarray, order: int) -> np.ndarray:
    """int32[R, order] windows of the padded sentences `tokens` that do not end in <s>."""
    windows = np.lib.stride_tricks.sliding_window_view(tokens, order)
    return windows[windows[:, -1] != BEGIN_ID]


def sorted_counts(windows: np.ndarray, vocabulary_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of `windows` (int32[R, order]) and how often each occurs (int64[K]), in context order.

    Context order compares the last word but one first, then the words before it from right to left, and finally the
    last word. So n-grams of one context are together; and since buckets are ranges of the last word but one, all
    buckets in turn are in this order too: the result does not depend on their number.
    """
    key = _context_keys(windows, vocabulary_size)
    order = np.argsort(key)
    key = key[order]
    begins = group_begins(key)
    return windows[order[begins]], np.diff(begins, append=key.size)


def _context_keys(rows: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """int64[R] keys in the order of the context order of `rows` (int32[R, n]); equal for equal rows only."""
    width, used_bits = max(1, (vocabulary_size - 1).bit_length()), 0
    key = np.zeros(len(rows), np.int64)
    n = rows.shape[1]
    for column in [*range(n - 2, -1, -1), n - 1]:
        if used_bits + width > KEY_BITS:
            distinct, key = np.unique(key, return_inverse=True)
            used_bits = len(distinct).bit_length()
        key <<= width
        key |= rows[:, column]
        used_bits += width
    return key


def group_begins(rows: np.ndarray) -> np.ndarray:
    """int64[G] where each run of equal neighbours in `rows` ([R] or [R, n]) begins."""
    if not len(rows):
        return np.zeros(0, np.int64)
    changes = rows[1:] != rows[:-1]
    if changes.ndim == 2:
        changes = changes.any(axis=1)
    return np.flatnonzero(np.concatenate([[True], changes]))
