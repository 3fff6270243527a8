"""Builds KenLM's probing tables from n-grams, byte for byte as build_binary does (Heafield 2011, lm/search_hashed.cc).

Signs carry meaning. A probability without its sign bit says that a longer n-gram ends in this one; a backoff of
-0.0 says that no longer n-gram starts with it, so that the state after it can be shorter.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import ModelError
from phrasebeam.base.files import atomic_file
from phrasebeam.kernels.hashing import combine, murmur, remainder
from phrasebeam.kernels.jit import inner_kernel, kernel
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
from phrasebeam.lm.text.vocabulary import BEGIN, END, UNKNOWN

MULTIPLIER = 1.5
BUILT, FULL, DUPLICATE, NO_CONTEXT = 0, 1, 2, 3  # how inserting ended
UNWRITABLE = re.compile("[\0 \t\r\n]|^$")


class _Building(NamedTuple):
    """Tables while they are filled, and scratch memory for one n-gram."""

    tables: ProbingTables
    used: np.ndarray  # int64[MAX_ORDER + 1], entries in each table
    keys: np.ndarray  # uint64[MAX_ORDER + 1], hash of the last n words
    positions: np.ndarray  # int64[MAX_ORDER + 1], unit of their entry


@inner_kernel
def _find_or_insert(building, table, key):
    """Unit of the entry of `key`, which is made if need be, and whether it was there; ABSENT if the table is full."""
    tables = building.tables
    position = find_entry(tables, table, key)
    if position != ABSENT:
        return position, True
    if building.used[table] + 1 >= np.int64(tables.buckets[table]):
        return np.int64(ABSENT), False
    building.used[table] += 1
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
def _insert_words(building, data, offsets):
    """Number the words data[offsets[i]:offsets[i + 1]] (uint8) from 1. Returns a status and the word it is about."""
    for i in range(offsets.size - 1):
        position, found = _find_or_insert(building, VOCABULARY, murmur(data, offsets[i], offsets[i + 1]))
        if found:
            return DUPLICATE, i
        building.tables.units[position + 2] = np.uint32(i + 1)
    return BUILT, 0


@kernel
def _insert_ngrams(building, words, log10_prob, log10_backoff):
    """Insert the n-grams words[K, n] in their order. Returns a status and the n-gram it is about."""
    tables = building.tables
    n = words.shape[1]
    for i in range(words.shape[0]):
        key = np.uint64(words[i, n - 1])
        for m in range(2, n + 1):
            key = combine(key, np.int64(words[i, n - m]))
            building.keys[m] = key
        position, found = _find_or_insert(building, n, key)
        if position == ABSENT:
            return FULL, i
        # A blank entry can be there already only if it was filled in for a longer n-gram, and those come later.
        if found:
            return DUPLICATE, i
        tables.floats[position + 2] = -abs(log10_prob[i])
        if n < tables.order:
            tables.floats[position + 3] = log10_backoff[i]
        basis = _find_suffix(building, words[i], n)
        if basis == ABSENT:
            return FULL, i
        _fill_blanks(building, words[i], basis)
        for m in range(basis, n):
            value = building.positions[m] + (0 if m == UNIGRAMS else 2)
            tables.floats[value] = abs(tables.floats[value])
        if _extend_backoff(tables, words[i], n - 1) == ABSENT:
            return NO_CONTEXT, i
    return BUILT, 0


@inner_kernel
def _find_suffix(building, words, n):
    """Length of the longest proper suffix of the n-gram `words` that has an entry; blank ones are made for the longer.

    Their units are left in `positions`. ABSENT if a table is full.
    """
    for m in range(n - 1, UNIGRAMS, -1):
        position, found = _find_or_insert(building, m, building.keys[m])
        if position == ABSENT:
            return np.int64(ABSENT)
        building.positions[m] = position
        if found:
            return np.int64(m)
        building.tables.floats[position + 3] = np.float32(-0.0)
    building.positions[UNIGRAMS] = building.tables.starts[UNIGRAMS] + 2 * np.int64(words[n - 1])
    return np.int64(UNIGRAMS)


@inner_kernel
def _fill_blanks(building, words, basis):
    """Give the blank suffixes of `words` longer than `basis` the probabilities that backing off would."""
    tables = building.tables
    n = words.size
    value = building.positions[basis] + (0 if basis == UNIGRAMS else 2)
    log10_prob = -abs(tables.floats[value])
    for m in range(basis, n - 1):
        position = _extend_backoff(tables, words[n - 1 - m :], m)
        if position != ABSENT:
            log10_prob += tables.floats[position]
        tables.floats[building.positions[m + 1] + 2] = log10_prob


@inner_kernel
def _extend_backoff(tables, words, m):
    """Mark that words[:m] is a context, and return the unit of its backoff, ABSENT if it has no entry."""
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


def build_tables(model: NgramModel) -> tuple[np.ndarray, Header]:
    """Bytes (uint8) of a KenLM probing file without its words, and its header.

    Raises ModelError if the order is not 2 to 6, an n-gram stands twice, starts with words that are no (n-1)-gram, or
    has an impossible probability. Takes more room than usual where a pruned model lacks many suffixes of its n-grams.
    """
    _check(model)
    counts = tuple(len(order.words) for order in model.orders)
    multiplier = MULTIPLIER
    while True:
        header = Header(counts, multiplier, True)
        image = np.zeros(4 * table_starts(header)[1], np.uint8)
        if _fill(image, header, model):
            return image, header
        multiplier *= 2


def write_probing(model: NgramModel, path: str | Path) -> None:
    """Write `model` as KenLM's build_binary would, words included. Raises ModelError as `build_tables` does."""
    image, _ = build_tables(model)
    with atomic_file(path) as file:
        file.write(image.data)
        file.write("".join(f"{word}\0" for word in model.vocabulary.words).encode("utf-8"))


