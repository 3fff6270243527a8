"""The command `build-lm`: an n-gram language model estimated from text."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.command_line import Memory
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.memory_bound import keep_memory, memory_option
from phrasebeam.base.progress import show_progress, stage
from phrasebeam.lm.arpa import write_arpa
from phrasebeam.lm.estimate import MIN_ORDER, estimate
from phrasebeam.lm.ngrams import MAX_ORDER, NgramModel
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.process.compression import SUFFIXES as COMPRESSED

ARPA_SUFFIXES = (".arpa", ".arpa.gz", ".arpa.zst")


def build_lm(
    text: Annotated[list[Path], typer.Option(help="Tokenized text, one sentence a line (or .gz, .zst); repeatable.")],
    output: Annotated[
        list[Path],
        typer.Option(help="Model to write: ARPA if named .arpa or .arpa.gz, else KenLM's binary; repeatable."),
    ],
    order: Annotated[int, typer.Option(min=MIN_ORDER, max=MAX_ORDER, help="Words of the longest n-grams.")] = 4,
    memory: Memory = None,
    scratch: Annotated[
        Path | None, typer.Option(help="Directory for temporary files.", show_default="the system's, $TMPDIR")
    ] = None,
) -> None:
    """Estimate an n-gram language model with interpolated modified Kneser-Ney smoothing, as KenLM's lmplz does."""
    for path in output:
        if path.name.endswith(COMPRESSED) and not path.name.endswith(ARPA_SUFFIXES):
            raise ConfigError(
                f"{path}: only ARPA can be compressed; name it .arpa{path.suffix}, or leave out the suffix"
            )
    n_bytes = memory_option(memory)
    show_progress()
    keep_memory(n_bytes)
    model = estimate(text, order, n_bytes, scratch)
    for path in output:
        with stage(f"writing {path}"):
            write_model(model, path, n_bytes)


def write_model(model: NgramModel, path: Path, memory_bytes: int) -> None:
    """Write `model` as ARPA if `path` ends in one of ARPA_SUFFIXES, else as KenLM's binary, see write_probing."""
    if path.name.endswith(ARPA_SUFFIXES):
        write_arpa(model, path)
    else:
        write_probing(model, path, memory_bytes)
