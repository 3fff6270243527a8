"""Translations of a line of text, which keep its placeholders, and of a sentence of HTML, which keep its tags."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from phrasebeam.decoder.documents.paragraphs import divided_lines
from phrasebeam.decoder.documents.protected_segment import DocumentSegment, ProtectedSegment, TranslatedSentence
from phrasebeam.decoder.documents.segment_translation import prepared
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.marked_text.html_document import html_text
from phrasebeam.decoder.marked_text.marked_text import MarkedDocument, MarkedText
from phrasebeam.decoder.marked_text.sentence_division import SentenceDivision
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.marked_text.translated import translated
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.lm.text.corpus import split
from phrasebeam.server.routes.sentence_body import LONGEST_RAW, SentenceBody, input_of
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Service, check_size

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText

MOST_MARKS = 1000  # in a sentence


def divided(document: MarkedDocument, is_html: bool, served: ServedModel, service: Service) -> MarkedDocument:
    """A document whose parts are lines, or runs of HTML, divided into sentences if the model was made from raw text.

    Sentences longer than the limit of words are divided, too. Raises HTTPException (413).
    """
    if served.raw_text is None:
        return document
    check_size("tags in a sentence", max((one.n_marks for one in document.sentences), default=0), MOST_MARKS)
    division = SentenceDivision.of(served.raw_text.settings, partial(_is_short, served.raw_text, service))
    return division.divided_document(document) if is_html else divided_lines(document, division)


def _is_short(raw_text: "RawText", service: Service, text: str) -> bool:
    """Whether a sentence is within the limits of the server."""
    most = service.limits.max_words
    return len(text) <= most or (len(text) <= LONGEST_RAW and len(split(raw_text.before(text))) <= most)


def html_translations(sentence: MarkedText, served: ServedModel, service: Service, n: int, stop: StopFlag) -> list[str]:
    """The `n` best translations of a sentence of HTML, all with different text."""
    check_size("tags in a sentence", sentence.n_marks, MOST_MARKS)
    tokenization, is_raw = Tokenization.of(served.raw_text), served.raw_text is not None
    given = input_of(SentenceBody(text=sentence.text), served, is_raw, "pass-through", service.limits.max_words)
    return [
        translated(sentence, given.words, one, tokenization.text_of(one, given), tokenization.shown, html_text)
        for one in _translations(_answer(given, served, service, _request(served, n), stop), n)
    ]


def text_translations(line: MarkedText, served: ServedModel, service: Service, n: int, stop: StopFlag) -> list[str]:
    """The `n` best translations of a line of text, with its placeholders and tags."""
    protected, shown = ProtectedSegment.of(DocumentSegment(line.text)), Tokenization.of(served.raw_text).shown
    found = segment_answers(protected, served, service, _request(served, n), stop)
    most = max((len(one.sentences) for one in found), default=1)
    last = [len(one.sentences) - 1 for one in found]
    numbered = [[one.sentences[min(i, n)] for one, n in zip(found, last)] for i in range(most)]
    return [protected.restored(one, shown) for one in numbered]


class SentenceAnswer(NamedTuple):
    """A sentence of a segment, with its translations."""

    given: Input
    answer: Answer
    sentences: list[TranslatedSentence]  # with different texts

    @property
    def best(self) -> TranslatedSentence:
        return self.sentences[0]


def segment_answers(
    protected: ProtectedSegment, served: ServedModel, service: Service, request: Request, stop: StopFlag
) -> list[SentenceAnswer]:
    """The sentences of a segment with their translations. Raises HTTPException (413) beyond the limits."""
    check_size("characters in a sentence", len(protected.segment.written), LONGEST_RAW)
    check_size("sentences in a line", len(protected.sentences), service.limits.max_lines)
    return [_of_sentence(one, protected, served, service, request, stop) for one in protected.sentences]


def _of_sentence(
    sentence: MarkedText,
    protected: ProtectedSegment,
    served: ServedModel,
    service: Service,
    request: Request,
    stop: StopFlag,
) -> SentenceAnswer:
    check_size("tags in a sentence", sentence.n_marks, MOST_MARKS)
    tokenization = Tokenization.of(served.raw_text)
    given = prepared(sentence, protected, tokenization, served.terms)
    check_size("words in a sentence", len(given.input.words), service.limits.max_words)
    answer = _answer(given.input, served, service, request, stop)
    texts = [
        TranslatedSentence(given.input.words, one, given.text_of(one, tokenization))
        for one in _translations(answer, request.n or 1)
    ]
    return SentenceAnswer(given.input, answer, texts)


def _request(served: ServedModel, n: int) -> Request:
    """The request for the `n` best translations; the best one is chosen as the model's settings say."""
    return Request(n if n > 1 else None, n > 1, served.decoder.request.mbr)


def _answer(given: Input, served: ServedModel, service: Service, request: Request, stop: StopFlag) -> Answer:
    service.metrics.note_sentence(served.name, len(given.words))
    return served.decoder.answer(given, request, stop)


def _translations(answer: Answer, n: int) -> list[Translation]:
    """The `n` best translations of a sentence, all with different text."""
    others = [one for one in answer.nbest if one.text != answer.translation.text]
    return [answer.translation, *others][:n]
