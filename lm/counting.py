"""Distinct n-grams of a text with their counts, in memory that does not grow with the text.

Every token is the end of one window of `order` words, padded with <s> at the left. Windows go to buckets on disk by
their last word but one, and each bucket is sorted in memory. Ranges of that word keep together what estimation joins
(the n-grams of one context, and n-grams with their suffixes), which a hash of the whole n-gram would scatter.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.base.spill import BucketFiles, RowFile
from phrasebeam.lm.text.corpus import Corpus, split
from phrasebeam.lm.text.vocabulary import BEGIN, END, UNKNOWN, Vocabulary

SPECIALS = (UNKNOWN, BEGIN, END)
BEGIN_ID, END_ID = 1, 2
CHUNK = 1 << 19  # tokens read, coded or moved at a time
KEY_BITS = 63  # of an int64 that stays positive


class Windows(NamedTuple):
    """All windows of a text, spilled to buckets; bucket b holds consecutive word ids, in the order of b."""

    files: BucketFiles  # int32[R, order] each
    bucket_of_word: np.ndarray  # int32[V], bucket of the windows whose last word but one is this
    n_buckets: int


def text_tokens(
    paths: Sequence[str | Path], vocabulary: Vocabulary, order: int, classes: Mapping[str, str] | None = None
) -> Iterator[np.ndarray]:
    """Padded sentences of the texts `paths`, int32 chunks: order - 1 times <s>, the words, </s>.

    New words, or with `classes` new classes, are added to `vocabulary`, which must begin with SPECIALS. Raises
    FormatError where the text holds one of those, or is not text.
    """
    padding, chunk = [BEGIN_ID] * (order - 1), []
    for path in paths:
        for number, line in enumerate(read_lines(path), 1):
            words = split(line)
            for word in SPECIALS:
                if word in words:
                    raise _forbidden(path, word, number)
            if classes is not None:
                words = [classes.get(word, UNKNOWN) for word in words]
            ids = [vocabulary.add(word) for word in words]
            chunk += padding
            chunk += ids
            chunk.append(END_ID)
            if len(chunk) >= CHUNK:
                yield np.array(chunk, np.int32)
                chunk = []
    if chunk:
        yield np.array(chunk, np.int32)


def corpus_tokens(corpus: Corpus, vocabulary: Vocabulary, own: Vocabulary, order: int) -> Iterator[np.ndarray]:
    """Like `text_tokens` for a coded corpus; words that occur are added to `own`, which must begin with SPECIALS."""
    used, first = np.unique(corpus.tokens, return_index=True)
    own_ids = np.zeros(len(vocabulary), np.int32)
    for i in np.argsort(first):
        word = vocabulary.words[used[i]]
        if word in SPECIALS:
            sentence = int(np.searchsorted(corpus.offsets, first[i], "right"))
            raise _forbidden("corpus", word, sentence)
        own_ids[used[i]] = own.add(word)
    begin, n_sentences = 0, corpus.offsets.size - 1
    while begin < n_sentences:
        end = int(np.searchsorted(corpus.offsets, corpus.offsets[begin] + CHUNK, "right")) - 1
        end = min(max(end, begin + 1), begin + CHUNK, n_sentences)
        yield _padded(corpus.offsets[begin : end + 1], corpus.tokens, own_ids, order)
        begin = end


def _padded(offsets: np.ndarray, tokens: np.ndarray, own_ids: np.ndarray, order: int) -> np.ndarray:
    lengths = np.diff(offsets)
    ends = np.cumsum(lengths + order) - 1
    out = np.full(ends[-1] + 1, BEGIN_ID, np.int32)
    places = np.arange(offsets[0], offsets[-1]) - np.repeat(offsets[1:] - ends, lengths)
    out[places] = own_ids[tokens[offsets[0] : offsets[-1]]]
    out[ends] = END_ID
    return out


def _forbidden(path: str | Path, word: str, line: int) -> FormatError:
    message = f"the text holds the word {word}, which language models keep for themselves; remove or escape it"
    return FormatError(path, message, line)


def spill_windows(chunks: Iterator[np.ndarray], order: int, bucket_rows: int, directory: Path) -> Windows:
    """The windows of padded sentences, in buckets of at most `bucket_rows` in `directory`.

    A bucket holds at least the windows of one last word but one; that of a common word can be larger.
    """
    tokens = RowFile(directory / "tokens", np.int32)
    frequencies = np.zeros(len(SPECIALS), np.int64)
    for chunk in chunks:
        tokens.append(chunk)
        counts = np.bincount(chunk, minlength=frequencies.size)
        counts[: frequencies.size] += frequencies
        frequencies = counts
    # As the last word but one, <s> stands once a sentence, </s> never.
    frequencies[[BEGIN_ID, END_ID]] = frequencies[END_ID], 0
    bucket_of_word, n_buckets = _plan(frequencies, bucket_rows)
    files = BucketFiles(directory / "windows", np.int32, order)
    for begin in range(order - 1, tokens.n_rows, CHUNK):
        # Chunks overlap by order - 1, so that every window is whole in one of them.
        windows = _windows(tokens.read(begin - order + 1, min(begin + CHUNK, tokens.n_rows)), order)
        files.scatter(bucket_of_word[windows[:, -2]], windows)
    tokens.path.unlink()
    return Windows(files, bucket_of_word, n_buckets)


def _plan(frequencies: np.ndarray, bucket_rows: int) -> tuple[np.ndarray, int]:
    """Consecutive words into buckets of at most `bucket_rows`: int32[V] bucket of each word, their number."""
    bucket_of_word = np.zeros(frequencies.size, np.int32)
    bucket = filled = 0
    for word, frequency in enumerate(frequencies.tolist()):
        if filled and filled + frequency > bucket_rows:
            bucket, filled = bucket + 1, 0
        bucket_of_word[word] = bucket
        filled += frequency
    return bucket_of_word, bucket + 1


def _windows(tokens: np.ndarray, order: int) -> np.ndarray:
    """int32[R, order] windows of the padded sentences `tokens` that do not end in <s>."""
    windows = np.lib.stride_tricks.sliding_window_view(tokens, order)
    return windows[windows[:, -1] != BEGIN_ID]


def sorted_counts(windows: np.ndarray, vocabulary_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of `windows` (int32[R, order]) and how often each occurs (int64[K]), in context order.

    Context order compares the last word but one first, then the words before it one by one, at last the last word.
    It puts n-grams of one context together, and since buckets are ranges of the last word but one, buckets one after
    the other are in that order too: the result does not depend on their number.
    """
    key = _context_keys(windows, vocabulary_size)
    order = np.argsort(key)
    key = key[order]
    begins = group_begins(key)
    return windows[order[begins]], np.diff(begins, append=key.size)


def _context_keys(rows: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """int64[R] numbers whose order is the context order of `rows`; equal for equal rows only."""
    width, used = max(1, (vocabulary_size - 1).bit_length()), 0
    key = np.zeros(len(rows), np.int64)
    n = rows.shape[1]
    for column in [*range(n - 2, -1, -1), n - 1]:
        if used + width > KEY_BITS:
            distinct, key = np.unique(key, return_inverse=True)
            used = len(distinct).bit_length()
        key <<= width
        key |= rows[:, column]
        used += width
    return key


def group_begins(rows: np.ndarray) -> np.ndarray:
    """int64[G] where each run of equal neighbours in `rows` ([R] or [R, n]) begins."""
    if not len(rows):
        return np.zeros(0, np.int64)
    changes = rows[1:] != rows[:-1]
    if changes.ndim == 2:
        changes = changes.any(axis=1)
    return np.flatnonzero(np.concatenate([[True], changes]))
