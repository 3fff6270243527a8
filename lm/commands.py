"""Commands about language models: from text to a model file."""

import re
from pathlib import Path
from typing import Annotated

import typer

from lm.arpa import write_arpa
from lm.errors import ConfigError
from lm.estimate import MIN_ORDER, estimate
from lm.ngrams import MAX_ORDER, NgramModel
from lm.probing_writer import write_probing
from lm.progress import show_progress, stage

ARPA_SUFFIXES = (".arpa", ".arpa.gz")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.I)


def build_lm(
    text: Annotated[list[Path], typer.Option(help="Tokenized text, one sentence a line, plain or .gz; repeatable.")],
    output: Annotated[
        list[Path],
        typer.Option(help="Model to write: ARPA if named .arpa or .arpa.gz, else KenLM's binary; repeatable."),
    ],
    order: Annotated[int, typer.Option(min=MIN_ORDER, max=MAX_ORDER, help="Words of the longest n-grams.")] = 4,
    memory: Annotated[str, typer.Option(help="Peak memory; n-grams that do not fit in it go to disk.")] = "2G",
    scratch: Annotated[
        Path | None, typer.Option(help="Directory for temporary files.", show_default="the system's, $TMPDIR")
    ] = None,
) -> None:
    """Estimate an n-gram language model with interpolated modified Kneser-Ney smoothing, as KenLM's lmplz does."""
    show_progress()
    model = estimate(text, order, parse_size(memory), scratch)
    for path in output:
        with stage(f"writing {path}"):
            write_model(model, path)


def write_model(model: NgramModel, path: Path) -> None:
    """ARPA if `path` ends in .arpa or .arpa.gz, else KenLM's probing binary."""
    if path.name.endswith(ARPA_SUFFIXES):
        write_arpa(model, path)
    else:
        write_probing(model, path)


def parse_size(size: str) -> int:
    """Bytes that `size` says: a number, then K, M, G or T (powers of 1024) or nothing. Raises ConfigError."""
    match = SIZE.fullmatch(size.strip())
    n_bytes = int(float(match[1]) * UNITS[match[2].upper()]) if match else 0
    if n_bytes < 1:
        raise ConfigError(f"--memory: found {size!r}, expected a size such as 500M or 4G")
    return n_bytes
