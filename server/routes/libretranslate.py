"""LibreTranslate's /translate, /languages and /detect, as its clients call them: with JSON, or with a form.

A line is a sentence. Models of tokenized text alone do not know their languages, and cannot be asked for here.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from phrasebeam.base.errors import excerpt
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.routes.language_names import LANGUAGE_NAMES
from phrasebeam.server.routes.sentence_body import SentenceBody, Text, check_nbest, input_of
from phrasebeam.server.serving.authorization import Credentials, check_secret
from phrasebeam.server.serving.error_answers import JSON, problems, unknown_content
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Service, Serving, check_size

router = APIRouter(tags=["LibreTranslate"])
AUTO = "auto"
LOOKED_AT = 2000  # characters by which a language is detected


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")  # clients send more than servers know
    api_key: str | None = None  # the server's token


class LibreTranslateBody(_Body):
    """What /translate takes."""

    q: Text | list[Text]
    source: str = Field(max_length=100, description="a language code, or auto")
    target: str = Field(max_length=100)
    format: str = Field(default="text", max_length=100, description="text; html cannot be translated")
    alternatives: int = Field(default=0, ge=0)


class DetectBody(_Body):
    """What /detect takes."""

    q: Text


Body = TypeVar("Body", bound=_Body)


class Detected(BaseModel):
    """A language, and the share of words that its models know, in percent."""

    confidence: float
    language: str


class LibreTranslateAnswer(BaseModel):
    """What /translate answers: lists where q is one."""

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None
    detectedLanguage: Detected | list[Detected] | None = None


class LanguageAnswer(BaseModel):
    """A source language and what it can be translated to."""

    code: str
    name: str
    targets: list[str]


def _taken(body: type[BaseModel]) -> dict[str, Any]:
    """What a request takes, for the OpenAPI page."""
    schema = body.model_json_schema()
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema} for kind in (JSON, FORM)}}}


FORM = "application/x-www-form-urlencoded"


@router.post("/translate", response_model_exclude_none=True, openapi_extra=_taken(LibreTranslateBody))
async def translate(request: HttpRequest, service: Serving, credentials: Credentials) -> LibreTranslateAnswer:
    """Translate a text, or several, from one language to another."""
    body = await _read(request, LibreTranslateBody)
    _check_key(service, credentials, body)
    if body.format != "text":
        raise HTTPException(400, f"the format {excerpt(body.format)} cannot be translated; send format text")
    check_nbest("alternatives", body.alternatives + 1, service.limits)
    texts = body.q if isinstance(body.q, list) else [body.q]
    check_size("lines", sum(text.count("\n") + 1 for text in texts), service.limits.max_lines)
    detected = []
    if body.source == AUTO:
        looks = [partial(_detected, text, service, body.target) for text in texts]
        detected = await service.run(request, looks)
    jobs, sources = [], [one.language for one in detected] or [body.source] * len(texts)
    for text, source in zip(texts, sources):
        served = model_for(service, source, body.target)
        jobs += [partial(_translate, line, served, service, body.alternatives + 1) for line in text.split("\n")]
    lines = iter(await service.run(request, jobs))
    translated = [_joined([next(lines) for _ in text.split("\n")]) for text in texts]
    return _answer(body, translated, detected)


@router.get("/languages")
async def languages(service: Serving, credentials: Credentials) -> list[LanguageAnswer]:
    """The languages of the models."""
    check_secret(service.token, credentials.credentials if credentials else None)
    targets: dict[str, list[str]] = {}
    for served in service.models.all():
        if served.languages:
            known = targets.setdefault(served.languages.source_language, [])
            known += [code for code in [served.languages.target_language] if code not in known]
    return [LanguageAnswer(code=code, name=LANGUAGE_NAMES.get(code, code), targets=targets[code]) for code in targets]


@router.post("/detect", openapi_extra=_taken(DetectBody))
async def detect(request: HttpRequest, service: Serving, credentials: Credentials) -> list[Detected]:
    """Which of the models' languages a text is in, by the words that their vocabularies know."""
    body = await _read(request, DetectBody)
    _check_key(service, credentials, body)
    (found,) = await service.run(request, [lambda stop: _detections(body.q, service)])
    return found


