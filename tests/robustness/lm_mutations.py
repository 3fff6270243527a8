"""Damage to the hash tables of a language model: ids, hashes and words that change places, each possible by itself."""

import struct
from random import Random

import numpy as np

from phrasebeam.lm.probing import MAGIC, PARAMETERS, SANITY, Header, entry_width, view_tables
from tests.robustness.byte_mutations import Mutation


def permute_ids(rng: Random, data: bytes) -> bytes:
    """Words get the ids of others."""
    if (parts := _parts(data)) is None:
        return data
    image, tables, _ = parts
    rows = _used(tables[0])
    tables[0][rows, 2] = tables[0][rows, 2][_order(rng, rows.size)]
    return image.tobytes()


def repeat_hash(rng: Random, data: bytes) -> bytes:
    """An entry gets the hash of another."""
    if (parts := _parts(data)) is None:
        return data
    image, tables, _ = parts
    entries = rng.choice(tables)
    one, other = (rng.choice(_used(entries).tolist() or [0]) for _ in range(2))
    entries[one, :2] = entries[other, :2]
    return image.tobytes()


def reverse_table(rng: Random, data: bytes) -> bytes:
    if (parts := _parts(data)) is None:
        return data
    image, tables, _ = parts
    entries = rng.choice(tables)
    entries[:] = entries[::-1].copy()
    return image.tobytes()


def swap_words(rng: Random, data: bytes) -> bytes:
    """The words at the end, whose places are their ids, but for <unk>."""
    if (parts := _parts(data)) is None:
        return data
    image, _, end = parts
    unknown, *words, last = image[end:].tobytes().split(b"\0")
    one, other = (rng.randrange(len(words)) for _ in range(2))
    words[one], words[other] = words[other], words[one]
    return image[:end].tobytes() + b"\0".join([unknown, *words, last])


def roll_numbers(rng: Random, data: bytes) -> bytes:
    """N-grams get the probabilities and backoffs of others, which no check can tell."""
    if (parts := _parts(data)) is None:
        return data
    image, tables, _ = parts
    entries = rng.choice(tables[1:])
    rows = _used(entries)
    entries[rows, 2:] = np.roll(entries[rows, 2:], 1, axis=0)
    return image.tobytes()


def _order(rng, size):
    order = list(range(size))
    rng.shuffle(order)
    return order


def _used(entries):
    return np.flatnonzero(entries[:, :2].any(axis=1))


def _parts(data):
    """The bytes of a sound file, the entries of its hash tables (that of words first), and where its words begin."""
    if not data.startswith(MAGIC):
        return None
    image = np.frombuffer(bytearray(data), np.uint8)
    order, multiplier, _, has_words, _ = PARAMETERS.unpack_from(data, SANITY.size)
    counts = struct.unpack_from(f"<{order}Q", data, SANITY.size + PARAMETERS.size)
    tables, entries = view_tables(image, Header(counts, multiplier, bool(has_words))), []
    for table in (0, *range(2, order + 1)):
        width = entry_width(order, table)
        units = tables.units[tables.starts[table] :][: int(tables.buckets[table]) * width]
        entries.append(units.reshape(-1, width))
    return image, entries, tables.units.nbytes


CONTRADICTORY: list[Mutation] = [permute_ids, repeat_hash, reverse_table, swap_words]
LM_TABLES = [*CONTRADICTORY, roll_numbers]
