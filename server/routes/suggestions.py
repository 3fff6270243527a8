"""POST /v1/suggestions: the translation of a segment of a document, with what its project has confirmed."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request as HttpRequest

from phrasebeam.base.config import Section
from phrasebeam.decoder.documents.protected_segment import DocumentSegment, ProtectedSegment
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.routes.sentence_body import Text
from phrasebeam.server.routes.text_translations import SentenceAnswer, segment_answers
from phrasebeam.server.routes.translate import ModelName, OfProject
from phrasebeam.server.routes.translation_answer import MatchAnswer, match_of
from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["documents"])

DOUBTFUL = 0.5  # two of three words with a lower confidence are wrong: docs/experiments/word-confidences.md


class SuggestionBody(Section):
    """A segment of a document: raw text, or tokens if the model was trained on tokenized text."""

    model: ModelName = None
    project: OfProject = None
    text: Text
    is_xml: bool = False


class DoubtfulWord(BaseModel):
    """A word of the suggestion that is probably wrong."""

    word: str
    confidence: float  # the probability that it is right


class SuggestionAnswer(BaseModel):
    """A suggested translation of the segment."""

    model: str
    version: str
    text: str
    match: MatchAnswer | None  # the most similar confirmed segment, if this segment is a single sentence
    words: int
    unknown: list[str]  # words of the segment that are in no phrase pair
    doubtful: list[DoubtfulWord]  # of the suggestion, in its order


@router.post("/v1/suggestions")
async def suggest(body: SuggestionBody, http_request: HttpRequest, service: Serving) -> SuggestionAnswer:
    """Translate a segment with its placeholders and tags, and find the most similar confirmed segment."""
    known = service.models.get(body.model)

    def job(stop: StopFlag) -> SuggestionAnswer:
        served, tokenization = service.projects.of(known, body.project), Tokenization.of(known.raw_text)
        protected = ProtectedSegment.of(DocumentSegment(body.text, body.is_xml))
        decoder = served.decoder
        request = Request(mbr=decoder.request.mbr, confidence=decoder.confidence)
        found = segment_answers(protected, served, service, request, stop)
        text = protected.restored([one.best for one in found], tokenization.shown)
        answers: list[Answer] = [one.answer for one in found]
        match = match_of(answers[0]) if len(answers) == 1 else None
        if match:
            match = match.model_copy(update={"translation": tokenization.after(match.translation)})
        return SuggestionAnswer(
            model=served.name,
            version=served.version,
            text=text,
            match=match,
            words=sum(len(one.given.words) for one in found),
            unknown=[word for one in answers for word in _unknown(one, protected)],
            doubtful=[word for one in found for word in _doubtful(one, protected, tokenization)],
        )

    return (await service.run(http_request, [job]))[0]


def _unknown(answer: Answer, protected: ProtectedSegment) -> list[str]:
    """The words that no phrase pair has, without placeholders, which are always copied."""
    unknown = [phrase.source for phrase in answer.translation.phrases if phrase.is_unknown]
    return [word for word in unknown if not protected.stand_in.search(word)]


def _doubtful(one: SentenceAnswer, protected: ProtectedSegment, tokenization: Tokenization) -> list[DoubtfulWord]:
    """The words of a translation that are probably wrong, without placeholders."""
    shown = tokenization.in_text(one.answer.translation, one.given)
    return [
        DoubtfulWord(word=word, confidence=confidence)
        for word, confidence in zip(shown.text.split(), shown.confidences)
        if confidence < DOUBTFUL and not protected.stand_in.search(word)
    ]
