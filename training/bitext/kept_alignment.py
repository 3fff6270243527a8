"""The word alignment that a model keeps of its training sentence pairs."""

from pathlib import Path

from phrasebeam.decoder.model.description import open_description
from phrasebeam.decoder.tables.model_files import ALIGNMENT
from phrasebeam.decoder.tables.provenance import file_digests

CLEAN = "clean"  # the setting of models of cleaned text


def kept_alignment(model: Path, source: Path, target: Path, is_cleaned: bool = False) -> Path | None:
    """The word alignment that the directory `model` keeps of its training data, if these are the two files.

    None if the text was cleaned, so that the files have other lines, unless they are read as they were cleaned.
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
