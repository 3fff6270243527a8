"""cluster: word classes from a text."""

from pathlib import Path

from phrasebeam.api.arguments import File, Files, check_range, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import MOST_COUNTED
from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.base.progress import stage

MOST_CLASSES = 5000  # tables of each with each, of 200 MB


@checked
def cluster(text: Files, output: File, *, classes: int = 200, min_count: int = 1) -> int:
    """Group words by their neighbours (Brown et al. 1992), in a tree: prefixes of bit strings are coarser groups.

    Args:
        text: Tokenized text, one sentence a line, plain, .gz or .zst; one file or several.
        output: File to write, as train_model takes it for lm_classes: bits, word, count, separated by tabs.
        classes: How many; time grows with the square.
        min_count: Words that occur less often get no class.

    Returns the number of words that have a class. Raises FormatError where there are fewer words than classes.

    >>> cluster("train.en", "classes.en", classes=5) > 5
    True
    """
    from phrasebeam.training.clustering.bigrams import read_bigrams
    from phrasebeam.training.clustering.word_classes import write_classes

    check_range("classes", classes, 2, MOST_CLASSES)
    check_range("min_count", min_count, 1, MOST_COUNTED)
    files = paths(text)
    check_keeps_inputs([output], files)
    with stage("counting"):
        bigrams = read_bigrams(files, min_count)
    if len(bigrams.words) < classes:
        found = f"{len(bigrams.words)} words that occur {min_count} times or more, for {classes} classes"
        raise FormatError(", ".join(map(str, files)), f"{found}; give more text, fewer classes or a lower min-count")
    write_classes(Path(output), bigrams, classes)
    return len(bigrams.words)
