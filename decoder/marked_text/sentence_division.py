"""Division of text into sentences, and the text between them, by sentencex's rules for many languages.

If sentencex divides after an abbreviation in Moses' lists, such as M. in French, the sentence continues.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.input.raw_text_settings import MOSES_LANGUAGES, RawTextSettings
from phrasebeam.decoder.marked_text.marked_text import Mark, MarkedDocument, MarkedText, with_margins
from phrasebeam.decoder.tokenizers.moses_prefixes import nonbreaking_prefixes

MISSING = "paragraphs need sentencex, which is not installed; pip install 'phrasebeam[paragraphs]'"
CHINESE = "zh", "cmn", "yue", "wuu", "nan", "hak", "gan", "hsn", "lzh"
WITHOUT_SPACES = frozenset([*CHINESE, "ja", "th", "lo", "km", "my", "bo", "dz"])  # between sentences
ABBREVIATION = re.compile(r"(\S*[^\W\d_])\.\s*$")
OPENING = "\"'([{«„“\u2018¿¡"  # signs before a word that do not belong to it
SURROGATES = re.compile("[\ud800-\udfff]")  # they cannot occur in UTF-8, but in a JSON request
# Where a sentence that is too long is divided: after these signs, otherwise at white space
PAUSES = re.compile(r"(?<=[,;:])\s+|\s+(?=[\u2013\u2014])|(?<=[\uff0c\uff1b\uff1a\u3001\u060c\u061b])\s*")
SPACES = re.compile(r"\s+")
Span = tuple[int, int]


@dataclass(frozen=True)
class SentenceDivision:
    """How text of a language is divided into sentences.

    >>> division = SentenceDivision("de", "en")
    >>> division.divided(MarkedText("Das ist Hr. Müller.  Er kommt z. B. um 5 Uhr."))
    [MarkedText(text='Das ist Hr. Müller.', marks=()), '  ', MarkedText(text='Er kommt z. B. um 5 Uhr.', marks=())]
    """

    source_language: str
    target_language: str
    is_short: Callable[[str], bool] = lambda text: True  # whether a sentence is within the limits; others are divided

    @classmethod
    def of(cls, settings: RawTextSettings, is_short: Callable[[str], bool] = lambda text: True) -> "SentenceDivision":
        """The division of a model's raw text."""
        return cls(settings.source_language, settings.target_language, is_short)

    def divided(self, text: MarkedText, whole: Iterable[Span] = ()) -> list[str | MarkedText]:
        """The sentences of a text with their marks, and the text between them.

        Text inside a mark is not divided, nor are the spans of characters in `whole`.
        """
        kept = _Kept.of([*((mark.begin, mark.end) for mark in text.marks), *whole])
        parts, behind, begin = list[str | MarkedText](), 0, 0
        for end in [*self._ends(text.text, kept), len(text.text)]:
            before, words, space = with_margins(text.text[begin:end])
            if words:
                first = begin + len(before)
                parts += [self._gap(text, behind, first)] if parts else []
                behind = end - len(space)
                parts.append(_part(text, first, behind))
            begin = end
        return parts

    def divided_document(self, document: MarkedDocument) -> MarkedDocument:
        """The document in which the sentences of its texts replace these texts."""
        parts = [[part] if isinstance(part, str) else self.divided(part) for part in document.parts]
        return replace(document, parts=[one for some in parts for one in some])

    def _ends(self, text: str, kept: "_Kept") -> Iterator[int]:
        """The positions at which sentences end within a text."""
        ends = [end for end in self._sentence_ends(text) if not kept.has_inside(end)]
        for begin, end in pairwise([0, *ends, len(text)]):
            yield from self._cuts(text, begin, end, kept)
            yield end

    def _sentence_ends(self, text: str) -> Iterator[int]:
        language = _primary(self.source_language)
        needs_space = language not in WITHOUT_SPACES
        prefixes = nonbreaking_prefixes(language) if language in MOSES_LANGUAGES else {}
        end = 0
        for sentence in _segments(language, SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text))[:-1]:
            end += len(sentence)
            if needs_space and not (text[end - 1].isspace() or text[end].isspace()):
                continue
            found = ABBREVIATION.search(sentence)
            numeric = prefixes.get(found[1].lstrip(OPENING)) if found else None
            if numeric is None or (numeric and not text[end : end + 1].isdigit()):
                yield end

    def _cuts(self, text: str, begin: int, end: int, kept: "_Kept") -> Iterator[int]:
        """Positions at which a long sentence is divided: near the middle, repeatedly if a part is still too long."""
        if self.is_short(text[begin:end].strip()):
            return
        for pattern, share in ((PAUSES, 0.5), (SPACES, 1.0)):
            middle, margin = (begin + end) / 2, share * (end - begin) / 2
            places = (match.end() for match in pattern.finditer(text, begin, end))
            inner = [one for one in places if begin < one < end and not kept.has_inside(one)]
            near = [one for one in inner if abs(one - middle) <= margin]
            if near:
                place = min(near, key=lambda one: abs(one - middle))
                yield from self._cuts(text, begin, place, kept)
                yield place
                yield from self._cuts(text, place, end, kept)
                return

    def _gap(self, text: MarkedText, begin: int, end: int) -> str:
        """The text between two sentences: white space, and marks that wrap nothing."""
        marks = [mark for mark in _beginning(text.marks, begin, end) if mark.begin == mark.end]
        space = text.text[begin:end]
        if not space and _primary(self.target_language) not in WITHOUT_SPACES:
            space = " "
        space = "" if any(mark.is_blank for mark in marks) else space
        return space + "".join(mark.opening + mark.closing for mark in marks)


def _segments(language: str, text: str) -> list[str]:
    """The sentences of a text, each with the white space after it; their concatenation is the text."""
    try:
        import sentencex
    except ImportError as error:
        raise ConfigError(MISSING) from error
    found: list[str] = sentencex.segment(language, text)
    return found


def _primary(language: str) -> str:
    """The language of a code, without script and region."""
    return language.replace("_", "-").partition("-")[0].lower()


class _Kept(NamedTuple):
    """Spans of characters that are not divided: their begins, in order, and the last end up to each."""

    begins: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, spans: Iterable[Span]) -> "_Kept":
        ordered = sorted(spans)
        return cls([begin for begin, _ in ordered], list(accumulate((end for _, end in ordered), max)))

    def has_inside(self, place: int) -> bool:
        """Whether one of the spans begins before a place and ends after it."""
        n_before = bisect_left(self.begins, place)
        return n_before > 0 and place < self.ends[n_before - 1]


def _beginning(marks: Sequence[Mark], first: int, last: int) -> Sequence[Mark]:
    """The marks whose begin is among the characters `first` to `last`."""
    begin = attrgetter("begin")
    return marks[bisect_left(marks, first, key=begin) : bisect_right(marks, last, key=begin)]


def _part(text: MarkedText, begin: int, end: int) -> MarkedText:
    """The sentence begin:end of a text; marks at its ends that wrap nothing belong to the surrounding text."""
    at_ends = (begin if begin else -1, end if end < len(text.text) else -1)
    marks = (
        _moved(mark, -begin)
        for mark in _beginning(text.marks, begin, end)
        if mark.end <= end and not (mark.begin == mark.end and mark.begin in at_ends)
    )
    return MarkedText(text.text[begin:end], tuple(marks))


def _moved(mark: Mark, by: int) -> Mark:
    children = tuple(_moved(child, by) for child in mark.children)
    return replace(mark, begin=mark.begin + by, end=mark.end + by, children=children)