def _fill(image: np.ndarray, header: Header, model: NgramModel) -> bool:
    """Write header and tables to `image` (uint8, zeros); False if its tables are too small."""
    start = pack_header(header) + VOCABULARY_HEADER.pack(0, len(model.vocabulary))
    image[: len(start)] = np.frombuffer(start, np.uint8)
    tables = view_tables(image, header)
    scratch = np.zeros(MAX_ORDER + 1, np.uint64)
    building = _Building(tables, np.zeros(MAX_ORDER + 1, np.int64), scratch, np.zeros(MAX_ORDER + 1, np.int64))
    encoded = [word.encode("utf-8") for word in model.vocabulary.words[1:]]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    status, which = _insert_words(building, np.frombuffer(bytearray(b"".join(encoded)), np.uint8), offsets)
    if status == DUPLICATE:
        raise ModelError(f"the word {model.vocabulary.words[which + 1]!r} has the hash of another word; rename it")
    unigrams = tables.floats[tables.starts[UNIGRAMS] :][: 2 * len(encoded) + 2].reshape(-1, 2)
    unigrams[:, 0], unigrams[:, 1] = model.orders[0].log10_prob, _without_extension(model.orders[0])
    for order in model.orders[1:]:
        words = np.ascontiguousarray(order.words, np.int32)
        log10_prob = np.ascontiguousarray(order.log10_prob, np.float32)
        status, which = _insert_ngrams(building, words, log10_prob, _without_extension(order))
        if status == FULL:
            return False
        if status != BUILT:
            raise ModelError(_explain(status, model, order.words[which]))
    return True


def _without_extension(order: NgramOrder) -> np.ndarray:
    """float32 backoffs with zeros negative: until a longer n-gram is seen, none starts with these."""
    return np.where(order.log10_backoff == 0, np.float32(-0.0), order.log10_backoff).astype(np.float32)


def _explain(status: int, model: NgramModel, ngram: np.ndarray) -> str:
    words = [model.vocabulary.words[word] for word in ngram]
    text = f"the {len(words)}-gram '{' '.join(words)}'"
    if status == DUPLICATE:
        return f"{text} stands twice; keep one of them"
    context = f"its context '{' '.join(words[:-1])}'"
    return f"{text} is there without {context}; prune no n-gram that longer ones start with"


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
        raise ModelError(f"the word {unwritable!r} is empty or contains white space; tokenize the text again")
    for n, order in enumerate(model.orders, 1):
        if not (np.all(order.log10_prob <= 0) and np.all(np.isfinite(order.log10_prob))):
            raise ModelError(f"a {n}-gram has a log probability above 0 or not finite; train the model again")
        if not np.all(np.isfinite(order.log10_backoff)):
            raise ModelError(f"a {n}-gram has a backoff that is not finite; train the model again")
        if len(order.words) == 0 and any(len(longer.words) for longer in model.orders[n:]):
            raise ModelError(f"there are no {n}-grams but longer ones; train the model again")
