"""Checkpoints of trainings: progress and arrays in one file, with a signature, so that a training can be resumed."""

import json
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from pydantic import Field

from phrasebeam.base.config import Section, load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import atomic_file
from phrasebeam.decoder.tables.provenance import is_empty


class SignedSection(Section):
    """Stored data that belong to one training only."""

    signature: str = Field(description="of settings, data and model; who resumes must have the same")


AnySigned = TypeVar("AnySigned", bound=SignedSection)
# What reading a damaged archive, or headers of arrays that a stranger wrote, may raise.
DAMAGE = (
    *(ValueError, KeyError, AttributeError, EOFError, NotImplementedError, BadZipFile, zlib.error),
    *(TokenError, SyntaxError, RecursionError, OverflowError, MemoryError, TypeError),
)


def begin(path: Path, start: AnySigned) -> AnySigned:
    """The section in the YAML file `path` about the work beside it; if there is no work yet, `start`, which is written.

    Raises ConfigError where the work has another signature, or where anything else is beside `path` or in its place.
    """
    if path.exists():
        stored = load_config(path, type(start))
        if [*path.parent.iterdir()] != [path]:
            return _checked(stored, start.signature, path)
    elif path.parent.exists() and not is_empty(path.parent):
        raise ConfigError(f"{path.parent}: has files, and no {path.name} of a training; choose another directory")
    save_config(start, path)
    return start


def save_checkpoint(path: Path, progress: SignedSection, arrays: Mapping[str, np.ndarray]) -> None:
    """Write progress and arrays to one file."""
    data = np.frombuffer(progress.model_dump_json().encode(), np.uint8)
    with atomic_file(path) as file:
        np.savez(file, allow_pickle=False, progress=data, names=np.array(sorted(arrays)), **arrays)


def load_checkpoint(path: Path, kind: type[AnySigned], signature: str) -> tuple[AnySigned, dict[str, np.ndarray]]:
    """Read what save_checkpoint wrote. Raises ConfigError where it has another signature, FormatError for damage."""
    try:
        arrays = _arrays(path)
        data: Any = json.loads(arrays.pop("progress").tobytes())
        # A damaged directory of the archive may hide arrays.
        if (names := arrays.pop("names").tolist()) != sorted(arrays):
            raise ValueError(f"arrays {', '.join(arrays)}, expected {', '.join(names)}")
    except DAMAGE as error:
        raise FormatError(
            path, f"not a whole checkpoint ({excerpt(str(error))}); delete it, and the training begins again"
        ) from None
    return _checked(parse_config(data, kind, str(path)), signature, path), arrays


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file of np.savez by name. Raises one of DAMAGE; digests are compared before headers are read."""
    with ZipFile(path) as archive:
        if any(entry.compress_type != ZIP_STORED for entry in archive.infolist()):
            raise ValueError("compressed, which may be of any size")
        contents = {name: archive.read(name) for name in archive.namelist()}
    return {name.removesuffix(".npy"): np.load(BytesIO(content)) for name, content in contents.items()}


def _checked(stored: AnySigned, signature: str, path: Path) -> AnySigned:
    if stored.signature != signature:
        signatures = f"{excerpt(stored.signature)}, expected {signature}"
        raise ConfigError(f"{path}: made with {signatures}; choose another directory, or give the same settings")
    return stored
