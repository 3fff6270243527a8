"""A map of words to classes, for language models over classes: a line each, the word and its class."""

from pathlib import Path

from lm.corpus import split
from lm.errors import FormatError
from lm.files import read_lines
from lm.ngrams import BEGIN, END

MARKERS = (BEGIN, END)


def read_word_classes(path: str | Path) -> dict[str, str]:
    """Class of each word. Raises FormatError for a line of another form, a word in two classes, or none."""
    classes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = split(line)
        if len(fields) != 2:
            raise FormatError(path, f"{len(fields)} fields, expected 'word class'; correct the line", number)
        word, name = fields
        if name in MARKERS:
            raise FormatError(path, f"the class {name}, which is of language models; rename it", number)
        if classes.setdefault(word, name) != name:
            raise FormatError(path, f"{word!r} has the classes {classes[word]} and {name}; remove one line", number)
    if not classes:
        raise FormatError(path, "empty; expected lines 'word class'")
    return classes
