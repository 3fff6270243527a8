"""The word alignment of the training data that a model directory may contain."""

from pathlib import Path

from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.tables.model_files import ALIGNMENT
from phrasebeam.decoder.tables.provenance import file_digests

CLEAN = "clean"  # name of the setting that models of cleaned text have


def kept_alignment(model: Path, source: Path, target: Path, is_cleaned: bool = False) -> Path | None:
    """The path of the word alignment in the directory `model`, if `source` and `target` are its training data.

    None if the training data were cleaned: then the alignment has a line for each cleaned pair, not for each line of
    the files. `is_cleaned`: the caller cleans the files in the same way, so the path is returned nevertheless.
    """
    description = open_description(model)
    if CLEAN in description.settings and not is_cleaned:
        return None
    made_of = description.data
    for name, entry in file_digests({"source": source, "target": target}).items():
        known = made_of.get(name)
        if not isinstance(known, dict) or known.get("sha256") != entry["sha256"]:
            return None
    path = model / ALIGNMENT
    return path if path.is_file() else None
