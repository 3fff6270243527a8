"""Builds KenLM's probing tables from n-grams, byte for byte as build_binary does (Heafield 2011, lm/search_hashed.cc).

Signs have a meaning: a log10 probability without its sign bit means that a longer n-gram ends in this one; a backoff of
-0.0 means that no longer n-gram starts with this one, so that the state after it can be shorter.
"""

import mmap
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError, excerpt
from phrasebeam.base.files import atomic_file
from phrasebeam.base.mapped_pages import let_release
from phrasebeam.base.memory_bound import DEFAULT_MEMORY, memory_left
from phrasebeam.kernels.hashing import combine, murmur, remainder
from phrasebeam.kernels.jit import inner_kernel, kernel
from phrasebeam.lm.arpa import write_arpa
from phrasebeam.lm.ngrams import MAX_ORDER, NgramModel, NgramOrder
from phrasebeam.lm.probing import (
    ABSENT,
    UNIGRAMS,
    VOCABULARY,
    VOCABULARY_HEADER,
    Header,
    ProbingTables,
    entry_key,
    entry_width,
    find_entry,
    pack_header,
    table_starts,
    view_tables,
)
from phrasebeam.lm.text.encoded_words import encode
from phrasebeam.lm.text.vocabulary import BEGIN, END, UNKNOWN
from phrasebeam.system.descriptors import reserve

NGRAMS_AT_ONCE = 1 << 20
MULTIPLIER = 1.5  # buckets per entry
BUILT, FULL, DUPLICATE, NO_CONTEXT = 0, 1, 2, 3  # status of insertion
UNWRITABLE = re.compile("[\0 \t\r\n]|^$")
ARPA_SUFFIXES = (".arpa", ".arpa.gz", ".arpa.zst")


class _TableBuilder(NamedTuple):
    """Tables that are being filled, and scratch arrays for one n-gram."""

    tables: ProbingTables
    n_entries: np.ndarray  # int64[MAX_ORDER + 1], entries in each table
    keys: np.ndarray  # uint64[MAX_ORDER + 1], [n]: hash of the last n words of the n-gram
    positions: np.ndarray  # int64[MAX_ORDER + 1], [n]: unit of the entry of the last n words


@inner_kernel
def _find_or_insert(builder: _TableBuilder, table, key):
    """Unit of the entry of `key`, inserted if it is new, and whether it was there; ABSENT if the table is full."""
    tables = builder.tables
    position = find_entry(tables, table, key)
    if position != ABSENT:
        return position, True
    if builder.n_entries[table] + 1 >= np.int64(tables.buckets[table]):
        return np.int64(ABSENT), False
    builder.n_entries[table] += 1
    start, width = tables.starts[table], entry_width(tables.order, table)
    end = start + np.int64(tables.buckets[table]) * width
    position = start + np.int64(remainder(key, tables.buckets[table], tables.inverses[table])) * width
    while entry_key(tables.units, position) != np.uint64(0):
        position += width
        if position == end:
            position = start
    tables.units[position] = np.uint32(key & np.uint64(0xFFFFFFFF))
    tables.units[position + 1] = np.uint32(key >> np.uint64(32))
    return position, False


@kernel
def _insert_words(builder: _TableBuilder, data, offsets):
    """Insert words data[offsets[i]:offsets[i + 1]] (uint8) with ids from 1. Returns a status and the i it is about."""
    for i in range(offsets.size - 1):
        position, exists = _find_or_insert(builder, VOCABULARY, murmur(data, offsets[i], offsets[i + 1]))
        if exists:
            return DUPLICATE, i
        builder.tables.units[position + 2] = np.uint32(i + 1)
    return BUILT, 0


@kernel
def _insert_ngrams(builder: _TableBuilder, words, log10_prob, log10_backoff):
    """Insert n-grams `words` (int32[K, n]) with their float32[K] numbers. Returns a status and the row it is about."""
    tables = builder.tables
    n = words.shape[1]
    for i in range(words.shape[0]):
        key = np.uint64(words[i, n - 1])
        for m in range(2, n + 1):
            key = combine(key, np.int64(words[i, n - m]))
            builder.keys[m] = key
        position, exists = _find_or_insert(builder, n, key)
        if position == ABSENT:
            return FULL, i
        # It is not blank: blank entries of this length are only made for longer n-grams, which come later.
        if exists:
            return DUPLICATE, i
        tables.floats[position + 2] = -abs(log10_prob[i])
        if n < tables.order:
            tables.floats[position + 3] = log10_backoff[i]
        basis = _find_suffix(builder, words[i], n)
        if basis == ABSENT:
            return FULL, i
        _fill_blanks(builder, words[i], basis)
        for m in range(basis, n):
            value = builder.positions[m] + (0 if m == UNIGRAMS else 2)
            tables.floats[value] = abs(tables.floats[value])
        if _extend_backoff(tables, words[i], n - 1) == ABSENT:
            return NO_CONTEXT, i
    return BUILT, 0


