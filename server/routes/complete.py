"""POST /v1/complete: completions of what a translator has typed."""

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request as HttpRequest

from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.server.routes.sentence_body import SentenceBody, check_nbest, input_of, tokenization_of
from phrasebeam.server.routes.translate import ModelName, OfProject
from phrasebeam.server.serving.server_settings import MOST_NBEST
from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["translation"])


class CompleteBody(SentenceBody):
    """A sentence and the beginning of its translation, as typed."""

    model: ModelName = None
    project: OfProject = None
    raw: bool = Field(
        default=False,
        description="whether text and prefix are raw text in the languages of the model; else they are tokens",
    )
    k: int = Field(default=1, ge=1, le=MOST_NBEST, description="number of completions, all with different texts")
    partial_word: bool = Field(
        default=True, description="whether the last word of the prefix may be incomplete, unless a space follows"
    )


class CompletionAnswer(BaseModel):
    """A translation that begins with the prefix."""

    text: str  # the whole translation
    rest: str  # what is to be appended to the prefix as typed
    score: float


class CompleteAnswer(BaseModel):
    """Completions, the best first."""

    model: str
    version: str
    completions: list[CompletionAnswer]


@router.post("/v1/complete")
async def complete(body: CompleteBody, http_request: HttpRequest, service: Serving) -> CompleteAnswer:
    """Complete a translation. The prefix may be any text, even if no phrase pair can produce it."""
    served, limits = service.models.get(body.model), service.limits
    check_nbest("k", body.k, limits)

    def job(stop: StopFlag) -> list[CompletionAnswer]:
        given = input_of(body, served, body.raw, None, limits.max_words)
        decoder = service.projects.of(served, body.project).decoder
        answer = decoder.answer(given, Request(n=body.k, distinct=True, mbr=decoder.request.mbr), stop)
        service.metrics.note_sentence(served.name, len(given.words))
        tokenization, typed = tokenization_of(served, body.raw), body.prefix
        if body.raw:  # use the quotation marks and the like of the translation
            typed = tokenization.after(" ".join(given.prefix.words)) + " " * typed[-1:].isspace()
        # If the model chooses by minimum Bayes risk, the first one need not have the largest score.
        others = [one for one in answer.nbest if one.text != answer.translation.text]
        found = [answer.translation, *others][: body.k]
        return [_completion(tokenization.text_of(one, given), typed, one.score) for one in found]

    (completions,) = await service.run(http_request, [job])
    return CompleteAnswer(model=served.name, version=served.version, completions=completions)


def _completion(text: str, typed: str, score: float) -> CompletionAnswer:
    return CompletionAnswer(text=text, rest=rest_of(text, typed), score=score)


def rest_of(text: str, typed: str) -> str:
    """The rest of `text` after as many non-space characters as `typed` has, with a space in front if needed.

    Spaces between tokens, and the case of letters, may differ from what was typed.

    >>> rest_of("The dog sleeps.", "the  dog sl")
    'eeps.'
    """
    n_typed, end = sum(not one.isspace() for one in typed), 0
    while n_typed and end < len(text):
        n_typed -= not text[end].isspace()
        end += 1
    rest = text[end:]
    return rest.lstrip() if not typed or typed[-1].isspace() else rest
