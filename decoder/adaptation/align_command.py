"""The command `align`: word alignment of new text by a trained model."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.api.models import align as align_files
from phrasebeam.base.command_line import Memory
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.adaptation.align_text import HEURISTIC, Heuristic


def align(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    source: Annotated[Path, typer.Option(help="Source sentences, tokenized, one a line.")],
    target: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    output: Annotated[Path, typer.Option(help="File for the word alignments, 0-0 1-2 (Pharaoh's format).")],
    heuristic: Annotated[
        Heuristic, typer.Option(help="How the alignments of both directions are combined.")
    ] = HEURISTIC,
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Sentence pairs aligned at the same time.")] = 1,
    memory: Memory = None,
) -> None:
    """Align the words of new sentence pairs by what a model has learned, in both directions, which are combined."""
    show_progress()
    n_pairs, n_points = align_files(model, source, target, output, heuristic=heuristic, threads=threads, memory=memory)
    print(f"{output}: {n_pairs} sentence pairs with {n_points} links")
