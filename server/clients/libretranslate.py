"""LibreTranslate's /translate, /languages, /detect, /frontend/settings and /spec, as its clients call them.

A line of text is a paragraph; in HTML a run of text and inline tags is one. Placeholders and tags in text stay as they
are. Models of tokenized text take each paragraph as a sentence, and its words are what stands between spaces.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from phrasebeam.base.errors import excerpt
from phrasebeam.decoder.documents.language_codes import distance
from phrasebeam.decoder.marked_text.html_document import html_parts, html_text
from phrasebeam.decoder.marked_text.marked_text import MarkedDocument, MarkedText, plain_document
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.lm.text.corpus import split
from phrasebeam.server.clients.libretranslate_bodies import (
    FORM,
    JSON,
    MULTIPART,
    DetectBody,
    Detected,
    LanguageAnswer,
    LanguageName,
    LibreTranslateAnswer,
    LibreTranslateBody,
    LibreTranslateRequest,
    SettingsAnswer,
    request_values,
)
from phrasebeam.server.routes.sentence_body import check_nbest
from phrasebeam.server.routes.text_translations import divided, html_translations, text_translations
from phrasebeam.server.serving.authorization import Credentials, check_secret
from phrasebeam.server.serving.error_answers import problems
from phrasebeam.server.serving.language_names import language_name
from phrasebeam.server.serving.languages import LanguagePair
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Service, Serving, check_size

router = APIRouter(tags=["LibreTranslate"])
AUTO = "auto"
LOOKED_AT = 2000  # first characters of a text from which its language is detected
LISTS = frozenset(["q"])  # parameters that a form may have several times
TEXT, HTML = "text", "html"
BYTES_OF_CHARACTER = 12  # at most, for one character in a form
NO_LANGUAGE = "und"  # undetermined, by BCP 47


Body = TypeVar("Body", bound=LibreTranslateRequest)


def taken(body: type[BaseModel]) -> dict[str, Any]:
    """Parameters of a request, for the OpenAPI page."""
    schema = body.model_json_schema()
    return {
        "requestBody": {"required": True, "content": {kind: {"schema": schema} for kind in (JSON, FORM, MULTIPART)}}
    }


@router.post("/translate", response_model_exclude_none=True, openapi_extra=taken(LibreTranslateBody))
async def translate(request: HttpRequest, service: Serving, credentials: Credentials) -> LibreTranslateAnswer:
    """Translate one or more texts from one language to another."""
    body = await read_body(request, LibreTranslateBody)
    check_key(service, credentials, body)
    if (body.format or TEXT) not in (TEXT, HTML):
        raise HTTPException(400, f"the format {excerpt(body.format)} cannot be translated; send format text or html")
    check_nbest("alternatives", body.alternatives + 1, service.limits)
    documents, detected = await _documents(body, request, service), []
    if body.source == AUTO:
        detected = await service.run(request, [partial(_detected, one, service, body.target) for one in documents])
    sources = [one.language for one in detected] or [body.source] * len(documents)
    models = [model_for(service, source, body.target) for source in sources]
    return _answer(body, await _translations(body, documents, models, request, service), detected)


async def _translations(
    body: LibreTranslateBody,
    documents: Sequence[MarkedDocument],
    models: Sequence[ServedModel],
    request: HttpRequest,
    service: Service,
) -> list[list[str]]:
    """The requested number of translations of each document, each document by its model."""
    is_html = body.format == HTML

    def divide(document: MarkedDocument, served: ServedModel, stop: StopFlag) -> MarkedDocument:
        return divided(document, is_html, served, service)

    check_size("sentences", sum(len(document.sentences) for document in documents), service.limits.max_lines)
    if any(served.raw_text for served in models):
        documents = await service.run(request, [partial(divide, *one) for one in zip(documents, models)])
        check_size("sentences", sum(len(document.sentences) for document in documents), service.limits.max_lines)
    translate_one, jobs = html_translations if is_html else text_translations, []
    for document, known in zip(documents, models):
        served = service.projects.of(known, service.clients.project)
        rest = served, service, body.alternatives + 1
        jobs += [partial(translate_one, sentence, *rest) for sentence in document.sentences]
    sentences = iter(await service.run(request, jobs))
    return [_joined(document, [next(sentences) for _ in document.sentences]) for document in documents]


@router.get("/languages")
async def languages(service: Serving) -> list[LanguageAnswer]:
    """List the languages of the models."""
    targets: dict[str, list[str]] = {}
    for pair in _languages(service):
        known = targets.setdefault(pair.source, [])
        known += [code for code in [pair.target] if code not in known]
    for pair in _languages(service):  # target languages are listed, too
        targets.setdefault(pair.target, [])
    return [LanguageAnswer(code=code, name=language_name(code), targets=targets[code]) for code in targets]


@router.post("/detect", openapi_extra=taken(DetectBody))
async def detect(request: HttpRequest, service: Serving, credentials: Credentials) -> list[Detected]:
    """Detect the language of a text, by the share of words in the vocabularies of the models."""
    body = await read_body(request, DetectBody)
    check_key(service, credentials, body)
    (found,) = await service.run(request, [lambda stop: _detections(body.q, service)])
    return found


@router.get("/frontend/settings")
async def frontend_settings(service: Serving) -> SettingsAnswer:
    """Return the settings for a client's user interface; needs no token."""
    first = next(iter(_languages(service)), LanguagePair(NO_LANGUAGE, NO_LANGUAGE))
    sides = {side: LanguageName(code=code, name=language_name(code)) for side, code in first._asdict().items()}
    needs_key, takes = service.token is not None, service.clients.project is not None
    most = service.limits.max_bytes // BYTES_OF_CHARACTER
    return SettingsAnswer(charLimit=most, apiKeys=needs_key, keyRequired=needs_key, language=sides, suggestions=takes)


