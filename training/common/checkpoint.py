"""Checkpoints of trainings: progress and arrays in one file, with a signature, so that a training can be resumed.

Readers declare the arrays that they expect, with dtypes and shapes; everything else in the file is refused.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeVar
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from pydantic import Field

from phrasebeam.base.array_file import array_in
from phrasebeam.base.array_struct import ArrayField, array
from phrasebeam.base.config import Section, load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.tables.provenance import is_empty


class SignedSection(Section):
    """Stored data of one training, with the signature of this training."""

    signature: str = Field(description="of settings, data and model; who resumes must have the same")


AnySigned = TypeVar("AnySigned", bound=SignedSection)
PROGRESS = "progress"  # name of the progress (JSON) among the arrays in the file
TEXT = array(np.uint8, "bytes")
# Exceptions that reading a damaged archive, or JSON of a stranger, may raise.
DAMAGE = (ValueError, KeyError, AttributeError, EOFError, RuntimeError, BadZipFile, zlib.error, OverflowError)


def begin(path: Path, start: AnySigned) -> AnySigned:
    """The section in the YAML file `path`, which describes the work in the same directory.

    If there is no other file in the directory yet, `start` is written to `path` and returned. Raises ConfigError if the
    work has another signature, or if the directory has files, but no file `path`.
    """
    if path.exists():
        stored = load_config(path, type(start))
        if [*path.parent.iterdir()] != [path]:
            return _checked(stored, start.signature, path)
    elif path.parent.exists() and not is_empty(path.parent):
        raise ConfigError(
            f"{path.parent}: has files, but not the {path.name} of a training run; choose another directory"
        )
    save_config(start, path)
    return start


def save_checkpoint(path: Path, progress: SignedSection, arrays: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write progress and named arrays to one file, as np.savez does, one array after the other."""
    data = np.frombuffer(progress.model_dump_json().encode(), np.uint8)
    with atomic_file(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        for name, values in chain([(PROGRESS, data)], arrays):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, values, allow_pickle=False)
            del values  # before the next array is made


def load_checkpoint(
    path: Path,
    kind: type[AnySigned],
    signature: str,
    declared: Mapping[str, ArrayField],
    sizes: Mapping[str, int] = {},
) -> tuple[AnySigned, dict[str, np.ndarray]]:
    """Read a file of save_checkpoint: the progress, and the arrays by name, which must be the `declared` ones.

    `sizes`: values of some of the names in declared shapes; the first array with another name gives its value. Raises
    ConfigError if the file has another signature, and FormatError if it is damaged or has other arrays.
    """
    try:
        with ZipFile(path) as archive:
            if problem := _other_names(archive, declared):
                raise _damaged(path, problem)
            data = json.loads(_array(archive, PROGRESS, TEXT, {}).tobytes())
            progress = _checked(parse_config(data, kind, str(path)), signature, path)
            known = dict(sizes)
            return progress, {name: _array(archive, name, field, known) for name, field in declared.items()}
    except DAMAGE as error:
        raise _damaged(path, excerpt(str(error))) from None


def _damaged(path: Path, problem: str) -> FormatError:
    """The error for a damaged checkpoint.

    It tells the user to delete the whole directory: without this file alone, the training would continue from other
    weights.
    """
    mend = f"delete {path.parent}, and the training begins again"
    return FormatError(path, f"not a whole checkpoint ({problem}); {mend}")


def _other_names(archive: ZipFile, declared: Mapping[str, ArrayField]) -> str:
    """The reason why an archive does not have each declared array exactly once, uncompressed; "" if it does."""
    entries = archive.infolist()
    if any(entry.compress_type != ZIP_STORED for entry in entries):
        return "compressed, which may be of any size"
    found, expected = (
        Counter(entry.filename for entry in entries),
        Counter(f"{one}.npy" for one in (PROGRESS, *declared)),
    )
    if missing := sorted(expected - found):
        return f"{', '.join(missing)} missing"
    more = sorted(found - expected)
    return f"{excerpt(', '.join(more))} is no part of it" if more else ""


def _array(archive: ZipFile, name: str, field: ArrayField, sizes: dict[str, int]) -> np.ndarray:
    """Read an array of a file of np.savez. Raises one of DAMAGE, also if its CRC-32 is wrong, or FormatError."""
    content = archive.read(f"{name}.npy")
    try:
        return array_in(content, field, sizes)
    except ValueError as error:
        raise _damaged(Path(archive.filename or ""), f"{name}: {error}") from None


def _checked(stored: AnySigned, signature: str, path: Path) -> AnySigned:
    if stored.signature != signature:
        signatures = f"{excerpt(stored.signature)}, expected {signature}"
        raise ConfigError(f"{path}: made with {signatures}; choose another directory, or give the same settings")
    return stored
