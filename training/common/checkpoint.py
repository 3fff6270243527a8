"""How far a training has come, as settings and arrays in one file: whole or not at all, and of one training only."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from phrasebeam.base.config import Section, load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file


class SignedProgress(Section):
    """The progress of a training whose settings and data have a signature."""

    signature: str


AnyProgress = TypeVar("AnyProgress", bound=SignedProgress)


def save_progress(path: Path, progress: SignedProgress, arrays: Mapping[str, np.ndarray]) -> None:
    """Write both."""
    data = np.frombuffer(progress.model_dump_json().encode(), np.uint8)
    with atomic_file(path) as file:
        np.savez(file, allow_pickle=False, progress=data, **arrays)


def load_progress(path: Path, kind: type[AnyProgress], signature: str) -> tuple[AnyProgress, dict[str, np.ndarray]]:
    """Read them back. Raises ConfigError where they are of other settings or data."""
    with np.load(path) as stored:
        arrays = dict(stored.items())
    data: Any = json.loads(arrays.pop("progress").tobytes())
    progress = parse_config(data, kind, str(path))
    _check(progress, signature, path)
    return progress, arrays


def begin_work(path: Path, signature: str) -> None:
    """Say in a file whose the work beside it is. Raises ConfigError where there is some of other settings or data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and [*path.parent.iterdir()] != [path]:
        _check(load_config(path, SignedProgress), signature, path)
    else:
        save_config(SignedProgress(signature=signature), path)


def _check(progress: SignedProgress, signature: str, path: Path) -> None:
    if progress.signature != signature:
        what = f"{progress.signature}, expected {signature}"
        raise ConfigError(f"{path}: trained with {what}; choose another output, or give the same settings")
