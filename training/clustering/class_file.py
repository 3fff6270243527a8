"""Word classes of a text, written as `cluster` writes them."""

from pathlib import Path

from phrasebeam.lm.text.word_classes import write_paths
from phrasebeam.training.clustering.bigrams import Bigrams
from phrasebeam.training.clustering.word_classes import cluster

ONLY_CLASS = "0"  # of a text with a single word


def write_classes(path: Path, bigrams: Bigrams, n_classes: int) -> None:
    """Write the classes of all words, `n_classes` (2 or more), or as many as there are words."""
    n_classes = min(n_classes, len(bigrams.words))
    bits = cluster(bigrams, n_classes) if n_classes > 1 else [ONLY_CLASS] * n_classes
    write_paths(path, zip(bits, bigrams.words, bigrams.counts.tolist()))