@inner_kernel
def _find_suffix(builder: _TableBuilder, words, n):
    """Length of the longest proper suffix of n-gram `words` (int32[n]) that has an entry; ABSENT if a table is full.

    Inserts blank entries for longer suffixes, and writes the units of all these entries to `positions`.
    """
    for m in range(n - 1, UNIGRAMS, -1):
        position, exists = _find_or_insert(builder, m, builder.keys[m])
        if position == ABSENT:
            return np.int64(ABSENT)
        builder.positions[m] = position
        if exists:
            return np.int64(m)
        builder.tables.floats[position + 3] = np.float32(-0.0)
    builder.positions[UNIGRAMS] = builder.tables.starts[UNIGRAMS] + 2 * np.int64(words[n - 1])
    return np.int64(UNIGRAMS)


@inner_kernel
def _fill_blanks(builder: _TableBuilder, words, basis):
    """Fill the blank entries of suffixes of `words` longer than `basis` words with probabilities from backing off."""
    tables = builder.tables
    n = words.size
    value = builder.positions[basis] + (0 if basis == UNIGRAMS else 2)
    log10_prob = -abs(tables.floats[value])
    for m in range(basis, n - 1):
        position = _extend_backoff(tables, words[n - 1 - m :], m)
        if position != ABSENT:
            log10_prob += tables.floats[position]
        tables.floats[builder.positions[m + 1] + 2] = log10_prob


@inner_kernel
def _extend_backoff(tables: ProbingTables, words, m):
    """Mark words[:m] as the context of a longer n-gram; return the unit of its backoff, ABSENT if it has no entry."""
    if m == 1:
        position = tables.starts[UNIGRAMS] + 2 * np.int64(words[0]) + 1
    else:
        key = np.uint64(words[m - 1])
        for i in range(m - 2, -1, -1):
            key = combine(key, np.int64(words[i]))
        position = find_entry(tables, m, key)
        if position == ABSENT:
            return position
        position += 3
    if tables.floats[position] == 0:
        tables.floats[position] = np.float32(0.0)
    return position


def build_tables(
    model: NgramModel, new_image: Callable[[int], np.ndarray] = lambda size: np.zeros(size, np.uint8)
) -> tuple[np.ndarray, Header]:
    """Bytes (uint8) of a KenLM probing file without its words, and its header; `new_image` makes zeros to be filled.

    Raises ModelError if the order is not 2 to 8, or an n-gram occurs twice, has no context among the (n-1)-grams, or
    has a log10 probability above 0 or not finite. Tables are larger than usual if a pruned model lacks many suffixes.
    """
    _check(model)
    counts = tuple(len(order.words) for order in model.orders)
    multiplier = MULTIPLIER
    while True:
        header = Header(counts, multiplier, True)
        image = new_image(4 * table_starts(header)[1])
        if _fill(image, header, model):
            return image, header
        multiplier *= 2


def write_probing(model: NgramModel, path: str | Path, memory_bytes: int = DEFAULT_MEMORY) -> None:
    """Write the file that KenLM's build_binary would, with its words. Raises ModelError as `build_tables` does.

    Tables that do not fit into the remaining part of `memory_bytes` are filled in the file, which is mapped.
    """
    with atomic_file(path) as file:

        def new_image(size: int) -> np.ndarray:
            if size <= memory_left(memory_bytes) or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return np.zeros(size, np.uint8)
            os.ftruncate(file.fileno(), 0)
            reserve(file.fileno(), 0, size)  # otherwise a full disk would kill the process
            return let_release(np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8))

        image, _ = build_tables(model, new_image)
        if image.base is None:
            file.write(image.data)
        else:
            file.seek(image.size)
        file.write("".join(f"{word}\0" for word in model.vocabulary.words).encode("utf-8"))


