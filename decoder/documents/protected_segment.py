"""A segment as sentences to translate, without its markup, and the restoration of the markup in their translations.

The markup is written as HTML, whose sentences and tags decoder/marked_text handles: markup that wraps text becomes
elements, signs become comments. A placeholder becomes a word that occurs in no language, its stand-in.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape, unescape
from typing import NamedTuple

from phrasebeam.decoder.documents.segment_markup import SENTENCE, MarkupPiece, in_order, text_pieces, xml_pieces
from phrasebeam.decoder.marked_text.html_document import EMPTY, html_document, html_text
from phrasebeam.decoder.marked_text.html_tokens import HtmlToken
from phrasebeam.decoder.marked_text.marked_text import Mark, MarkedDocument, MarkedText, with_margins
from phrasebeam.decoder.marked_text.translated import translated
from phrasebeam.decoder.output.translation import Translation

# Between placeholders, which it joins to one: %s/%s
CONNECTOR = re.compile(r"[./:=+#@|~*^%$-]{1,3}")
SPACES = re.compile(r"\s+")  # all white space, as tokenizers understand it
FIRST_WORD, LAST_WORD = re.compile(r"[\w-]+"), re.compile(r"[\w-]+$")
NOTHING = MarkupPiece("break", "")
WRITTEN_MARK = re.compile(r"<[^<>]*?\bm=(\d+)[^<>]*>")
BRACED = re.compile(r"\{[^}]*\}")  # possible fields of Python's str.format, whether they are code or text
STRICT = re.compile(r"[%{}<>`\\]")
# Elements that include the space before or after their words
BEGINNING_WITH_SPACE = re.compile(r"((?:<[a-z][^\s<>]* m=\d+[^<>]*>)+)( +)(?!<)")
ENDING_IN_SPACE = re.compile(r"(?<!>)( +)((?:</[^<>]*>)+)")
SIGNS = set("*`{}<>\\")  # signs of which markup consists
ELEMENT = re.compile(rf"<(/?)(?!(?:{'|'.join(EMPTY)}) )([a-z][^\s<>]*) m=\d+[^<>]*>")


class DocumentSegment(NamedTuple):
    """A text of a document that is translated by itself; in XLIFF, the content of an element, with its tags."""

    written: str
    is_xml: bool = False

    def pieces(self) -> list[MarkupPiece]:
        """The text and the markup of the segment."""
        return xml_pieces(self.written) if self.is_xml else text_pieces(self.written)


class TranslatedSentence(NamedTuple):
    """A sentence of a segment in another language."""

    words: Sequence[str]  # the words that were given to the decoder
    translation: Translation
    text: str  # text of the translation


@dataclass(frozen=True)
class ProtectedSegment:
    """The sentences of a segment, in which stand-ins replace placeholders.

    >>> protected = ProtectedSegment.of(DocumentSegment("Open <b>%s</b> now"))
    >>> [sentence.text for sentence in protected.sentences]
    ['Open zx2xz now']
    """

    segment: DocumentSegment
    markup: tuple[str, ...]  # by number, in the order of the segment
    html: str
    stand_in: re.Pattern[str]

    @classmethod
    def of(cls, segment: DocumentSegment) -> "ProtectedSegment":
        """Divide a segment into sentences and markup."""
        _, words, _ = with_margins(segment.written)
        pieces = _attached(list(_joined(segment._replace(written=words).pieces())))
        letters = _unused_letters(segment.written)
        writer = _Writer(pieces, letters)
        markup = tuple(piece.written for piece in pieces)
        return cls(segment, markup, writer.html(), re.compile(rf"{letters[0]}(\d+){letters[1]}", re.IGNORECASE))

    @cached_property
    def document(self) -> MarkedDocument:
        """The sentences, and what is between them."""
        return html_document(self.html)

    @property
    def sentences(self) -> list[MarkedText]:
        """The text to translate, without markup, and the spans that markup wraps."""
        return self.document.sentences

    def restored(self, translations: Iterable[TranslatedSentence], shown: Callable[[str], str] = str) -> str:
        """The segment in the other language, made from the translations of its sentences.

        Each piece of its markup occurs once, markup that wraps text is nested as before, and line ends and the white
        space around the segment are the same. If translations make that impossible, the segment stays as it is.
        `shown`: a token as it is written in text.
        """
        filled = [self._restored_sentence(*pair, shown) for pair in zip(self.sentences, translations)]
        html = self.document.filled(filled)
        made = self._written(html)
        is_whole = keeps_markup(made, self.segment) and is_nested(html) == is_nested(self.html)
        return made.written if is_whole and made.written.strip() else self.segment.written

    def walls(self, sentence: MarkedText) -> list[int]:
        """Characters of a sentence before which everything that precedes them must have been translated.

        Placeholders that get their values by order alone thus keep their order.
        """
        found = [
            match.start()
            for match in self.stand_in.finditer(sentence.text)
            if in_order(MarkupPiece("word", self.markup[int(match[1])]))
        ]
        return found[1:]

    def _restored_sentence(self, sentence: MarkedText, one: TranslatedSentence, shown: Callable[[str], str]) -> str:
        """A translated sentence with its marks, in which each stand-in occurs once."""
        places = {int(match[1]): match.start() for match in self.stand_in.finditer(sentence.text)}
        missing = set(places)

        def first(match: re.Match[str]) -> str:
            number = int(match[1])
            is_first = number in missing
            missing.discard(number)
            return match[0] if is_first else ""

        signs = made_up_signs(sentence.text)
        kept = (piece for piece in text_pieces(one.text) if piece.kind == "text" or not is_strict(piece))
        text = "".join(piece.written for piece in kept).translate(signs)
        text = " ".join(self.stand_in.sub(first, text).split())
        marks = sentence.marks
        for number in sorted(missing):
            place = places[number]
            marks = _inserted(marks, Mark(place, place, f" <!-- m={number} --> ", is_blank=True))
        sentence = replace(sentence, marks=marks)
        html = translated(
            sentence, one.words, one.translation, text, lambda token: shown(token).translate(signs), html_text
        )
        return ENDING_IN_SPACE.sub(r"\2\1", BEGINNING_WITH_SPACE.sub(r"\2\1", html)).strip(" ")

    def _written(self, html: str) -> DocumentSegment:
        """The segment made from its HTML, in which each piece of markup is represented by its number."""
        parts = WRITTEN_MARK.split(html)
        for i, part in enumerate(parts):
            parts[i] = self.markup[int(part)] if i % 2 else self._plain(unescape(part))
        before, _, behind = with_margins(self.segment.written)
        return self.segment._replace(written="".join([before, *parts, behind]))

    def _plain(self, text: str) -> str:
        """Text between tags as written in the file, with stand-ins replaced."""
        text = escape(text, quote=False) if self.segment.is_xml else text
        return self.stand_in.sub(lambda match: self.markup[int(match[1])], text)


def made_up_signs(source: str) -> dict[int, None]:
    """Signs, for str.translate, that a translation of this text can contain only if the model invents them.

    A model does so if its training text contains markup that was divided into tokens.
    """
    return dict.fromkeys(map(ord, SIGNS - set(source)))


def is_strict(piece: MarkupPiece) -> bool:
    """Whether a piece of markup has a meaning to programs, unlike ordinary text such as $5."""
    return piece.kind != "word" or STRICT.search(piece.written) is not None


def keeps_markup(made: DocumentSegment, source: DocumentSegment) -> bool:
    """Whether a translation has all markup of its source, equally often, and the same white space at both ends."""
    given, found = ([piece for piece in segment.pieces() if piece.kind != "text"] for segment in (source, made))
    more = Counter(piece.written for piece in found)
    more.subtract(piece.written for piece in given)
    if min(more.values(), default=0) < 0 or any(more[piece.written] for piece in found if is_strict(piece)):
        return False
    if Counter(BRACED.findall(made.written)) != Counter(BRACED.findall(source.written)):
        return False
    orders = [[one for piece in pieces for one in in_order(piece)] for pieces in (given, found)]
    return orders[0] == orders[1] and with_margins(made.written)[::2] == with_margins(source.written)[::2]


def is_nested(html: str) -> bool:
    """Whether each element in the HTML of a ProtectedSegment ends before the element around it ends."""
    opened = list[str]()
    for match in ELEMENT.finditer(html):
        if not match[1]:
            opened.append(match[2])
        elif not opened or opened.pop() != match[2]:
            return False
    return not opened


def _joined(pieces: Iterable[MarkupPiece]) -> Iterator[MarkupPiece]:
    """The pieces; placeholders with only connecting signs between them are joined to one."""
    kept: list[MarkupPiece] = []
    for piece in pieces:
        kept.append(piece)
        if piece.kind == "word" and len(kept) == 3 and kept[0].kind == "word" and CONNECTOR.fullmatch(kept[1].written):
            kept = [MarkupPiece("word", "".join(one.written for one in kept))]
        elif len(kept) == 3 or (kept[0].kind != "word") or (len(kept) == 2 and piece.kind != "text"):
            yield from kept[:-1] if piece.kind == "word" else kept
            kept = [piece] if piece.kind == "word" else []
    yield from kept


def _unused_letters(text: str) -> tuple[str, str]:
    """The letters around the number of a stand-in, which do not occur in the text."""
    letters = "zx"
    while letters in text.lower():
        letters += "q"
    return letters, letters[::-1]


def _inserted(marks: Sequence[Mark], more: Mark) -> tuple[Mark, ...]:
    """The marks with another one added, inside the innermost mark around it."""
    for i, mark in enumerate(marks):
        if mark.begin <= more.begin < mark.end:
            inner = replace(mark, children=_inserted(mark.children, more))
            return (*marks[:i], inner, *marks[i + 1 :])
    return tuple(sorted((*marks, more), key=lambda mark: mark.begin))


def _attached(pieces: Sequence[MarkupPiece]) -> list[MarkupPiece]:
    """Replace signs: a sign with a word on one side only wraps that word; all others become words."""
    found, behind = list[MarkupPiece](), [*pieces[1:], NOTHING]
    opened: MarkupPiece | None = None  # a sign before the next word
    for i, (piece, following) in enumerate(zip(pieces, behind)):
        if piece.kind != "sign":
            run = _first_word(piece) if opened else ""
            if opened:
                found += [opened, piece._replace(written=run), MarkupPiece("end", "", opened.name)]
                piece, opened = piece._replace(written=piece.written[len(run) :]), None
            found += [piece] if piece.written else []
        elif _ends_in_word(found[-1] if found else NOTHING) == bool(_first_word(following)):
            found.append(piece._replace(kind="word"))
        elif _first_word(following):
            opened = MarkupPiece("start", piece.written, f"!{i}")
        else:
            word = found.pop()
            run = word.written if word.kind == "word" else LAST_WORD.findall(word.written)[0]
            rest = word.written[: len(word.written) - len(run)]
            found += [word._replace(written=rest)] if rest else []
            found += [MarkupPiece("start", "", f"!{i}"), word._replace(written=run)]
            found.append(MarkupPiece("end", piece.written, f"!{i}"))
    return found


def _first_word(piece: MarkupPiece) -> str:
    """The word or placeholder with which a piece begins; "" if it begins with neither."""
    match = FIRST_WORD.match(piece.written)
    return piece.written if piece.kind == "word" else match[0] if piece.kind == "text" and match else ""


def _ends_in_word(piece: MarkupPiece) -> bool:
    return piece.kind == "word" or (piece.kind == "text" and LAST_WORD.search(piece.written) is not None)


class _Writer:
    """Writes the pieces of a segment as HTML, each as <... m=number> or as a stand-in."""

    def __init__(self, pieces: Sequence[MarkupPiece], letters: tuple[str, str]):
        self.pieces, self.letters = pieces, letters
        self._names: dict[str, str] = {}  # of elements that HTML does not have

    def html(self) -> str:
        """The HTML of all pieces; line ends separate sentences, unless an element continues across one."""
        html = "".join(self._piece(number, "hr") for number in range(len(self.pieces)))
        if all(map(is_nested, html.split("<hr m="))) or not is_nested(html):
            return html
        return "".join(self._piece(number, "img") for number in range(len(self.pieces)))

    def _piece(self, number: int, break_name: str) -> str:
        kind, written, name = self.pieces[number]
        if kind == "text":
            return html_text(SPACES.sub(" ", written))
        if kind == "word":
            return f"{self.letters[0]}{number}{self.letters[1]}"
        if kind in ("break", "space"):
            return f"<{break_name if kind == 'break' else 'img'} m={number}>"
        if kind == "end" or written.startswith("</"):
            return f"</{self._name(name)} m={number}>"
        is_kept = (HtmlToken("start", written, name).attribute("translate") or "").lower() == "no"
        return f"<{self._name(name)} m={number}{' translate=no' * is_kept}>"

    def _name(self, name: str) -> str:
        """The name of an element in HTML: its own name, except for elements in which HTML allows no tags."""
        if name == SENTENCE or name == "title":
            return "li"
        return name if re.fullmatch("[a-z][a-z0-9-]*", name) else self._names.setdefault(name, f"m{len(self._names)}")
