"""GET /v1/models: the models that are served."""

from fastapi import APIRouter
from pydantic import BaseModel

from phrasebeam.server.serving.language_names import language_name
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["models"])


class ModelAnswer(BaseModel):
    """A model that is served."""

    name: str
    version: str
    source_language: str | None  # null if neither the model nor an option of the server names it
    target_language: str | None
    source_language_name: str | None  # in English
    target_language_name: str | None
    raw: bool  # whether it takes raw text, too
    source_words: int
    target_words: int
    phrase_pairs: int
    features: list[str]
    examples: list[str]  # phrases that are frequent in the training text, to try the model with


class ModelsAnswer(BaseModel):
    """All models; the first is the default of requests."""

    models: list[ModelAnswer]


@router.get("/v1/models")
async def list_models(service: Serving) -> ModelsAnswer:
    """List the models that are served."""
    return ModelsAnswer(models=[_answer(one) for one in service.models.all()])


def _answer(served: ServedModel) -> ModelAnswer:
    model, languages = served.decoder.model, served.languages
    return ModelAnswer(
        name=served.name,
        version=served.version,
        source_language=languages and languages.source,
        target_language=languages and languages.target,
        source_language_name=languages and language_name(languages.source),
        target_language_name=languages and language_name(languages.target),
        raw=served.raw_text is not None,
        source_words=len(model.source),
        target_words=len(model.target),
        phrase_pairs=model.tables.phrases.n_pairs,
        features=list(served.decoder.features.names()),
        examples=list(served.examples),
    )
