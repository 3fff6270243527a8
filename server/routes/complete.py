"""POST /v1/complete: how what a translator has typed may go on."""

from typing import TYPE_CHECKING

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request as HttpRequest

from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.routes.sentence_body import SentenceBody, check_nbest, input_of
from phrasebeam.server.routes.translate import ModelName, OfProject
from phrasebeam.server.serving.server_settings import MOST_NBEST
from phrasebeam.server.serving.service import Serving

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText

router = APIRouter(tags=["translation"])


class CompleteBody(SentenceBody):
    """A sentence and what has been typed of its translation."""

    model: ModelName = None
    project: OfProject = None
    raw: bool = Field(default=False, description="text and prefix are raw, of the languages of the model; else tokens")
    k: int = Field(default=1, ge=1, le=MOST_NBEST, description="completions, each another text")
    partial_word: bool = Field(default=True, description="the prefix ends within a word, unless a space follows")


class CompletionAnswer(BaseModel):
    """A translation that begins with the prefix."""

    text: str  # all of it
    rest: str  # what is to be appended to the prefix as it was typed
    score: float


class CompleteAnswer(BaseModel):
    """Completions, the best first."""

    model: str
    version: str
    completions: list[CompletionAnswer]


@router.post("/v1/complete")
async def complete(body: CompleteBody, http_request: HttpRequest, service: Serving) -> CompleteAnswer:
    """Complete a translation; the prefix may be any text, also what no phrase pair yields."""
    served, limits = service.models.get(body.model), service.limits
    check_nbest("k", body.k, limits)

    def job(stop: StopFlag) -> list[CompletionAnswer]:
        given = input_of(body, served, body.raw, None, limits.max_words)
        decoder = service.projects.of(served, body.project).decoder
        answer = decoder.answer(given, Request(n=body.k, distinct=True, mbr=decoder.request.mbr), stop)
        service.metrics.note_sentence(served.name, len(given.words))
        raw_text = served.raw_text if body.raw else None
        typed = body.prefix
        if raw_text:  # in which quotation marks and the like are as in the translation
            typed = raw_text.after(" ".join(given.prefix.words)) + " " * typed[-1:].isspace()
        # By least Bayes risk, where the model asks for it, the first one need not be that of the largest score.
        others = [one for one in answer.nbest if one.text != answer.translation.text]
        return [_completion(one, typed, raw_text) for one in [answer.translation, *others][: body.k]]

    (completions,) = await service.run(http_request, [job])
    return CompleteAnswer(model=served.name, version=served.version, completions=completions)


def _completion(translation: Translation, typed: str, raw_text: "RawText | None") -> CompletionAnswer:
    text = raw_text.after(translation.text) if raw_text else translation.text
    return CompletionAnswer(text=text, rest=rest_of(text, typed), score=translation.score)


def rest_of(text: str, typed: str) -> str:
    """The rest of `text` behind as many characters that are no space as `typed` has, with a space if one is due.

    Spaces between tokens may be others than those that were typed, and so may be cases.

    >>> rest_of("The dog sleeps.", "the  dog sl")
    'eeps.'
    """
    n_typed, end = sum(not one.isspace() for one in typed), 0
    while n_typed and end < len(text):
        n_typed -= not text[end].isspace()
        end += 1
    rest = text[end:]
    return rest.lstrip() if not typed or typed[-1].isspace() else rest
