"""Files that map words to classes, for language models over classes and for sparse features."""

from collections.abc import Iterable
from pathlib import Path

from phrasebeam.base.errors import FormatError, excerpt
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.lm.text.corpus import split
from phrasebeam.lm.text.vocabulary import BEGIN, END

MARKERS = (BEGIN, END)  # no names for classes


def read_word_classes(path: str | Path) -> dict[str, str]:
    """Class of each word, from lines 'word class'.

    Raises FormatError for other lines, a class <s> or </s>, a word with two classes, and an empty file.
    """
    classes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = split(line)
        if len(fields) != 2:
            raise FormatError(path, f"{len(fields)} fields, expected 'word class'; correct the line", number)
        word, name = fields
        if name in MARKERS:
            raise FormatError(path, f"the class {name}, which is of language models; rename it", number)
        if classes.setdefault(word, name) != name:
            both = f"{excerpt(classes[word])} and {excerpt(name)}"
            raise FormatError(path, f"{excerpt(word)} has the classes {both}; remove one line", number)
    if not classes:
        raise FormatError(path, "empty; expected lines 'word class'")
    return classes


def read_class_map(path: str | Path) -> dict[str, str]:
    """Class of each word, from lines 'word class', or 'class word count' between tabs, as Liang's brown-cluster writes.

    Raises FormatError for lines of another form.
    """
    for line in read_lines(path):
        if len(line.split("\t")) == 3:
            return _read_paths(path)
        break
    return read_word_classes(path)


def _read_paths(path: str | Path) -> dict[str, str]:
    """Class of each word, from lines 'class word count' between tabs; a class is its path in the tree of clusters."""
    classes = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("\t")
        if len(fields) != 3:
            raise FormatError(path, f"{len(fields)} fields, expected 'class word count' between tabs", number)
        classes[fields[1]] = fields[0]
    return classes


def write_paths(path: str | Path, rows: Iterable[tuple[str, str, int]]) -> None:
    """Write rows (class, word, count) between tabs as Liang's brown-cluster does, by class, then by falling count."""
    with atomic_file(path) as file:
        for name, word, count in sorted(rows, key=lambda row: (row[0], -row[2])):
            file.write(f"{name}\t{word}\t{count}\n".encode())
