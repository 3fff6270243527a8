"""Term bases: phrases with given translations, and their positions in a text."""

import csv
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.documents.columns import Columns
from phrasebeam.decoder.documents.file_formats import format_name, parsed, toolkit
from phrasebeam.decoder.documents.language_codes import nearest

DELIMITERS = {"tsv": "\t", "csv": ","}
# Scripts without spaces between words: each character may begin or end a term
WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "IDEOGRAPHIC")


class FoundTerm(NamedTuple):
    """A term in a text, with its translations."""

    begin: int  # in characters
    end: int
    targets: tuple[str, ...]


@dataclass
class TermBase:
    """Phrases of the source language with their translations, in the letter case that these should have.

    >>> terms = TermBase([("operating system", "Betriebssystem"), ("system", "System")])
    >>> list(terms.found("The Operating System"))
    [FoundTerm(begin=4, end=20, targets=('Betriebssystem',))]
    """

    pairs: Iterable[tuple[str, str]]
    _targets: dict[tuple[str, ...], list[str]] = field(default_factory=dict, init=False)
    _longest: dict[str, int] = field(default_factory=dict, init=False)  # words of the longest, by its first

    def __post_init__(self) -> None:
        for source, target in self.pairs:
            words = tuple(word for word, _, _ in _words(source))
            known = self._targets.setdefault(words, [])
            known += [target] if target not in known else []
            self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    def __len__(self) -> int:
        return len(self._targets)

    def found(self, text: str) -> Iterator[FoundTerm]:
        """The terms in a text, from left to right; of terms that begin at the same word, only the longest."""
        words, i = list(_words(text)), 0
        while i < len(words):
            for n in range(min(self._longest.get(words[i][0], 0), len(words) - i), 0, -1):
                if targets := self._targets.get(tuple(word for word, _, _ in words[i : i + n])):
                    yield FoundTerm(words[i][1], words[i + n - 1][2], tuple(targets))
                    i += n - 1
                    break
            i += 1


@checked
def read_terms(path: str | Path, source: str | None = None, target: str | None = None) -> TermBase:
    """Read a term base from a CSV, TSV or TBX file, compressed or not; its name indicates the format.

    `source`, `target`: for TBX the languages (BCP 47), which may be omitted if the file has two languages. For CSV and
    TSV the columns, named by a header or numbered from 1; by default the first two. A term may have several lines, and
    a concept several terms: these are alternative translations, from which the decoder chooses the best. Raises
    FormatError, ConfigError, OSError.

    >>> with open("terms.csv", "w") as file:
    ...     _ = file.write("Hund,hound\\n")
    >>> list(read_terms("terms.csv").found("der Hund schläft"))
    [FoundTerm(begin=4, end=8, targets=('hound',))]
    """
    kind = format_name(path, ("csv", "tsv", "tbx"))
    pairs = _tbx_terms(path, source, target) if kind == "tbx" else _table_terms(path, DELIMITERS[kind], source, target)
    return TermBase(pairs)


def _table_terms(path: str | Path, delimiter: str, source: str | None, target: str | None) -> Iterator[tuple[str, str]]:
    columns = Columns(path, source, target)
    lines = (f"{line}\n" for line in read_lines(path))
    if delimiter == "\t":
        rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            pair = columns.pair(row, rows.line_num)
            if pair is None or not any(pair):
                continue
            yield _checked(path, *pair, rows.line_num)
    except csv.Error as error:
        raise FormatError(
            path, f"{error}, expected quotation marks in pairs; correct the line", rows.line_num
        ) from None


def _checked(path: str | Path, source: str, target: str, line: int | None = None) -> tuple[str, str]:
    source, target = source.strip(), target.strip()
    if not (source and target):
        given = "translation" if source else "term"
        raise FormatError(path, f"no {given} beside {source or target!r}, expected both; add it or remove both", line)
    return source, " ".join(target.split())


def _tbx_terms(path: str | Path, source: str | None, target: str | None) -> Iterator[tuple[str, str]]:
    helpers = toolkit("misc.xml_helpers")
    store = parsed(path, toolkit("storage.tbx").tbxfile, "a term base (TBX)")
    seen = set[str]()
    n_pairs = 0
    for unit in store.units:
        codes = [helpers.getXMLlang(node) or "" for node in unit.getlanguageNodes()]
        terms = {code: [term.text for term in unit.get_target_terms(code)] for code in codes}
        seen |= set(terms)
        sides = _two_codes(path, codes, source, target)
        for one in terms.get(sides[0] or "", ()):
            for other in terms.get(sides[1] or "", ()):
                n_pairs += 1
                yield _checked(path, one, other)
    if not n_pairs:
        raise ConfigError(f"{path}: no terms from {source} to {target}; its languages are {', '.join(sorted(seen))}")


def _two_codes(
    path: str | Path, codes: Sequence[str], source: str | None, target: str | None
) -> tuple[str | None, str | None]:
    """The codes of the source and the target among those of a concept."""
    if source is None or target is None:
        if len(codes) > 2:
            raise ConfigError(f"{path}: has the languages {', '.join(codes)}; give the languages of source and target")
        return (codes[0], codes[1]) if len(codes) == 2 else (None, None)
    return nearest(source, codes), nearest(target, codes)


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text, and its other characters except white space, in lower case; with begin and end of each."""
    position = 0
    for key, group in groupby(enumerate(text), lambda one: _class(one[1], one[0])):
        size = len(list(group))
        if key is not None:
            word = unicodedata.normalize("NFC", text[position : position + size].casefold())
            yield word, position, position + size
        position += size


def _class(character: str, place: int) -> object:
    """The class of a character: letters, digits and marks belong to one class, every other character to its own."""
    if character.isspace():
        return None
    if character.isalnum() or unicodedata.category(character)[0] == "M":
        is_word = character < "\u0e00" or not unicodedata.name(character, "").startswith(WITHOUT_SPACES)
        return "word" if is_word else place
    return place
