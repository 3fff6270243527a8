"""The translation of a marked text: its text, with the marks at the places that the word alignment determines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from phrasebeam.decoder.marked_text.marked_text import MarkedText
from phrasebeam.decoder.marked_text.placement import PlacedMark, Span, place_marks
from phrasebeam.decoder.marked_text.token_spans import token_spans
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.lm.text.corpus import split


def translated(
    sentence: MarkedText,
    words: Sequence[str],
    translation: Translation,
    text: str,
    shown: Callable[[str], str] = str,
    escape: Callable[[str], str] = str,
) -> str:
    """The translation `text` of a sentence of these words, with its marks.

    `shown`: writes a token as text; `escape`: escapes text between marks.
    """
    if not sentence.marks:
        return escape(text)
    tokens = split(translation.text)
    spans = token_spans([shown(word) for word in words], sentence.text)
    placed = place_marks(sentence.marks, spans, translation.phrases, len(tokens))
    target_spans = token_spans([shown(token) for token in tokens], text)
    pieces = _pieces(placed, text, target_spans)
    return "".join(piece if is_mark else escape(piece) for piece, is_mark in pieces)


class _Event(NamedTuple):
    """A mark, or one end of it, at a border between target words."""

    border: int
    written: str
    is_left: bool  # it stands right after the word before the border
    is_blank: bool


def _events(placed: Iterable[PlacedMark]) -> Iterator[_Event]:
    """The marks in the order in which they are written."""
    for begin, end, mark, children in placed:
        is_empty = begin == end
        yield _Event(begin, mark.opening, is_empty and mark.is_left, mark.is_blank)
        yield from _events(children)
        if mark.closing:
            yield _Event(end, mark.closing, not is_empty, False)


def _pieces(placed: Iterable[PlacedMark], text: str, spans: Sequence[Span]) -> Iterator[tuple[str, bool]]:
    """The pieces of a translation `text` whose words have these spans of characters; whether each piece is a mark."""
    at: list[list[_Event]] = [[] for _ in range(len(spans) + 1)]
    for event in _events(placed):
        at[event.border].append(event)
    position = 0
    for events, (begin, end) in zip(at, [*spans, (len(text), len(text))]):
        n_left = max((k for k, one in enumerate(events, 1) if one.is_left), default=0)
        yield from ((one.written, True) for one in events[:n_left])
        if not any(one.is_blank for one in events):
            yield text[position:begin], False
        yield from ((one.written, True) for one in events[n_left:])
        yield text[begin:end], False
        position = end
