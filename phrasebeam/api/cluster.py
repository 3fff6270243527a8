"""cluster: word classes from a text."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from phrasebeam.api.arguments import File, Text, paths
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.options import described
from phrasebeam.base.progress import stage

MOST_CLASSES = 5000  # a table of all pairs of classes then takes 200 MB


@described()
def cluster(
    text: Text,
    output: Annotated[File, "Output file for --lm-classes of train-model: bits, word, count, separated by tabs."],
    *,
    classes: Annotated[int, Field(ge=2, le=MOST_CLASSES), "Number of classes; the time grows with its square."] = 200,
    min_count: Annotated[int, Field(ge=1, le=MOST_COUNTED), "Words with fewer occurrences get no class."] = 1,
) -> int:
    """Group words by their neighbours (Brown et al. 1992); shorter prefixes of the bit strings give coarser classes.

    Returns the number of words that have a class. Raises FormatError if there are fewer words than classes.

    >>> cluster("train.en", "classes.en", classes=5) > 5
    True
    """
    from phrasebeam.training.clustering.bigrams import read_bigrams
    from phrasebeam.training.clustering.word_classes import write_classes

    files = paths(text)
    check_keeps_inputs([output], files)
    with stage("counting"):
        bigrams = read_bigrams(files, min_count)
    if len(bigrams.words) < classes:
        found = f"{len(bigrams.words)} words that occur {min_count} times or more, for {classes} classes"
        raise FormatError(", ".join(map(str, files)), f"{found}; give more text, fewer classes or a lower min-count")
    write_classes(Path(output), bigrams, classes)
    return len(bigrams.words)