def _fill(image: np.ndarray, header: Header, model: NgramModel) -> bool:
    """Fill `image` (uint8 zeros) with header and tables; return False if the tables are too small."""
    start = pack_header(header) + VOCABULARY_HEADER.pack(0, len(model.vocabulary))
    image[: len(start)] = np.frombuffer(start, np.uint8)
    tables = view_tables(image, header)
    n_entries, keys, positions = (np.zeros(MAX_ORDER + 1, dtype) for dtype in (np.int64, np.uint64, np.int64))
    builder = _TableBuilder(tables, n_entries, keys, positions)
    words = encode(model.vocabulary.words[1:])
    status, row = _insert_words(builder, words.data, words.offsets)
    if status == DUPLICATE:
        raise ModelError(f"the word {excerpt(model.vocabulary.words[row + 1])} has the hash of another word; rename it")
    unigrams = tables.floats[tables.starts[UNIGRAMS] :][: 2 * len(model.vocabulary)].reshape(-1, 2)
    unigrams[:, 0], unigrams[:, 1] = model.orders[0].log10_prob, _without_extension(model.orders[0])
    for order in model.orders[1:]:
        for piece in _pieces(order):
            status, row = _insert_ngrams(builder, piece.words, piece.log10_prob, _without_extension(piece))
            if status == FULL:
                return False
            if status != BUILT:
                raise ModelError(_explain(status, model, piece.words[row]))
    return True


def _pieces(order: NgramOrder) -> Iterator[NgramOrder]:
    """The n-grams in pieces of NGRAMS_AT_ONCE."""
    for begin in range(0, len(order.words), NGRAMS_AT_ONCE):
        words, log10_prob, log10_backoff = (array[begin : begin + NGRAMS_AT_ONCE] for array in order)
        yield NgramOrder(
            np.ascontiguousarray(words, np.int32), np.ascontiguousarray(log10_prob, np.float32), log10_backoff
        )


def _without_extension(order: NgramOrder) -> np.ndarray:
    """float32[K] log10 backoffs, with -0.0 for 0: so far no longer n-gram starts with this one."""
    return np.where(order.log10_backoff == 0, np.float32(-0.0), order.log10_backoff).astype(np.float32)


def _explain(status: int, model: NgramModel, ngram: np.ndarray) -> str:
    """The error for `status` DUPLICATE or NO_CONTEXT of `ngram` (int32[n])."""
    words = [model.vocabulary.words[word] for word in ngram]
    text = f"the {len(words)}-gram '{' '.join(words)}'"
    if status == DUPLICATE:
        return f"{text} is there twice; keep one of them"
    context = f"its context '{' '.join(words[:-1])}'"
    return f"{text} is there without {context}; do not prune n-grams with which longer ones begin"


def _check(model: NgramModel) -> None:
    if not 2 <= model.order <= MAX_ORDER:
        raise ModelError(
            f"a language model of order {model.order}: probing tables hold 2 to {MAX_ORDER}; train another"
        )
    words = model.vocabulary.words
    if words[:1] != [UNKNOWN] or BEGIN not in model.vocabulary.index or END not in model.vocabulary.index:
        raise ModelError(f"the words of a language model begin with {UNKNOWN} and include {BEGIN} and {END}")
    unwritable = next(filter(UNWRITABLE.search, words), None)
    if unwritable is not None:
        raise ModelError(f"the word {excerpt(unwritable)} is empty or contains white space; tokenize the text again")
    for n, order in enumerate(model.orders, 1):
        if not all(np.all((p.log10_prob <= 0) & np.isfinite(p.log10_prob)) for p in _pieces(order)):
            raise ModelError(f"a {n}-gram has a log probability above 0 or not finite; train the model again")
        if not all(np.all(np.isfinite(piece.log10_backoff)) for piece in _pieces(order)):
            raise ModelError(f"a {n}-gram has a backoff that is not finite; train the model again")
        if len(order.words) == 0 and any(len(longer.words) for longer in model.orders[n:]):
            raise ModelError(f"there are no {n}-grams, but longer ones; train the model again")


def write_model(model: NgramModel, path: Path, memory_bytes: int) -> None:
    """Write `model` as ARPA if `path` ends in one of ARPA_SUFFIXES, otherwise as KenLM's binary, see write_probing."""
    if path.name.endswith(ARPA_SUFFIXES):
        write_arpa(model, path)
    else:
        write_probing(model, path, memory_bytes)
