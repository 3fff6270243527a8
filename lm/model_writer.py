"""An n-gram model written in the format that the name of its file asks for."""

from pathlib import Path

from phrasebeam.lm.arpa import write_arpa
from phrasebeam.lm.ngrams import NgramModel
from phrasebeam.lm.probing_writer import write_probing

ARPA_SUFFIXES = (".arpa", ".arpa.gz", ".arpa.zst")


def write_model(model: NgramModel, path: Path, memory_bytes: int) -> None:
    """Write `model` as ARPA if `path` ends in one of ARPA_SUFFIXES, else as KenLM's binary, see write_probing."""
    if path.name.endswith(ARPA_SUFFIXES):
        write_arpa(model, path)
    else:
        write_probing(model, path, memory_bytes)
