"""Arguments that functions of the API share: files by name or Path, settings as a file, a dictionary or an object."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from phrasebeam.base.config import Given
from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.memory_bound import end_memory_bound, keep_memory
from phrasebeam.base.progress import log

File = str | Path
Files = File | Sequence[File]
Settings = Given  # a YAML file, what it would say, or the section itself
Memory = str | int  # bytes, or a string such as "2G"


def optional_path(file: File | None) -> Path | None:
    """The path of a file that may be left out."""
    return None if file is None else Path(file)


def paths(files: Files | None) -> list[Path]:
    """The paths of one file, of several, or of none."""
    return [Path(file) for file in ([files] if isinstance(files, (str, Path)) else files or ())]


def check_range(name: str, value: int, least: int, most: int) -> None:
    """Raise ConfigError unless the argument `name` is from `least` to `most`."""
    if not (isinstance(value, int) and least <= value <= most):
        raise ConfigError(f"{name} is {excerpt(value)}, expected {least} to {most}")


@contextmanager
def memory_bound(n_bytes: int) -> Iterator[None]:
    """Keep the process below `n_bytes` while a function works, and warn where it did not succeed."""
    keep_memory(n_bytes)
    try:
        yield
    finally:
        if excess := end_memory_bound():
            log.warning(excess)
