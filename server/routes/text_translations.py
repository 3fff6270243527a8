"""The translations of a line of text, whose placeholders stay whole, and of a sentence of HTML, whose tags do."""

from phrasebeam.decoder.documents.protected_segment import DocumentSegment, ProtectedSegment, TranslatedSentence
from phrasebeam.decoder.documents.segment_translation import prepared
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.marked_text.html_document import html_text
from phrasebeam.decoder.marked_text.marked_text import MarkedText
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.marked_text.translated import translated
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.routes.sentence_body import LONGEST_RAW, SentenceBody, input_of
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Service, check_size

MOST_MARKS = 1000  # of a sentence


def html_translations(sentence: MarkedText, served: ServedModel, service: Service, n: int, stop: StopFlag) -> list[str]:
    """The `n` best translations of a sentence of HTML, each another text."""
    check_size("tags in a sentence", sentence.n_marks, MOST_MARKS)
    tokenization, is_raw = Tokenization.of(served.raw_text), served.raw_text is not None
    given = input_of(SentenceBody(text=sentence.text), served, is_raw, "pass-through", service.limits.max_words)
    return [
        translated(sentence, given.words, one, tokenization.after(one.text), tokenization.shown, html_text)
        for one in _best(given, served, service, n, stop)
    ]


def text_translations(line: MarkedText, served: ServedModel, service: Service, n: int, stop: StopFlag) -> list[str]:
    """The `n` best translations of a line of text, with its placeholders and tags."""
    check_size("characters in a sentence", len(line.text), LONGEST_RAW)
    protected, tokenization = ProtectedSegment.of(DocumentSegment(line.text)), Tokenization.of(served.raw_text)
    check_size("sentences in a line", len(protected.sentences), service.limits.max_lines)
    found = [_of_sentence(one, protected, tokenization, served, service, n, stop) for one in protected.sentences]
    most = max(map(len, found), default=1)
    return [
        protected.restored([some[min(i, len(some) - 1)] for some in found], tokenization.shown) for i in range(most)
    ]


def _of_sentence(
    sentence: MarkedText,
    protected: ProtectedSegment,
    tokenization: Tokenization,
    served: ServedModel,
    service: Service,
    n: int,
    stop: StopFlag,
) -> list[TranslatedSentence]:
    check_size("tags in a sentence", sentence.n_marks, MOST_MARKS)
    given = prepared(sentence, protected, tokenization)
    check_size("words in a sentence", len(given.input.words), service.limits.max_words)
    return [
        TranslatedSentence(given.input.words, one, given.text_of(one, tokenization))
        for one in _best(given.input, served, service, n, stop)
    ]


def _best(given: Input, served: ServedModel, service: Service, n: int, stop: StopFlag) -> list[Translation]:
    """The `n` best translations of a sentence, of different texts."""
    answer = served.decoder.answer(given, Request(n if n > 1 else None, n > 1, served.decoder.request.mbr), stop)
    service.metrics.note_sentence(served.name, len(given.words))
    others = [one for one in answer.nbest if one.text != answer.translation.text]
    return [answer.translation, *others][:n]
