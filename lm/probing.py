"""KenLM's probing models: one hash table per order, all of them views of the bytes of one file (Heafield 2011).

The file has a header, the table of words, the unigrams, a table for each longer order, and the words themselves.
Entries (words: hash, id; middle orders: hash, probability, backoff; longest: hash, probability) are packed without
alignment, hence the view as 32-bit units.
"""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.mapped_pages import map_file
from phrasebeam.kernels.compilation.argument_kinds import by_value
from phrasebeam.kernels.hashing import reciprocal, remainder
from phrasebeam.kernels.jit import inlined_kernel, kernel
from phrasebeam.kernels.prefetch import prefetch
from phrasebeam.lm.ngrams import MAX_ORDER

VOCABULARY, UNIGRAMS = np.int64(0), np.int64(1)  # index of a table; the n-grams of a longer order have index n
ABSENT = -1  # result of `find_entry` if there is no such entry
NO_EXTENSION = np.uint32(0x80000000)  # a backoff of -0.0: this n-gram is not the context of any longer n-gram
SIGN = np.uint32(0x80000000)  # sign bit of a probability: no longer n-gram ends in this one

MAGIC = b"mmap lm http://kheafield.com/code format version"
MAGIC_UNFINISHED = b"mmap lm http://kheafield.com/code incomplete"
SANITY = struct.Struct("<56s3f3IQ")  # KenLM's Sanity: magic, then numbers that show byte order and sizes
PARAMETERS = struct.Struct("<B3xfiB3xI")  # order, probing multiplier, model type, whether words are included, version
VOCABULARY_HEADER = struct.Struct("<II")  # version, bound of word ids
# Values that KenLM writes in this version on machines like ours.
EXPECTED_SANITY = SANITY.pack(MAGIC + b" 5\n", 0.0, 1.0, -0.5, 1, 0xFFFFFFFF, 0, 1)
PROBING = 0
MOST_WORDS = (1 << 31) - 1  # ids are int32
AT_ONCE = 1 << 12  # buckets or bytes that are checked together when a file is opened
MODEL_TYPES = (  # KenLM's ModelType
    "probing hash tables",
    "probing hash tables with rest costs",
    "a trie",
    "a trie with quantization",
    "a trie with array-compressed pointers",
    "a trie with quantization and array-compressed pointers",
)
REBUILD = "build it from its ARPA file: build_binary probing MODEL.arpa MODEL.bin"


class Header(NamedTuple):
    """The header of a file."""

    counts: tuple[int, ...]  # n-grams of each order
    multiplier: float  # buckets per entry, a float32
    has_words: bool  # whether the words are at the end of the file


@by_value
class ProbingTables(NamedTuple):
    """Views of one file or memory image; index of a table: VOCABULARY, UNIGRAMS, or the length n of its n-grams."""

    order: int  # words of the longest n-grams
    units: np.ndarray  # uint32[U], the file up to its words
    floats: np.ndarray  # float32[U], the same memory
    starts: np.ndarray  # int64[MAX_ORDER + 1], unit at which each table starts
    buckets: np.ndarray  # uint64[MAX_ORDER + 1], size of each hash table
    inverses: np.ndarray  # uint64[MAX_ORDER + 1], reciprocals of `buckets`


@inlined_kernel
def find_entry(tables: ProbingTables, table, key):
    """Unit (int64) at which the entry of hash `key` (uint64) starts in table `table` (int64), or ABSENT."""
    start, buckets, width = tables.starts[table], tables.buckets[table], entry_width(tables.order, table)
    position = start + np.int64(remainder(key, buckets, tables.inverses[table])) * width
    end = start + np.int64(buckets) * width
    for _ in range(np.int64(buckets)):  # a damaged table may have no empty bucket
        entry = entry_key(tables.units, position)
        if entry == key:
            return position
        if entry == np.uint64(0):
            return np.int64(ABSENT)
        position += width
        if position == end:
            position = start
    return np.int64(ABSENT)


@inlined_kernel
def prefetch_entry(tables: ProbingTables, table, key):
    """Prefetch the first bucket that find_entry will read for hash `key` (uint64) in table `table` (int64)."""
    bucket = np.int64(remainder(key, tables.buckets[table], tables.inverses[table]))
    prefetch(tables.units, tables.starts[table] + bucket * entry_width(tables.order, table))


@kernel
def entry_width(order, table):
    """Units of an entry in table `table` (int64) of a model of `order` (int64)."""
    if table == UNIGRAMS:
        return 2
    if table == VOCABULARY:
        return 3
    return 3 if table == order else 4


@inlined_kernel
def entry_key(units: np.ndarray, position):
    """uint64 hash at unit `position` (int64) of `units` (uint32[U])."""
    return np.uint64(units[position]) | (np.uint64(units[position + 1]) << np.uint64(32))


def view_tables(image: np.ndarray, header: Header) -> ProbingTables:
    """The tables in `image`, the bytes (uint8) of a file with `header`, without copying."""
    order = len(header.counts)
    first_units, end = table_starts(header)
    starts = np.zeros(MAX_ORDER + 1, np.int64)
    starts[: order + 1] = first_units
    buckets = np.ones(MAX_ORDER + 1, np.uint64)
    buckets[VOCABULARY] = bucket_count(header.counts[0], header.multiplier)
    for n in range(2, order + 1):
        buckets[n] = bucket_count(header.counts[n - 1], header.multiplier)
    units = image[: 4 * end]
    return ProbingTables(order, units.view(np.uint32), units.view(np.float32), starts, buckets, reciprocal(buckets))


