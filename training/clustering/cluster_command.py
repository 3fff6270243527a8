"""The command `cluster`: word classes from a text, for sparse features."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.cluster import MOST_CLASSES
from phrasebeam.api.cluster import cluster as make_classes
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.progress import show_progress


def cluster(
    text: Annotated[list[Path], typer.Option(help="Tokenized text, one sentence a line (or .gz, .zst); repeatable.")],
    output: Annotated[Path, typer.Option(help="File to write, as --lm-classes takes it: bits, word, count, by tabs.")],
    classes: Annotated[int, typer.Option(min=2, max=MOST_CLASSES, help="How many; time grows with the square.")] = 200,
    min_count: Annotated[
        int, typer.Option(min=1, max=MOST_COUNTED, help="Words that occur less often get no class.")
    ] = 1,
) -> None:
    """Group words by their neighbours (Brown et al. 1992), in a tree: prefixes of bit strings are coarser groups."""
    given = locals()  # the options, which are arguments of the function
    start = time.perf_counter()
    show_progress()
    n_words = make_classes(**given)
    seconds = time.perf_counter() - start
    print(f"{output}: {classes} classes of {n_words} words, made in {seconds:.1f} s")
