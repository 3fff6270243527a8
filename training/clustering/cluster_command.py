"""The command `cluster`: word classes from a text, for sparse features."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import FormatError
from phrasebeam.base.progress import show_progress, stage
from phrasebeam.lm.text.word_classes import write_paths

MOST_CLASSES = 5000  # tables of each with each, of 200 MB


def cluster(
    text: Annotated[list[Path], typer.Option(help="Tokenized text, one sentence a line (or .gz, .zst); repeatable.")],
    output: Annotated[Path, typer.Option(help="File to write, as --lm-classes takes it: bits, word, count, by tabs.")],
    classes: Annotated[int, typer.Option(min=2, max=MOST_CLASSES, help="How many; time grows with the square.")] = 200,
    min_count: Annotated[
        int, typer.Option(min=1, max=MOST_COUNTED, help="Words that occur less often get no class.")
    ] = 1,
) -> None:
    """Group words by their neighbours (Brown et al. 1992), in a tree: prefixes of bit strings are coarser groups."""
    from phrasebeam.training.clustering.bigrams import read_bigrams
    from phrasebeam.training.clustering.word_classes import cluster as cluster_words

    start = time.perf_counter()
    show_progress()
    with stage("counting"):
        bigrams = read_bigrams(text, min_count)
    if len(bigrams.words) < classes:
        found = f"{len(bigrams.words)} words that occur {min_count} times or more, for {classes} classes"
        raise FormatError(", ".join(map(str, text)), f"{found}; give more text, fewer --classes or a lower --min-count")
    bits = cluster_words(bigrams, classes)
    write_paths(output, zip(bits, bigrams.words, bigrams.counts.tolist()))
    seconds = time.perf_counter() - start
    print(f"{output}: {classes} classes of {len(bigrams.words)} words, made in {seconds:.1f} s")
