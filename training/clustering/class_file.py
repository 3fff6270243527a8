"""Word classes of a text, written as `cluster` writes them."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from phrasebeam.base.files import scratch_directory
from phrasebeam.base.progress import stage
from phrasebeam.lm.counting import SPECIALS
from phrasebeam.lm.text.word_classes import write_paths
from phrasebeam.training.clustering.bigrams import Bigrams, read_bigrams
from phrasebeam.training.clustering.word_classes import cluster

ONLY_CLASS = "0"  # of a text with a single word


def write_classes(path: Path, bigrams: Bigrams, n_classes: int) -> None:
    """Write the classes of all words, `n_classes` (2 or more), or as many as there are words."""
    n_classes = min(n_classes, len(bigrams.words))
    bits = cluster(bigrams, n_classes) if n_classes > 1 else [ONLY_CLASS] * n_classes
    write_paths(path, zip(bits, bigrams.words, bigrams.counts.tolist()))


def write_classes_of_pairs(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]], paths: tuple[Path, Path], n_classes: int
) -> None:
    """Write classes of the source words and of the target words of `pairs` of sentences to `paths`.

    Words of language models, such as <s>, get none.
    """
    with scratch_directory(paths[0].parent) as directory:
        texts = [directory / f"{number}" for number in range(len(paths))]
        with ExitStack() as stack:
            files = [stack.enter_context(open(text, "wb")) for text in texts]
            for sides in pairs:
                for file, words in zip(files, sides):
                    file.write(" ".join(word for word in words if word not in SPECIALS).encode() + b"\n")
        for text, path in zip(texts, paths):
            with stage("counting"):
                bigrams = read_bigrams([text])
            write_classes(path, bigrams, n_classes)
