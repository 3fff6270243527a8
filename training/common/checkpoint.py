"""Checkpoints of trainings: progress and arrays in one file, with a signature, so that a training can be resumed.

Who reads one declares its arrays, with dtypes and shapes; nothing else is let in.
"""

import json
import zlib
from collections import Counter
from collections.abc import Mapping
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
    """Stored data that belong to one training only."""

    signature: str = Field(description="of settings, data and model; who resumes must have the same")


AnySigned = TypeVar("AnySigned", bound=SignedSection)
PROGRESS = "progress"  # beside the arrays
TEXT = array(np.uint8, "bytes")
# What reading a damaged archive, or JSON that a stranger wrote, may raise.
DAMAGE = (ValueError, KeyError, AttributeError, EOFError, RuntimeError, BadZipFile, zlib.error, OverflowError)


def begin(path: Path, start: AnySigned) -> AnySigned:
    """The section in the YAML file `path` about the work beside it; if there is no work yet, `start`, which is written.

    Raises ConfigError if the work has another signature, or anything else is beside `path` or in its place.
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


def save_checkpoint(path: Path, progress: SignedSection, arrays: Mapping[str, np.ndarray]) -> None:
    """Write progress and arrays to one file."""
    data = np.frombuffer(progress.model_dump_json().encode(), np.uint8)
    with atomic_file(path) as file:
        np.savez(file, allow_pickle=False, **{PROGRESS: data}, **arrays)


def load_checkpoint(
    path: Path,
    kind: type[AnySigned],
    signature: str,
    declared: Mapping[str, ArrayField],
    sizes: Mapping[str, int] = {},
) -> tuple[AnySigned, dict[str, np.ndarray]]:
    """Read what save_checkpoint wrote: progress, and the arrays that are `declared`, by name.

    `sizes`: how many some names in shapes stand for; the others are as the first array has them. Raises ConfigError
    where it has another signature, FormatError for damage and other arrays.
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
    """The error; without this file alone a training would go on from other weights, so that its directory has to go."""
    mend = f"delete {path.parent}, and the training begins again"
    return FormatError(path, f"not a whole checkpoint ({problem}); {mend}")


def _other_names(archive: ZipFile, declared: Mapping[str, ArrayField]) -> str:
    """The difference of an archive from one of the declared arrays, each once, and as large as it is; "" for none."""
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
    """An array of a file of np.savez. Raises one of DAMAGE, or FormatError; its digest is compared before."""
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
