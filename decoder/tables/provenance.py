"""Where a model comes from: version, digests of the files it was made of, and a signature of both in one line."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.own_modules import ROOT

MODEL_START = "format: phrasebeam model"  # first line of model.yaml, up to the version of the format


def check_output(output: Path, name: str = "model.yaml", start: str = MODEL_START) -> None:
    """Raise ConfigError unless `output` is absent, an empty directory, or one whose file `name` begins with `start`."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    try:
        with open(output / name, encoding="utf-8") as file:
            is_model = file.readline(len(start)) == start
    except (OSError, UnicodeDecodeError):
        is_model = False
    if not is_model:
        raise ConfigError(f"{output}: exists and is not a model; choose another directory")


def file_digests(paths: Mapping[str, str | Path]) -> dict[str, dict[str, str]]:
    """For each file that a model is made of, its name and SHA-256. Raises OSError where one cannot be read.

    Raises ConfigError for pipes and devices: what a model is made of is read more than once.
    """
    digests = {}
    for name, path in paths.items():
        if not (Path(path).is_file() or Path(path).is_dir()) and Path(path).exists():
            raise ConfigError(f"{path}: a pipe or device, which cannot be read twice; write it to a file")
        with open(path, "rb") as file:
            digests[name] = {"file": Path(path).name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    return digests


def signature(settings: Mapping[str, object], data: Mapping[str, Mapping[str, str]]) -> str:
    """One line of version and digests of `settings` and `data` (as file_digests): equal signatures, equal models."""
    parts = {"settings": settings, "data": {name: entry["sha256"] for name, entry in data.items()}}
    digests = {name: hashlib.sha256(json.dumps(part, sort_keys=True).encode()) for name, part in parts.items()}
    return "|".join([f"phrasebeam:{version()}", *(f"{n}:{digest.hexdigest()[:12]}" for n, digest in digests.items())])


def version() -> str:
    """The version of this package: of the checkout that runs, else of what is installed."""
    project_file = ROOT / "pyproject.toml"
    if project_file.exists():
        checkout: str = tomllib.loads(project_file.read_text(encoding="utf-8"))["project"]["version"]
        return checkout
    return metadata.version("phrasebeam")
