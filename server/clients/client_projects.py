"""Endpoints besides LibreTranslate's /translate: LibreTranslate's /suggest, and the GET by which MateCat translates.

Both use the project that the server's option --project names.
"""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from phrasebeam.decoder.marked_text.marked_text import MarkedText, plain_document
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.clients.libretranslate import check_key, model_for, read_body, taken
from phrasebeam.server.clients.libretranslate_bodies import LibreTranslateRequest
from phrasebeam.server.routes.segments import segment_words
from phrasebeam.server.routes.sentence_body import Text
from phrasebeam.server.routes.text_translations import text_translations
from phrasebeam.server.serving.authorization import Credentials, check_secret
from phrasebeam.server.serving.cross_origin import check_origin
from phrasebeam.server.serving.service import Serving, check_size

router = APIRouter()
NO_PROJECT = "this server takes no suggestions; it is to be started with --project NAME"
Code = Annotated[str, Query(max_length=100)]


class SuggestBody(LibreTranslateRequest):
    """Parameters of /suggest."""

    q: Text
    s: Text  # the better translation
    source: str
    target: str


class SuggestAnswer(BaseModel):
    """Whether the better translation was taken over."""

    success: bool


class GoogleTranslation(BaseModel):
    """A translation in MateCat's format."""

    translatedText: str


class GoogleTranslations(BaseModel):
    """The only translation of a request."""

    translations: list[GoogleTranslation]


class MateCatAnswer(BaseModel):
    """Answer to MateCat's GET."""

    data: GoogleTranslations


@router.post("/suggest", tags=["LibreTranslate"], openapi_extra=taken(SuggestBody))
async def suggest(request: HttpRequest, service: Serving, credentials: Credentials) -> SuggestAnswer:
    """Confirm a translation, as /v1/segments does, for the project of the server's clients."""
    check_origin(request, service.clients.origins)
    body = await read_body(request, SuggestBody)
    check_key(service, credentials, body)
    project, served = service.clients.project, model_for(service, body.source, body.target)
    if project is None:
        raise HTTPException(404, NO_PROJECT)

    def job(stop: StopFlag) -> None:
        texts, is_raw = (body.q.strip(), body.s.strip()), served.raw_text is not None
        sides = segment_words(texts, served, is_raw, False, service.limits.max_words)
        service.projects.confirm(served, project, *sides, "")

    await service.run(request, [job])
    return SuggestAnswer(success=True)


@router.get("/translate", tags=["MateCat"])
async def matecat(
    request: HttpRequest,
    service: Serving,
    credentials: Credentials,
    q: Annotated[str, Query(description="a segment")] = "",
    source: Code = "",
    target: Code = "",
    key: Annotated[str | None, Query(description="the server's token")] = None,
) -> MateCatAnswer:
    """Translate a segment for MateCat's own engine (Moses)."""
    check_secret(service.token, credentials.credentials if credentials else key)
    served = service.projects.of(model_for(service, source, target), service.clients.project)
    document = plain_document(q)
    check_size("sentences", len(document.sentences), service.limits.max_lines)

    def job(stop: StopFlag, line: MarkedText) -> str:
        return text_translations(line, served, service, 1, stop)[0]

    jobs = [lambda stop, line=line: job(stop, line) for line in document.sentences]
    text = document.filled(await service.run(request, jobs))
    return MateCatAnswer(data=GoogleTranslations(translations=[GoogleTranslation(translatedText=text)]))
