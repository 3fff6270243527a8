"""Origin of a model: the commands that made it, their input files, and a signature of both in one line."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from itertools import islice
from pathlib import Path

from pydantic import Field

from phrasebeam.base.config import Count, Section
from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.files import check_regular, read_lines
from phrasebeam.decoder.tables.model_files import WORK_DIRECTORIES
from phrasebeam.process.places import ROOT
from phrasebeam.process.unfinished import is_unfinished

MODEL_START = "format: phrasebeam model"  # first line of model.yaml, up to the version of the format
WORK_FILES = ("work.yaml", "run.yaml")  # they show that a directory is the work of a trainer, or of a recipe
WORK_FORMAT, LONGEST_HEAD = rb"(?m)^format: phrasebeam (work|recipe) ", 4096

MOST_DIFFERENCES = 3  # that an error reports


class DataSize(Section):
    """A file of text from which a model was made."""

    name: str  # its purpose
    file: str
    sentences: Count | None = None
    words: Count | None = None

    @classmethod
    def of(cls, name: str, path: Path) -> "DataSize":
        """The size of a file of tokenized text. Raises FormatError or OSError."""
        sentences = words = 0
        for line in read_lines(path):
            sentences, words = sentences + 1, words + len(line.split())
        return cls(name=name, file=path.name, sentences=sentences, words=words)


class Stage(Section):
    """A command that contributed to a model."""

    command: str
    version: str
    settings: dict[str, object] = Field({})  # settings that differ from the defaults
    data: list[DataSize] = Field([])
    gain: str = ""  # of a training, in words


def check_output(output: Path, name: str = "model.yaml", start: str = MODEL_START, what: str = "a model") -> None:
    """Raise ConfigError unless `output` is absent, an empty directory, or one whose file `name` begins with `start`.

    `what` is the required kind of directory, for the error. Raises FormatError if it has other than regular files.
    """
    if not output.exists() or is_empty(output):
        return
    is_model = False
    with suppress(OSError, UnicodeDecodeError):
        if (output / name).is_file():  # excludes pipes
            with open(output / name, encoding="utf-8") as file:
                is_model = file.readline(len(start)) == start
    if not is_model:
        raise ConfigError(f"{output}: exists and is not {what}; choose another directory")
    check_regular(output)


def is_empty(directory: Path) -> bool:
    """Whether it is an empty directory, or has only unfinished files of killed processes."""
    return directory.is_dir() and all(map(is_unfinished, directory.iterdir()))


def check_work(output: Path) -> None:
    """Raise ConfigError unless a trainer may write to `output`: as check_output, or if trainers already work there.

    Raises ConfigError also if one of WORK_DIRECTORIES exists and is not the work of a trainer, FormatError if there are
    other than regular files.
    """
    found = [path for name in WORK_DIRECTORIES if os.path.lexists(path := output / name)]
    for path in found:
        check_regular(path)
        if not is_empty(path) and not any(_is_work_file(path / name) for name in WORK_FILES):
            raise ConfigError(
                f"{path}: exists and is not the directory of a trainer; move it, or choose another directory"
            )
    if all(map(is_empty, found)) and not _has_only(output, found):  # else it was killed before its first file
        check_output(output)
    check_regular(output)


def _has_only(output: Path, found: Sequence[Path]) -> bool:
    """Whether the directory contains only directories in `found`, and unfinished files of killed processes."""
    return bool(found) and all(path in found or is_unfinished(path) for path in output.iterdir())


def _is_work_file(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return re.search(WORK_FORMAT, file.read(LONGEST_HEAD)) is not None
    except OSError:
        return False


def file_digests(paths: Mapping[str, str | Path]) -> dict[str, dict[str, str]]:
    """For each file from which a model is made, its name and SHA-256. Raises OSError if one cannot be read.

    Raises ConfigError for pipes and devices, since these files are read more than once.
    """
    digests = {}
    for name, path in paths.items():
        if not (Path(path).is_file() or Path(path).is_dir()) and Path(path).exists():
            raise ConfigError(f"{path}: a pipe or device, which cannot be read twice; write it to a file")
        with open(path, "rb") as file:
            digests[name] = {"file": Path(path).name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    return digests


def signature(settings: Mapping[str, object], data: Mapping[str, Mapping[str, str]]) -> str:
    """One line with version and digests of `settings` and `data` (see file_digests): equal signatures, equal models."""
    parts = {"settings": settings, "data": {name: entry["sha256"] for name, entry in data.items()}}
    digests = {name: hashlib.sha256(json.dumps(part, sort_keys=True).encode()) for name, part in parts.items()}
    return "|".join([f"phrasebeam:{version()}", *(f"{n}:{digest.hexdigest()[:12]}" for n, digest in digests.items())])


def version() -> str:
    """The version of this package: of the checkout that is running, otherwise of the installed package."""
    project_file = ROOT / "pyproject.toml"
    if project_file.exists():
        import tomllib  # slow to import, and not needed for reading models

        checkout: str = tomllib.loads(project_file.read_text(encoding="utf-8"))["project"]["version"]
        return checkout
    return metadata.version("phrasebeam")


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """The entries in which settings before and now differ; "" if they are equal.

    Entries that are digests of a file, see file_digests, are reported by the file's name.
    """
    found = list(_differences(before, now, ""))
    more = [f"and {len(found) - MOST_DIFFERENCES} more"] if len(found) > MOST_DIFFERENCES else []
    return "; ".join([*islice(found, MOST_DIFFERENCES), *more])


def _differences(before: Mapping[str, object], now: Mapping[str, object], prefix: str) -> Iterator[str]:
    for name in {**before, **now}:
        old, new, key = before.get(name), now.get(name), f"{prefix}{name}"
        if old == new:
            continue
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            yield f"{key} was {_shown(old)}, is {_shown(new)}"
        elif "sha256" in old and old.get("file") == new.get("file"):
            yield f"{key}: {_shown(old)} has changed"
        elif "sha256" in old:
            yield f"{key} was {_shown(old)}, is {_shown(new)}"
        else:
            yield from _differences(old, new, f"{key}.")


def _shown(value: object) -> str:
    if isinstance(value, Mapping) and "sha256" in value:
        value = value.get("file")
    return "not given" if value is None else excerpt(value)