def table_starts(header: Header) -> tuple[list[int], int]:
    """The units at which the tables start, and the unit after the last: beyond any file, if the header is damaged."""
    order, starts = len(header.counts), []
    position = (header_size(order) + VOCABULARY_HEADER.size) // 4
    for table in range(order + 1):
        starts.append(position)
        count = header.counts[max(table - 1, 0)]
        # The table of unigrams has space for an <unk> that is not counted.
        entries = count + 1 if table == UNIGRAMS else bucket_count(count, header.multiplier)
        position += entries * entry_width(order, table)
    return starts, position


def bucket_count(entries: int, multiplier: float) -> int:
    """Buckets of a hash table for `entries`, computed in float32 as in KenLM."""
    return max(entries + 1, int(np.float32(multiplier) * np.float32(entries)))


def header_size(order: int) -> int:
    """Bytes of the header of a model of `order`, after which the table of words begins."""
    return (SANITY.size + PARAMETERS.size + 8 * order + 7) // 8 * 8


def pack_header(header: Header) -> bytes:
    """The header as bytes, header_size(order) of them."""
    order = len(header.counts)
    parameters = PARAMETERS.pack(order, header.multiplier, PROBING, header.has_words, 0)
    packed = EXPECTED_SANITY + parameters + struct.pack(f"<{order}Q", *header.counts)
    return packed.ljust(header_size(order), b"\0")


def map_image(path: str | Path) -> tuple[np.ndarray, Header]:
    """Bytes (uint8) of a KenLM probing file, mapped copy-on-write, and its header.

    Raises FormatError for other files, and if the tables or the words do not fit the header.
    """
    path = Path(path)
    size = path.stat().st_size
    if size < SANITY.size + PARAMETERS.size:
        raise FormatError(path, f"{size} bytes are too few for a KenLM binary; copy the file again")
    image = map_file(path, np.uint8)
    header = _parse_header(image, path)
    end = 4 * table_starts(header)[1]
    if size < end + header.has_words * len(b"<unk>\0"):
        raise FormatError(path, f"{size} bytes, but its header announces at least {end}: cut short; copy it again")
    version, bound = VOCABULARY_HEADER.unpack_from(image.data, header_size(len(header.counts)))
    if version != 0 or not 0 < bound <= min(header.counts[0] + 1, MOST_WORDS):
        raise FormatError(path, f"damaged table of words (version {version}, {bound} words); {REBUILD}")
    if header.has_words:
        _check_words(image[end:], bound, path)
    tables = view_tables(image, header)
    for table in (VOCABULARY, *range(2, tables.order + 1)):
        if not _has_empty_bucket(tables, table):
            message = f"no empty bucket among the {tables.buckets[table]} of table {table}, expected some"
            raise FormatError(path, f"{message}; copy it again or {REBUILD}")
    return image, header


def _check_words(ended: np.ndarray, expected: int, path: Path) -> None:
    """Raise FormatError unless `ended` (uint8) has `expected` words, <unk> first, each followed by a zero."""
    if ended[:6].tobytes() != b"<unk>\0":
        raise FormatError(path, f"the words are not at their place; {REBUILD}")
    if ended[-1] != 0:
        raise FormatError(path, "cut short, or longer than it should be: its last word is not ended; copy it again")
    pieces = (ended[first : first + AT_ONCE] for first in range(0, ended.size, AT_ONCE))
    found = sum(piece.size - np.count_nonzero(piece) for piece in pieces)
    if found != expected:
        raise FormatError(path, f"{found} words at its end, expected {expected}: cut short or damaged; copy it again")


def _has_empty_bucket(tables: ProbingTables, table: int) -> bool:
    """Whether a hash table has an empty bucket, where searches for missing keys end; a valid table has many."""
    start, buckets, width = int(tables.starts[table]), int(tables.buckets[table]), entry_width(tables.order, table)
    for first in range(0, buckets, AT_ONCE):
        size = min(AT_ONCE, buckets - first)
        keys = tables.units[start + first * width :][: size * width].reshape(size, width)[:, :2]
        if not keys.any(axis=1).all():
            return True
    return False


def _parse_header(image: np.ndarray, path: Path) -> Header:
    """The header in `image` (uint8). Raises FormatError unless it is that of a probing model of a supported order."""
    sanity = image[: SANITY.size].tobytes()
    if sanity.startswith(MAGIC_UNFINISHED):
        raise FormatError(path, f"build_binary did not finish writing this file; {REBUILD}")
    if not sanity.startswith(MAGIC):
        raise FormatError(path, f"not a KenLM binary: starts with {sanity[:16]!r}; {REBUILD}")
    if sanity != EXPECTED_SANITY:
        version = ascii(sanity[len(MAGIC) : 56].split(b"\n")[0].decode("ascii", "replace").strip())[1:-1]
        raise FormatError(path, f"KenLM format version {version} of another release or machine, not 5; {REBUILD}")
    order, multiplier, model_type, has_words, version = PARAMETERS.unpack_from(image.data, SANITY.size)
    if model_type != PROBING:
        kind = MODEL_TYPES[model_type] if 0 < model_type < len(MODEL_TYPES) else f"model type {model_type}"
        raise FormatError(path, f"a KenLM binary of {kind}, only plain probing is supported; {REBUILD}")
    if not 2 <= order <= MAX_ORDER:
        raise FormatError(path, f"order {order}, expected 2 to {MAX_ORDER}; train a model of such an order")
    if version != 0 or not 1.0 <= multiplier < 1e6:
        raise FormatError(path, f"damaged header (version {version}, probing multiplier {multiplier:g}); {REBUILD}")
    counts_start = SANITY.size + PARAMETERS.size
    if image.size < header_size(order) + VOCABULARY_HEADER.size:
        raise FormatError(path, f"{image.size} bytes: cut short within the header; copy it again")
    return Header(struct.unpack_from(f"<{order}Q", image.data, counts_start), multiplier, bool(has_words))
