"""POST /v1/explain and /v1/force: why a sentence is translated as it is, and why it is not translated otherwise."""

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request as HttpRequest

from phrasebeam.decoder.explanation.explainer import MOST_LISTED, MOST_TRACED, ExplanationRequest, SentenceExplanation
from phrasebeam.decoder.explanation.forced_comparison import GivenComparison
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.lm.text.corpus import split
from phrasebeam.server.routes.sentence_body import SentenceBody, Text, check_nbest, input_of, one_line, tokenization_of
from phrasebeam.server.routes.translate import ModelName, OfProject
from phrasebeam.server.serving.service import Serving, check_size

router = APIRouter(tags=["explanation"])


class ExplainBody(SentenceBody):
    """A sentence whose translation is to be explained."""

    model: ModelName = None
    project: OfProject = None
    raw: bool = Field(
        default=False,
        description="whether all text is raw text in the languages of the model; else it consists of tokens",
    )
    nbest: int = Field(
        default=10, ge=1, le=MOST_LISTED, description="number of translations to list, all with different texts"
    )
    stacks: int = Field(
        default=10,
        ge=0,
        le=MOST_TRACED,
        description="number of hypotheses of each kind to list for each stack; 0: none",
    )


class ExplainAnswer(BaseModel):
    """The explanation of a translation. It consists of tokens; `text` is raw if the request was."""

    model: str
    version: str
    text: str
    nbest_texts: list[str]  # raw if the request was
    explanation: SentenceExplanation


class ForceBody(SentenceBody):
    """A sentence, and a translation for which derivations are searched."""

    model: ModelName = None
    project: OfProject = None
    translation: Text = Field(description="the whole translation")
    raw: bool = Field(default=False, description="whether both are raw text; else they are tokens")


class ForceAnswer(BaseModel):
    """Whether the model chooses the translation, and why."""

    model: str
    version: str
    comparison: GivenComparison


@router.post("/v1/explain")
async def explain(body: ExplainBody, http_request: HttpRequest, service: Serving) -> ExplainAnswer:
    """Explain a translation: phrases, alternatives, features times weights, n-best list, and the search."""
    served, limits = service.models.get(body.model), service.limits
    check_nbest("nbest", body.nbest, limits)

    def job(stop: StopFlag) -> ExplainAnswer:
        given = input_of(body, served, body.raw, None, limits.max_words)
        request = ExplanationRequest(nbest=body.nbest, stacks=body.stacks)
        explainer = service.projects.of(served, body.project).explainer
        explanation = explainer.explain(given, request, stop)
        service.metrics.note_sentence(served.name, len(given.words))
        text_of = tokenization_of(served, body.raw).after
        return ExplainAnswer(
            model=served.name,
            version=served.version,
            text=text_of(explanation.best.text),
            nbest_texts=[text_of(one.text) for one in explanation.nbest],
            explanation=explanation,
        )

    (answer,) = await service.run(http_request, [job])
    return answer


@router.post("/v1/force")
async def force(body: ForceBody, http_request: HttpRequest, service: Serving) -> ForceAnswer:
    """Compare a given translation with the one that the search finds, by forced decoding."""
    served, limits = service.models.get(body.model), service.limits

    def job(stop: StopFlag) -> ForceAnswer:
        given = input_of(body, served, body.raw, None, limits.max_words)
        line = one_line(body.translation)
        words = split(tokenization_of(served, body.raw).target(line))
        check_size("words in a translation", len(words), limits.max_words)
        explainer = service.projects.of(served, body.project).explainer
        comparison = explainer.compare(given, words, stop)
        service.metrics.note_sentence(served.name, len(given.words))
        return ForceAnswer(model=served.name, version=served.version, comparison=comparison)

    (answer,) = await service.run(http_request, [job])
    return answer
