"""Plain text whose lines are paragraphs: divides it into sentences, and joins their translations in the same layout."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from phrasebeam.decoder.documents.segment_markup import text_pieces
from phrasebeam.decoder.marked_text.marked_text import MarkedDocument, MarkedText, plain_document
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision, Span


def paragraphs(text: str, division: SentenceDivision) -> MarkedDocument:
    """The sentences of a text in which each line is a paragraph; white space and empty lines are preserved.

    Placeholders and text within tags are not divided.

    >>> text = "Der Hund schläft.  Er <b>träumt. Laut.</b>\\n\\nEr wacht auf."
    >>> document = paragraphs(text, SentenceDivision("de", "en"))
    >>> [sentence.text for sentence in document.sentences]
    ['Der Hund schläft.', 'Er <b>träumt. Laut.</b>', 'Er wacht auf.']
    >>> document.filled(["The dog sleeps.", "It <b>dreams. Loudly.</b>", "It wakes."])
    'The dog sleeps.  It <b>dreams. Loudly.</b>\\n\\nIt wakes.'
    """
    return divided_lines(plain_document(text), division)


def divided_lines(document: MarkedDocument, division: SentenceDivision) -> MarkedDocument:
    """The document made by `plain_document`, in which the sentences of its lines replace the lines."""
    parts = list[str | MarkedText]()
    for part in document.parts:
        parts += [part] if isinstance(part, str) else division.divided(part, _whole(part.text))
    return MarkedDocument(parts)


def translate_paragraphs(
    lines: Iterable[str], division: SentenceDivision, translate_all: Callable[[Iterable[str]], Iterator[str]]
) -> Iterator[str]:
    """Yield the translations of lines in order, each as soon as `translate_all` has those of its sentences."""
    waiting, ready = deque[MarkedDocument](), list[str]()

    def sentences() -> Iterator[str]:
        for line in lines:
            waiting.append(paragraphs(line, division))
            yield from (sentence.text for sentence in waiting[-1].sentences)

    def finished() -> Iterator[str]:
        while waiting and (n := len(waiting[0].sentences)) <= len(ready):
            yield waiting.popleft().filled(ready[:n])
            del ready[:n]

    for translation in translate_all(sentences()):
        ready.append(translation)
        yield from finished()
    yield from finished()


def _whole(text: str) -> Iterator[Span]:
    """Spans of characters of placeholders, of tags, and of what tags wrap."""
    opened, place = list[tuple[str, int]](), 0
    for piece in text_pieces(text):
        begin, place = place, place + len(piece.written)
        if piece.kind == "start":
            opened.append((piece.name, begin))
        elif piece.kind == "end" and piece.name in [name for name, _ in opened]:
            while opened[-1][0] != piece.name:
                opened.pop()
            yield opened.pop()[1], place
        if piece.kind not in ("text", "break"):
            yield begin, place
