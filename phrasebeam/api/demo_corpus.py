"""demo_corpus: sentences generated from a grammar, to try things with."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from phrasebeam.api.arguments import File
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.options import described
from phrasebeam.training.demo.demo_corpus import NOISE, write_pairs


@described()
def demo_corpus(
    output: Annotated[File, "Prefix of the names of the two files, which end in .de and .en."],
    *,
    sentences: Annotated[int, Field(ge=0, le=MOST_COUNTED), "Number of sentence pairs."] = 5000,
    seed: Annotated[
        int, Field(ge=0, le=MOST_COUNTED), "Random seed; a larger corpus with the same seed starts with the same pairs."
    ] = 1,
    noise: Annotated[float, Field(ge=0, le=1), "Share of pairs with errors."] = NOISE,
) -> tuple[Path, Path]:
    """Write a generated German-English corpus of any size: tokenized, lowercased, with some noise.

    Returns the paths of both files. Raises ConfigError or OSError.

    >>> [path.name for path in demo_corpus("small", sentences=10)]
    ['small.de', 'small.en']
    """
    return write_pairs(output, sentences, seed, noise)
