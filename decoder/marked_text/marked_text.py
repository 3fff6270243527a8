"""Text with marks, such as tags, and documents: marked text between parts that are not translated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """A mark before and after the characters begin:end of a text; if begin == end, a mark at that place.

    Marks are nested: the marks inside another one are its children.
    """

    begin: int
    end: int
    opening: str
    closing: str = ""
    children: tuple["Mark", ...] = ()
    is_left: bool = False  # if it wraps nothing: it stands right after the preceding word
    is_blank: bool = False  # it replaces the space between two words, as a line break does

    @property
    def count(self) -> int:
        """Number of these marks, including those nested in them."""
        return 1 + sum(child.count for child in self.children)


@dataclass(frozen=True)
class MarkedText:
    """A text to translate (a sentence) and its marks."""

    text: str
    marks: tuple[Mark, ...] = ()

    @property
    def n_marks(self) -> int:
        """Number of its marks, including marks within marks."""
        return sum(mark.count for mark in self.marks)


@dataclass(frozen=True)
class MarkedDocument:
    """A whole text: sentences, and the parts between them, which are not translated."""

    parts: Sequence[str | MarkedText]
    escape: Callable[[str], str] = str  # escapes text between marks

    @property
    def sentences(self) -> list[MarkedText]:
        """The sentences to translate."""
        return [part for part in self.parts if isinstance(part, MarkedText)]

    def filled(self, translations: Sequence[str]) -> str:
        """The document with these translations in place of its sentences."""
        given = iter(translations)
        return "".join(part if isinstance(part, str) else next(given) for part in self.parts)


def plain_document(text: str) -> MarkedDocument:
    """A text without marks, in which each line is a sentence; white space around lines is preserved."""
    parts = list[str | MarkedText]()
    for line in text.split("\n"):
        before, words, behind = with_margins(line)
        parts += ["\n" * bool(parts) + before, *([MarkedText(words)] if words else []), behind]
    return MarkedDocument(parts)


def with_margins(text: str) -> tuple[str, str, str]:
    """White space at the beginning of a text, the text without it, and white space at its end.

    >>> with_margins("  der Hund\\n")
    ('  ', 'der Hund', '\\n')
    """
    words = text.strip()
    begin = len(text) - len(text.lstrip()) if words else len(text)
    return text[:begin], words, text[begin + len(words) :]
