"""The command `build-lm`: an n-gram language model estimated from text."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.build_lm import build_lm as estimate
from phrasebeam.base.command_line import Memory
from phrasebeam.base.progress import show_progress
from phrasebeam.lm.estimate import MIN_ORDER
from phrasebeam.lm.ngrams import MAX_ORDER

ARPA_SUFFIXES = (".arpa", ".arpa.gz", ".arpa.zst")


def build_lm(
    text: Annotated[list[Path], typer.Option(help="Tokenized text, one sentence a line (or .gz, .zst); repeatable.")],
    output: Annotated[
        list[Path],
        typer.Option(help="Model to write: ARPA if named .arpa or .arpa.gz, else KenLM's binary; repeatable."),
    ],
    order: Annotated[int, typer.Option(min=MIN_ORDER, max=MAX_ORDER, help="Words of the longest n-grams.")] = 4,
    prune: Annotated[
        str,
        typer.Option(help="N-grams left out, by count and words: '0 0 1' is those of 3 words or more that occur once."),
    ] = "0",
    memory: Memory = None,
    scratch: Annotated[
        Path | None, typer.Option(help="Directory for temporary files.", show_default="the system's, $TMPDIR")
    ] = None,
) -> None:
    """Estimate an n-gram language model with interpolated modified Kneser-Ney smoothing, as KenLM's lmplz does."""
    show_progress()
    estimate(text, output, order=order, prune=prune, memory=memory, scratch=scratch)
