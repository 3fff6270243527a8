"""Damage to .npz files whose archive stays sound: other dtypes, shapes, orders, missing and further arrays."""

import io
import warnings
from collections.abc import Callable
from random import Random
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from tests.robustness.array_mutations import WHOLE_ARRAYS
from tests.robustness.byte_mutations import BYTES, Mutation

Entries = list[tuple[str, bytes]]  # names and contents, in their order
EntryMutation = Callable[[Random, Entries], Entries]


def change_array(rng: Random, entries: Entries) -> Entries:
    place = rng.randrange(len(entries))
    return _with(entries, place, rng.choice(WHOLE_ARRAYS)(rng, entries[place][1]))


def change_arrays(rng: Random, entries: Entries) -> Entries:
    """The same damage to each of them."""
    mutation, seed = rng.choice(WHOLE_ARRAYS), rng.random()
    return [(name, mutation(Random(seed), content)) for name, content in entries]


def drop_array(rng: Random, entries: Entries) -> Entries:
    place = rng.randrange(len(entries))
    return entries[:place] + entries[place + 1 :]


def add_array(rng: Random, entries: Entries) -> Entries:
    return [*entries, (rng.choice(["more.npy", "x", "../x.npy", "\x1b.npy"]), rng.choice(entries)[1])]


def repeat_array(rng: Random, entries: Entries) -> Entries:
    return [*entries, rng.choice(entries)]


def rename_array(rng: Random, entries: Entries) -> Entries:
    place = rng.randrange(len(entries))
    return [*entries[:place], ("renamed.npy", entries[place][1]), *entries[place + 1 :]]


def swap_arrays(rng: Random, entries: Entries) -> Entries:
    """The content of one under the name of another."""
    first, second = rng.randrange(len(entries)), rng.randrange(len(entries))
    return _with(_with(entries, first, entries[second][1]), second, entries[first][1])


def shuffle_arrays(rng: Random, entries: Entries) -> Entries:
    return rng.sample(entries, len(entries))


def _with(entries, place, content):
    return [*entries[:place], (entries[place][0], content), *entries[place + 1 :]]


def _of_archive(change: EntryMutation, compression: int = ZIP_STORED) -> Mutation:
    def mutate(rng: Random, data: bytes) -> bytes:
        try:
            with ZipFile(io.BytesIO(data)) as archive:
                entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
        except BadZipFile:
            return data
        file = io.BytesIO()
        with (
            warnings.catch_warnings(action="ignore"),
            ZipFile(file, "w", compression) as archive,
        ):
            for name, content in change(rng, entries) if entries else ():
                archive.writestr(ZipInfo(name), content, compression)  # dated 1980, whatever the time is
        return file.getvalue()

    mutate.__name__ = change.__name__
    return mutate


def compress(rng: Random, entries: Entries) -> Entries:
    return entries


CHANGES: list[EntryMutation] = [
    *[change_array] * 8,
    *(change_arrays, drop_array, add_array, repeat_array, rename_array, swap_arrays, shuffle_arrays),
]
ARCHIVES = [*BYTES, *map(_of_archive, CHANGES), _of_archive(compress, ZIP_DEFLATED)]