async def _read(request: HttpRequest, kind: type[Body]) -> Body:
    """The body of a request, JSON or a form. Raises HTTPException (400, 415)."""
    data = await request.body()
    content = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content not in (JSON, FORM):
        raise HTTPException(415, unknown_content(request, JSON, FORM))
    try:
        if content == JSON:
            values = json.loads(data)
        else:
            form = parse_qs(data.decode("utf-8"), keep_blank_values=True, max_num_fields=1000, errors="strict")
            values = {name: given if name == "q" and len(given) > 1 else given[0] for name, given in form.items()}
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"the request has {excerpt(error.object)}, which is not UTF-8") from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request is neither JSON nor a form in UTF-8") from None
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise HTTPException(400, problems(error)) from None


def _check_key(service: Service, credentials: Credentials, body: _Body) -> None:
    check_secret(service.token, credentials.credentials if credentials else body.api_key)


def model_for(service: Service, source: str, target: str) -> ServedModel:
    """The first model of a pair of languages. Raises HTTPException (400)."""
    for served in service.models.all():
        known = served.languages
        if known and (known.source_language, known.target_language) == (source, target):
            return served
    raise HTTPException(400, f"{excerpt(source)} to {excerpt(target)} is not supported; see /languages")


def _translate(line: str, served: ServedModel, service: Service, n: int, stop: StopFlag) -> list[str]:
    """The `n` best translations of a line, each another text."""
    given = input_of(SentenceBody(text=line), served, True, None, service.limits.max_words)
    mbr, raw_text = served.decoder.request.mbr, served.raw_text
    answer = served.decoder.answer(given, Request(n if n > 1 else None, n > 1, mbr), stop)
    service.metrics.note_sentence(served.name, len(given.words))
    texts = dict.fromkeys(one.text for one in (answer.translation, *answer.nbest))
    return [raw_text.after(text) if raw_text else text for text in texts][:n]


def _joined(lines: Sequence[Sequence[str]]) -> list[str]:
    """Whole texts of the translations of their lines; a line that has fewer keeps its last one."""
    most = max(map(len, lines))
    return ["\n".join(some[min(i, len(some) - 1)] for some in lines) for i in range(most)]


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


def _detected(text: str, service: Service, target: str, stop: StopFlag) -> Detected:
    """The language that a text is most probably in, of those that can be translated to `target`."""
    sources = {one.source_language for one in _languages(service) if one.target_language == target}
    found = [one for one in _detections(text, service) if one.language in sources]
    if not found:
        raise HTTPException(400, "the language of the text was not found; say it as source, see /languages")
    return found[0]


def _languages(service: Service) -> Iterator[Any]:
    return (served.languages for served in service.models.all() if served.languages)


def _detections(text: str, service: Service) -> list[Detected]:
    """Languages by the share of the words of `text` that a model of them knows, the largest first."""
    shares: dict[str, float] = {}
    for served in service.models.all():
        known, raw_text, model = served.languages, served.raw_text, served.decoder.model
        if known is None or raw_text is None:
            continue
        for code, side, vocabulary in (
            (known.source_language, raw_text.source, model.source),
            (known.target_language, raw_text.target, model.target),
        ):
            words = [word for line in text[:LOOKED_AT].split("\n") for word in side.line(line).split()]
            words = [word for word in words if any(map(str.isalpha, word))]
            if words:
                share = float((vocabulary.ids(words) >= 0).mean())
                shares[code] = max(shares.get(code, 0.0), share)
    found = sorted(((share, code) for code, share in shares.items() if share), key=lambda one: (-one[0], one[1]))
    return [Detected(confidence=round(100 * share, 1), language=code) for share, code in found]
