"""demo_corpus: sentences of a grammar, to try things with."""

from pathlib import Path

from phrasebeam.api.arguments import File, check_range
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.training.demo.demo_corpus import NOISE, write_pairs


@checked
def demo_corpus(output: File, *, sentences: int = 5000, seed: int = 1, noise: float = NOISE) -> tuple[Path, Path]:
    """Write the embedded German-English corpus: tokenized, lowercased, with some noise, as long as you like.

    Args:
        output: Prefix of the two files, to which .de and .en are added.
        sentences: Sentence pairs.
        seed: The first pairs of a seed are the same for any number of pairs.
        noise: Share of damaged pairs.

    Returns the paths of both files. Raises ConfigError or OSError.

    >>> [path.name for path in demo_corpus("small", sentences=10)]
    ['small.de', 'small.en']
    """
    check_range("sentences", sentences, 0, MOST_COUNTED)
    check_range("seed", seed, 0, MOST_COUNTED)
    return write_pairs(output, sentences, seed, noise)
