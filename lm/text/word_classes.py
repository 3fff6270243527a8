"""Files that map words to classes, for language models over classes and for sparse features."""

from collections.abc import Iterable
from pathlib import Path

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.vocabulary import BEGIN, END

MARKERS = (BEGIN, END)  # not allowed as names of classes
EXPECTED = "expected 'word class', or 'class word count' as `cluster` writes it"


def read_word_classes(path: str | Path) -> dict[str, str]:
    """Class of each word, from lines 'word class', or 'class word count' like those of `cluster` and brown-cluster.

    Raises FormatError for other lines, a class <s> or </s>, a word with two classes, and an empty file.
    """
    classes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = split(line)
        if len(fields) not in (2, 3):
            raise FormatError(path, f"{len(fields)} fields, {EXPECTED}; correct the line", number)
        word, name = fields if len(fields) == 2 else (fields[1], fields[0])
        if name in MARKERS:
            raise FormatError(path, f"the class {name}, which is reserved in language models; rename it", number)
        if classes.setdefault(word, name) != name:
            both = f"{excerpt(classes[word])} and {excerpt(name)}"
            raise FormatError(path, f"{excerpt(word)} has the classes {both}; remove one line", number)
    if not classes:
        raise FormatError(path, f"empty; {EXPECTED}")
    return classes


def write_paths(path: str | Path, rows: Iterable[tuple[str, str, int]]) -> None:
    """Write rows (class, word, count) between tabs as Liang's brown-cluster does, by class, then by falling count."""
    with atomic_file(path) as file:
        for name, word, count in sorted(rows, key=lambda row: (row[0], -row[2])):
            file.write(f"{name}\t{word}\t{count}\n".encode())