@router.get("/spec", include_in_schema=False)
async def spec(request: HttpRequest) -> dict[str, Any]:
    """The server's endpoints as OpenAPI describes them: the same as /openapi.json."""
    application: FastAPI = request.app
    return application.openapi()


@router.post("/translate_file", include_in_schema=False)
async def translate_file() -> None:
    """Refuse to translate files, as a LibreTranslate server does where this is switched off."""
    raise HTTPException(403, "files are not translated by this endpoint; send documents to /v1/documents")


async def read_body(request: HttpRequest, kind: type[Body]) -> Body:
    """The body of a request. Raises HTTPException (400, 415)."""
    try:
        return kind.model_validate(await request_values(request, LISTS))
    except ValidationError as error:
        raise HTTPException(400, problems(error)) from None


def check_key(service: Service, credentials: Credentials, body: LibreTranslateRequest) -> None:
    check_secret(service.token, credentials.credentials if credentials else body.api_key)


def model_for(service: Service, source: str, target: str) -> ServedModel:
    """The model of the nearest language pair, if possible a model of raw text. Raises HTTPException (400)."""
    found = []
    for served in service.models.all():
        if served.languages:
            cut = distance(source, served.languages.source), distance(target, served.languages.target)
            if None not in cut:
                found.append((cut, served.raw_text is None, served))
    if found:
        return min(found, key=lambda one: one[:2])[2]
    message = f"{excerpt(source)} to {excerpt(target)} is not supported; see /languages"
    unknown = [served.name for served in service.models.all() if not served.languages]
    if unknown:
        message += f"; the server does not know those of {', '.join(unknown)}, which its option --languages says"
    raise HTTPException(400, message)


async def _documents(body: LibreTranslateBody, request: HttpRequest, service: Service) -> Sequence[MarkedDocument]:
    """The texts of a request, parsed; HTML is parsed by the decoding threads, since that may take a second."""
    texts = body.q if isinstance(body.q, list) else [body.q]
    if body.format != HTML:
        return [plain_document(text) for text in texts]
    most = service.limits.max_lines
    return await service.run(request, [partial(_html_document, text, most) for text in texts])


def _html_document(text: str, most: int, stop: StopFlag) -> MarkedDocument:
    """HTML, parsed. Raises HTTPException (413) as soon as it has more sentences than `most`."""
    parts, n_sentences = list[str | MarkedText](), 0
    for part in html_parts(text):
        stop.check()
        parts.append(part)
        n_sentences += isinstance(part, MarkedText)
        check_size("sentences", n_sentences, most)
    return MarkedDocument(parts, html_text)


def _joined(document: MarkedDocument, sentences: Sequence[Sequence[str]]) -> list[str]:
    """Whole texts, best first, from the translations of their sentences.

    A sentence with fewer translations than others repeats its last one.
    """
    most = max(map(len, sentences), default=1)
    return [document.filled([some[min(i, len(some) - 1)] for some in sentences]) for i in range(most)]


def _answer(
    body: LibreTranslateBody, translated: Sequence[Sequence[str]], detected: list[Detected]
) -> LibreTranslateAnswer:
    best, others = [some[0] for some in translated], [list(some[1:]) for some in translated]
    wants_others = body.alternatives > 0
    if isinstance(body.q, list):
        return LibreTranslateAnswer(
            translatedText=best, alternatives=others if wants_others else None, detectedLanguage=detected or None
        )
    return LibreTranslateAnswer(
        translatedText=best[0],
        alternatives=others[0] if wants_others else None,
        detectedLanguage=detected[0] if detected else None,
    )


def _detected(document: MarkedDocument, service: Service, target: str, stop: StopFlag) -> Detected:
    """The most probable language of a text, among the languages that can be translated to `target`."""
    sources = {one.source for one in _languages(service) if distance(target, one.target) is not None}
    text = "\n".join(sentence.text for sentence in document.sentences)
    found = [one for one in _detections(text, service) if one.language in sources]
    if not found:
        raise HTTPException(400, "the language of the text was not found; say it as source, see /languages")
    return found[0]


def _languages(service: Service) -> Iterable[LanguagePair]:
    return (served.languages for served in service.models.all() if served.languages)


def _detections(text: str, service: Service) -> list[Detected]:
    """Languages by the share of the words of `text` that a model of the language knows, the largest share first."""
    shares: dict[str, float] = {}
    lines = text[:LOOKED_AT].split("\n")
    for served in service.models.all():
        if served.languages is None:
            continue
        raw_text, model = served.raw_text, served.decoder.model
        source, target = (raw_text.source.line, raw_text.target.line) if raw_text else (str, str)
        for code, tokenized, vocabulary in (
            (served.languages.source, source, model.source),
            (served.languages.target, target, model.target),
        ):
            words = [word for line in lines for word in split(tokenized(line)) if any(map(str.isalpha, word))]
            if words:
                share = float((vocabulary.ids(words) >= 0).mean())
                shares[code] = max(shares.get(code, 0.0), share)
    found = sorted(((share, code) for code, share in shares.items() if share), key=lambda one: (-one[0], one[1]))
    return [Detected(confidence=round(100 * share, 1), language=code) for share, code in found]
