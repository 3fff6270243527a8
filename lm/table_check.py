"""A check of the hash tables of a language model: each word and each n-gram must be where queries look for it.

An n-gram is identified only by the hash of its words, so numbers of another n-gram are not detected.
"""

from collections.abc import Iterator

import numpy as np

from phrasebeam.base.errors import excerpt
from phrasebeam.kernels.hashing import murmur
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.lm.language_model import LanguageModel
from phrasebeam.lm.probing import ABSENT, UNIGRAMS, VOCABULARY, ProbingTables, entry_key, entry_width, find_entry

AT_ONCE = 1 << 20  # buckets that are checked together
ZERO, NO_BUCKET = np.int64(0), np.int64(-1)


def contradictions(model: LanguageModel) -> Iterator[str]:
    """Contradictions in a language model: the first of each kind in each of its tables."""
    n_words, found = model.n_words, False
    for table in (int(VOCABULARY), *range(2, model.order + 1)):
        for message in _numbers(model.tables, table, n_words):
            found = True
            yield message
    for word in np.flatnonzero(~np.isfinite(_unigrams(model.tables, n_words)).all(axis=1))[:1]:
        yield f"{_unigrams(model.tables, n_words)[word]} of word {word}, expected finite numbers"
    if not found:  # searches end at an empty bucket
        for table in (int(VOCABULARY), *range(2, model.order + 1)):
            yield from _lost_entries(model, table)
        yield from _other_words(model)


def _name(table: int) -> str:
    return "words" if table == VOCABULARY else f"{table}-grams"


def _unigrams(tables: ProbingTables, n_words: int) -> np.ndarray:
    """float32[n_words, 2] log10 probabilities and backoffs."""
    return tables.floats[tables.starts[UNIGRAMS] :][: 2 * n_words].reshape(-1, 2)


def _numbers(tables: ProbingTables, table: int, n_words: int) -> Iterator[str]:
    """The first wrong id or number in a hash table, and the first word whose id does not occur exactly once."""
    start, width, buckets = int(tables.starts[table]), entry_width(tables.order, table), int(tables.buckets[table])
    has_empty, name, times = False, _name(table), np.zeros(n_words if table == VOCABULARY else 0, np.int32)
    for first in range(0, buckets, AT_ONCE):
        size = min(AT_ONCE, buckets - first)
        units = tables.units[start + first * width :][: size * width].reshape(size, width)
        used = units[:, :2].any(axis=1)
        has_empty |= not used.all()
        if table == VOCABULARY:
            values, is_wrong = units[:, 2], (units[:, 2] == 0) | (units[:, 2] >= n_words)
            expected = f"ids from 1 to {n_words - 1}"
            np.add.at(times, values[used & ~is_wrong], 1)
        else:
            values = units[:, 2:].view(np.float32)
            is_wrong, expected = ~np.isfinite(values).all(axis=1), "finite numbers"
        for row in np.flatnonzero(used & is_wrong)[:1]:
            yield f"{values[row]} in bucket {first + row} of the {name}, expected {expected}"
            return
    if not has_empty:
        yield f"no empty bucket among the {buckets} of the {name}, expected some"
    for word in np.flatnonzero(times[1:] != 1)[:1] + 1:  # <unk>, whose id is 0, is not in the table
        yield f"the id {word} is in {times[word]} buckets of the words, expected 1"


@kernel
def find_lost_entry(tables: ProbingTables, table):
    """The first bucket of hash table `table` (int64) whose entry is not found there, and the bucket that is found.

    Both are int64. If all are found, NO_BUCKET and the number of entries. ABSENT: the key is not found at all.
    """
    start, width, n_entries = tables.starts[table], entry_width(tables.order, table), ZERO
    for bucket in range(np.int64(tables.buckets[table])):
        position = start + bucket * width
        key = entry_key(tables.units, position)
        if key != np.uint64(0):
            n_entries += 1
            found = find_entry(tables, table, key)
            if found != position:
                return np.int64(bucket), np.int64(ABSENT) if found == ABSENT else (found - start) // width
    return NO_BUCKET, n_entries


def _lost_entries(model: LanguageModel, table: int) -> Iterator[str]:
    """The first entry of a hash table that searches do not find, or a report that there are too few entries."""
    bucket, found = find_lost_entry(model.tables, np.int64(table))
    if bucket == NO_BUCKET:
        expected = model.n_words - 1 if table == VOCABULARY else model.counts[table - 1]
        if found < expected:  # there may be more: suffixes that the original model lacked
            yield f"{found} {_name(table)}, expected at least {expected} as the header says"
    elif found == ABSENT:
        message = "no query finds it, expected no empty bucket between the place that its hash names and this one"
        yield f"bucket {bucket} of the {_name(table)}: {message}"
    else:
        yield f"bucket {bucket} of the {_name(table)}: its hash is in bucket {found}, too, expected once"


@kernel
def find_other_word(tables: ProbingTables, ended):
    """The first of the words in `ended` (uint8[B], each followed by a zero) whose id is not its number.

    Returns its number, its id (0 if it is unknown), and its begin and end, all int64; the number of words and zeros if
    there is none. The first word, <unk>, is not checked.
    """
    number, begin = ZERO, ZERO
    for end in range(ended.size):
        if ended[end] == 0:
            if number > 0:
                word_id = _word_id(tables, ended, begin, np.int64(end))
                if word_id != number:
                    return number, word_id, begin, np.int64(end)
            number, begin = number + 1, np.int64(end) + 1
    return number, ZERO, ZERO, ZERO


@inlined_kernel
def _word_id(tables: ProbingTables, data, begin, end):
    """The id (int64) of the word data[begin:end], 0 if it is unknown."""
    position = find_entry(tables, VOCABULARY, murmur(data, begin, end))
    return ZERO if position == ABSENT else np.int64(tables.units[position + 2])


def _other_words(model: LanguageModel) -> Iterator[str]:
    """The first of the words at the end of the file that differs from the word that the hash table finds."""
    number, word_id, begin, end = find_other_word(model.tables, model.ended_words)
    if end:
        word = excerpt(model.ended_words[begin:end].tobytes().decode("utf-8", "replace"))
        found = f"has the id {word_id}" if word_id else "is not found"
        yield f"the word {word} at the end of the file {found}, expected {number}, its place there"
