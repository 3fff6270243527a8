"""Converts segments of documents to input of the decoder, and translations back to segments."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from phrasebeam.decoder.documents.protected_segment import (
    DocumentSegment,
    ProtectedSegment,
    TranslatedSentence,
    made_up_signs,
)
from phrasebeam.decoder.documents.term_base import TermBase
from phrasebeam.decoder.input.sentence_input import LONGEST_TERM, Input, Term
from phrasebeam.decoder.marked_text.marked_text import Mark, MarkedText
from phrasebeam.decoder.marked_text.token_spans import token_spans
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Span, Tokenization, covered, with_terms
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.lm.text.corpus import split


class SegmentSentence(NamedTuple):
    """A sentence of a segment, as the decoder takes it."""

    source: str
    input: Input

    def text_of(self, translation: Translation, tokenization: Tokenization) -> str:
        """The text of its translation, with the terms of term bases written as in these."""
        signs = made_up_signs(self.source)
        tokens = split(translation.text)
        shown = [tokenization.shown(token).translate(signs) for token in tokens]
        text = tokenization.after(" ".join(token for token, characters in zip(tokens, shown) if characters))
        return with_terms(text, shown, translation, self.input.terms)


def prepared(
    sentence: MarkedText, protected: ProtectedSegment, tokenization: Tokenization, terms: TermBase | None = None
) -> SegmentSentence:
    """The tokens of a sentence, with placeholders as terms to be kept, terms of the term base, and zones of tags."""
    words = split(tokenization.before(sentence.text))
    spans = token_spans([tokenization.shown(word) for word in words], sentence.text)
    kept = list(_merged(covered(spans, *match.span()) for match in protected.stand_in.finditer(sentence.text)))
    given = [(one, sentence.text[spans[one[0]][0] : spans[one[1] - 1][1]], "") for one in kept]
    for one, targets in _found_terms(sentence.text, spans, kept, terms) if terms else ():
        given += [(one, target, target) for target in targets]
    all_terms = [
        Term(*words, tuple(split(tokenization.target(target))), written=written)
        for words, target, written in given
        if words[1] - words[0] <= LONGEST_TERM
    ]
    walls = tuple(covered(spans, place, place + 1)[0] for place in protected.walls(sentence))
    zones = () if walls else _zones(sentence.marks, spans, [(term.begin, term.end) for term in all_terms])
    return SegmentSentence(sentence.text, Input(words, tuple(all_terms), walls=walls, zones=zones))


def with_term_base(given: Input, terms: TermBase, tokenization: Tokenization = TOKENIZED) -> Input:
    """A sentence in which terms of a term base have their translations, unless the sentence gives other ones."""
    words, spans, begin = [tokenization.shown(word) for word in given.words], list[Span](), 0
    for word in words:
        spans.append((begin, begin + len(word)))
        begin += len(word) + 1
    found = _found_terms(" ".join(words), spans, [(one.begin, one.end) for one in given.terms], terms)
    whole = ((one, targets) for one, targets in found if not any(_cross(one, zone) for zone in given.zones))
    new = [
        Term(*one, tuple(split(tokenization.target(target))), written=target if tokenization.is_raw else "")
        for one, targets in whole
        for target in targets
    ]
    return replace(given, terms=(*given.terms, *new))


def _found_terms(
    text: str, spans: Sequence[Span], kept: Sequence[Span], terms: TermBase
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """The terms in a text, as spans of words, with their translations; none overlaps a span that is `kept`.

    `spans`: the characters of each word.
    """
    for begin, end, targets in terms.found(text):
        first, behind = covered(spans, begin, end)
        is_whole = first < behind <= first + LONGEST_TERM and (spans[first][0], spans[behind - 1][1]) == (begin, end)
        if is_whole and not any(first < last and start < behind for start, last in kept):
            yield (first, behind), targets


def translate_segments(
    segments: Iterable[DocumentSegment],
    translate_all: Callable[[Iterable[Input]], Iterable[Translation]],
    tokenization: Tokenization | None = None,
    terms: TermBase | None = None,
    known: Callable[[DocumentSegment], str | None] = lambda segment: None,
) -> Iterator[str]:
    """Yield the translations of segments in order, each as soon as it is ready.

    `translate_all` yields a translation for each sentence, in order, as Decoder.translate_all does; `known` returns the
    translation of a whole segment, ready to be written, or None.
    """
    tokenization = tokenization or TOKENIZED
    waiting: deque[tuple[ProtectedSegment | str, list[SegmentSentence]]] = deque()

    def inputs() -> Iterator[Input]:
        for segment in segments:
            if (whole := known(segment)) is not None:
                waiting.append((whole, []))
                continue
            protected = ProtectedSegment.of(segment)
            sentences = [prepared(one, protected, tokenization, terms) for one in protected.sentences]
            waiting.append((protected, sentences))
            yield from (sentence.input for sentence in sentences)

    ready: list[Translation] = []
    for translation in translate_all(inputs()):
        ready.append(translation)
        yield from _finished(waiting, ready, tokenization)
    yield from _finished(waiting, ready, tokenization)


def _finished(
    waiting: deque[tuple[ProtectedSegment | str, list[SegmentSentence]]],
    ready: list[Translation],
    tokenization: Tokenization,
) -> Iterator[str]:
    """Yield the first segments, as far as all their sentences are translated."""
    while waiting and len(waiting[0][1]) <= len(ready):
        protected, sentences = waiting.popleft()
        if isinstance(protected, str):
            yield protected
            continue
        translations = [
            TranslatedSentence(one.input.words, translation, one.text_of(translation, tokenization))
            for one, translation in zip(sentences, ready)
        ]
        del ready[: len(sentences)]
        yield protected.restored(translations, tokenization.shown)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The spans, joined where they share words; empty spans are omitted."""
    found = list[Span]()
    for begin, end in spans:
        if found and begin < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif begin < end:
            found.append((begin, end))
    return found


def _zones(marks: Iterable[Mark], spans: Sequence[Span], terms: Sequence[Span]) -> tuple[Span, ...]:
    """Zones that keep tagged words together in the translation; none that cross other zones or terms."""
    zones = list[Span]()
    for mark in _all(marks):
        begin, end = covered(spans, mark.begin, mark.end) if mark.begin < mark.end else (0, 0)
        if 1 < end - begin < len(spans) and not any(_cross((begin, end), other) for other in [*zones, *terms]):
            zones += [(begin, end)] if (begin, end) not in zones else []
    return tuple(zones)


def _cross(one: Span, other: Span) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def _all(marks: Iterable[Mark]) -> Iterator[Mark]:
    for mark in marks:
        yield mark
        yield from _all(mark.children)
