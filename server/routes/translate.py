"""POST /v1/translate: one text or many; each request has the options of the command `translate`."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from phrasebeam.base.config import Section
from phrasebeam.base.errors import SmtError
from phrasebeam.decoder.input.input_settings import Markup
from phrasebeam.decoder.marked_text.marked_text import MarkedDocument, MarkedText, plain_document
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.translate.translate_settings import overridden
from phrasebeam.server.routes.sentence_body import SentenceBody, Text, check_nbest, input_of
from phrasebeam.server.routes.text_translations import divided
from phrasebeam.server.routes.translation_answer import Details, TranslationAnswer, translation_answer
from phrasebeam.server.serving.projects import PROJECT_NAME
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.server_settings import MOST_NBEST, ServerLimits
from phrasebeam.server.serving.service import Service, Serving, check_size

PLACES = "paragraphs are for text without positions of tokens, walls, zones or a prefix"

router = APIRouter(tags=["translation"])
ModelName = Annotated[str | None, Field(max_length=100, description="name of a served model; by default the first")]
OfProject = Annotated[
    str | None,
    Field(
        pattern=PROJECT_NAME, description="name of the project whose confirmed translations are used, see /v1/segments"
    ),
]


class TranslateBody(Section):
    """Sentences to translate, and the results to compute for each."""

    model: ModelName = None
    project: OfProject = None
    text: Text | SentenceBody | list[Text | SentenceBody] = Field(
        description="a sentence, or a list of sentences, with or without instructions"
    )
    raw: bool = Field(
        default=False,
        description="whether all text is raw text in the languages of the model; else it consists of tokens",
    )
    paragraphs: bool = Field(
        default=False,
        description="whether each raw text may have several lines and sentences, which are translated one by one; "
        "`sentences` in the answer has the details of each",
    )
    markup: Markup | None = Field(
        default=None,
        description="how to read <x translation=...>, <wall/> and <zone>; by default as the model's settings say",
    )
    nbest: int | None = Field(default=None, ge=1, le=MOST_NBEST, description="size of the n-best list of each sentence")
    distinct: bool = Field(default=False, description="only the best derivation of each text in the n-best list")
    alignment: bool = Field(default=False, description="add word alignments")
    phrases: bool = Field(default=False, description="add the phrases of each translation")
    features: bool = Field(default=False, description="add the values of features")
    confidences: bool = Field(default=False, description="add the probability of each token")
    mbr: bool | None = Field(
        default=None, description="choose by minimum Bayes risk; by default as the model's settings say"
    )
    mbr_size: int | None = Field(
        default=None, ge=1, le=MOST_NBEST, description="number of distinct translations to compare"
    )
    mbr_scale: float | None = Field(
        default=None,
        ge=0,
        le=1e9,
        description="factor by which model scores are multiplied before they become probabilities",
    )


class TranslateAnswer(BaseModel):
    """The translations, in the order of the sentences."""

    model: str
    version: str
    translations: list[TranslationAnswer]  # for texts of paragraphs only text and score
    sentences: list[list[TranslationAnswer]] | None = None  # the sentences of each text of paragraphs


@router.post("/v1/translate", response_model_exclude_none=True)
async def translate(body: TranslateBody, http_request: HttpRequest, service: Serving) -> TranslateAnswer:
    """Translate one or more sentences."""
    served, limits = service.models.get(body.model), service.limits
    sentences = _sentences(body)
    check_size("sentences", len(sentences), limits.max_lines)
    documents = await _documents(body, sentences, served, http_request, service) if body.paragraphs else []
    if documents:
        sentences = [_part(whole, one) for whole, document in zip(sentences, documents) for one in document.sentences]
        check_size("sentences", len(sentences), limits.max_lines)
    request = _request(body, served, limits)
    details = Details(body.raw, body.alignment, body.phrases, body.features, body.confidences)

    def job(number: int, sentence: SentenceBody, stop: StopFlag) -> TranslationAnswer:
        try:
            given = input_of(sentence, served, body.raw, body.markup, limits.max_words)
            answer = service.projects.of(served, body.project).decoder.answer(given, request, stop)
        except SmtError as error:
            where = f"text[{number}]" if isinstance(body.text, list) and not documents else "text"
            raise HTTPException(422, f"{where}: {error}") from None
        service.metrics.note_sentence(served.name, len(given.words))
        nbest = answer.nbest if body.nbest else []
        return translation_answer(answer, nbest, given, served, details)

    jobs = [partial(job, number, sentence) for number, sentence in enumerate(sentences)]
    translations = await service.run(http_request, jobs)
    answer = TranslateAnswer(model=served.name, version=served.version, translations=translations)
    return _joined(answer, documents) if body.paragraphs else answer


async def _documents(
    body: TranslateBody,
    sentences: Sequence[SentenceBody],
    served: ServedModel,
    http_request: HttpRequest,
    service: Service,
) -> list[MarkedDocument]:
    """The texts of a request, divided into sentences. Raises HTTPException (413, 422)."""
    if not body.raw or served.raw_text is None:
        raise HTTPException(422, "paragraphs are for raw text; give raw and a model for raw text, or leave them out")

    def divide(sentence: SentenceBody, stop: StopFlag) -> MarkedDocument:
        if not isinstance(sentence.text, str) or sentence.has_places:
            raise HTTPException(422, f"{PLACES}; leave them out, or paragraphs")
        return divided(plain_document(sentence.text), False, served, service)

    return await service.run(http_request, [partial(divide, one) for one in sentences])


def _part(whole: SentenceBody, sentence: MarkedText) -> SentenceBody:
    """One sentence of a text, with the instructions for the whole text."""
    return whole.model_copy(update={"text": sentence.text})


def _joined(answer: TranslateAnswer, documents: Iterable[MarkedDocument]) -> TranslateAnswer:
    """The answer for whole texts, from the answer for all of their sentences."""
    rest, wholes, sentences = iter(answer.translations), list[TranslationAnswer](), list[list[TranslationAnswer]]()
    for document in documents:
        own = list(islice(rest, len(document.sentences)))
        text, score = document.filled([one.text for one in own]), sum(one.score for one in own)
        wholes.append(TranslationAnswer(text=text, score=score))
        sentences.append(own)
    return answer.model_copy(update={"translations": wholes, "sentences": sentences})


def _sentences(body: TranslateBody) -> list[SentenceBody]:
    texts = body.text if isinstance(body.text, list) else [body.text]
    return [SentenceBody(text=one) if isinstance(one, str) else one for one in texts]


def _request(body: TranslateBody, served: ServedModel, limits: ServerLimits) -> Request:
    """The request to the decoder. Raises HTTPException (422)."""
    own = served.decoder.request.mbr
    is_risk = own is not None if body.mbr is None else body.mbr
    if not is_risk and (body.mbr_size is not None or body.mbr_scale is not None):
        raise HTTPException(422, "mbr_size and mbr_scale need mbr; give it, or leave out them")
    if body.distinct and body.nbest is None:
        raise HTTPException(422, "distinct needs nbest; give both, or neither")
    check_nbest("nbest", body.nbest or 1, limits)
    check_nbest("mbr_size", body.mbr_size or 1, limits)
    given = {"size": body.mbr_size, "scale": body.mbr_scale}
    risk = overridden(own or MbrSettings(), given, "mbr") if is_risk else None
    n = body.nbest or (1 if body.features else None)
    confidence = served.decoder.confidence if body.confidences else None
    return Request(n, body.distinct, risk, sparse="names" if body.features else "", confidence=confidence)
