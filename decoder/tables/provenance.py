"""What made a model: the version, digests of the files, and the signature that puts them in a line."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from phrasebeam.base.errors import ConfigError

MODEL_START = "format: phrasebeam model"  # of model.yaml


def check_output(output: Path, name: str = "model.yaml", start: str = MODEL_START) -> None:
    """Refuse to replace what is not ours: the directory `output` is absent, empty, or has a file `name`.

    That file must begin with `start`. Raises ConfigError.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    try:
        with open(output / name, encoding="utf-8") as file:
            is_ours = file.readline().startswith(start)
    except (OSError, UnicodeDecodeError):
        is_ours = False
    if not is_ours:
        raise ConfigError(f"{output}: exists and is not a model; choose another directory")


def file_digests(paths: Mapping[str, str | Path]) -> dict[str, dict[str, str]]:
    """Name and SHA-256 of every file that a model is made of. Raises OSError where one cannot be read."""
    digests = {}
    for name, path in paths.items():
        with open(path, "rb") as file:
            digests[name] = {"file": Path(path).name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    return digests


def signature(settings: Mapping[str, object], data: Mapping[str, Mapping[str, str]]) -> str:
    """What made the model, in a line: two models with the same signature are the same."""
    parts = {"settings": settings, "data": {name: entry["sha256"] for name, entry in data.items()}}
    digests = {name: hashlib.sha256(json.dumps(part, sort_keys=True).encode()) for name, part in parts.items()}
    return "|".join([f"phrasebeam:{version()}", *(f"{n}:{digest.hexdigest()[:12]}" for n, digest in digests.items())])


def version() -> str:
    """The version of this package, installed or not."""
    checkout = Path(__file__).resolve().parents[1] / "pyproject.toml"
    if checkout.exists():
        found: str = tomllib.loads(checkout.read_text(encoding="utf-8"))["project"]["version"]
        return found
    return metadata.version("phrasebeam")
