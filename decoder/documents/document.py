"""Documents to translate: their untranslated segments, and the file with translations filled in."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.documents.columns import Columns
from phrasebeam.decoder.documents.paragraphs import paragraphs
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.marked_text.marked_text import plain_document
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision


class Document(ABC):
    """A file whose segments are to be translated."""

    def __init__(self, segments: list[DocumentSegment], n_translated: int = 0):
        self.segments = segments  # segments without a translation, in order
        self.n_translated = n_translated  # number of segments that have a translation, which stays as it is

    def fill(self, translations: Iterable[str]) -> None:
        """Give each of `segments` its translation, in their order. Raises ConfigError if there are fewer."""
        given: Iterator[str] = iter(translations)
        for number, _ in enumerate(self.segments):
            translation = next(given, None)
            if translation is None:
                raise ConfigError(f"{number} translations for {len(self.segments)} segments, expected one for each")
            self._fill(number, translation)

    def confirm(self, translations: Mapping[int, str]) -> None:
        """Give segments, by number, confirmed translations, which need no review."""
        for number, translation in translations.items():
            self._fill(number, translation)
            self._mark_reviewed(number)

    @abstractmethod
    def _mark_reviewed(self, number: int) -> None:
        """Mark a translated segment as needing no review, if the format has such a mark."""

    def write(self, path: str | Path) -> None:
        """Write the document with its translations, compressed if the name says so; replaces an existing file."""
        content = self.content()
        with atomic_file(path) as file:
            file.write(content)

    @abstractmethod
    def content(self) -> bytes:
        """The whole file, with the given translations filled in."""

    @abstractmethod
    def _fill(self, number: int, translation: str) -> None:
        """Give one of the segments its translation."""


class TextDocument(Document):
    """Plain text. Each line that is not empty is a segment; with a `division`, each sentence is one."""

    def __init__(self, path: str | Path, division: SentenceDivision | None = None):
        text = "".join(f"{line}\n" for line in read_lines(path))
        document = paragraphs(text, division) if division else plain_document(text)
        self._parts = [part if isinstance(part, str) else part.text for part in document.parts]
        self._places = [i for i, part in enumerate(document.parts) if not isinstance(part, str)]
        super().__init__([DocumentSegment(self._parts[i]) for i in self._places])

    def _fill(self, number: int, translation: str) -> None:
        self._parts[self._places[number]] = translation

    def _mark_reviewed(self, number: int) -> None:
        """Do nothing: text has no review marks."""

    def content(self) -> bytes:
        return "".join(self._parts).encode()


class TableDocument(Document):
    """A table of tab-separated columns (TSV), in which empty cells of the target language are filled."""

    def __init__(self, path: str | Path, source: str | int | None = None, target: str | int | None = None):
        columns = Columns(path, source, target)
        self._rows = [line.split("\t") for line in read_lines(path)]
        self._places, segments, n_translated = list[int](), list[DocumentSegment](), 0
        for i, row in enumerate(self._rows):
            if columns.places:
                row += [""] * (columns.places[1] + 1 - len(row)) if any(row) else []
            pair = columns.pair(row, i + 1)
            if pair and pair[1].strip():
                n_translated += 1
            elif pair and pair[0].strip():
                self._places.append(i)
                segments.append(DocumentSegment(pair[0]))
        self._target = columns.places[1] if columns.places else 0
        super().__init__(segments, n_translated)

    def _fill(self, number: int, translation: str) -> None:
        self._rows[self._places[number]][self._target] = translation

    def _mark_reviewed(self, number: int) -> None:
        """Do nothing: a table has no review marks."""

    def content(self) -> bytes:
        return "".join("\t".join(row) + "\n" for row in self._rows).encode()
