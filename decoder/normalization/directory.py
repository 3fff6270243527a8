"""Recognition of a normalizer's directory, without the imports that a normalizer needs."""

from pathlib import Path

NORMALIZER = "normalizer.yaml"


def is_normalizer(directory: str | Path) -> bool:
    """Whether `directory` is the directory of a normalizer."""
    return (Path(directory) / NORMALIZER).is_file()
