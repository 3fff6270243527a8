"""/v1/segments: confirmed translations, from which the model learns before the next sentence."""

import json
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field
from starlette.requests import Request as HttpRequest

from phrasebeam.base.config import Section
from phrasebeam.decoder.adaptation.journal import fields
from phrasebeam.decoder.documents.protected_segment import DocumentSegment
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.translation_memory.segment import Segment
from phrasebeam.lm.text.corpus import split
from phrasebeam.server.routes.sentence_body import Text, one_line, tokenization_of
from phrasebeam.server.routes.translate import ModelName
from phrasebeam.server.serving.projects import PROJECT_NAME
from phrasebeam.server.serving.served_models import ServedModel
from phrasebeam.server.serving.service import Serving, check_size

router = APIRouter(tags=["confirmed translations"])
ProjectName = Annotated[
    str, Field(pattern=PROJECT_NAME, description="name of the project whose confirmed translations are used")
]
NAMED = {"description": "name of a served model; by default the first", "max_length": 100}
MOST_LISTED = 1000  # segments in an answer
LARGEST_NUMBER = 2**53  # of a segment; numbers in JSON are exact up to this one


class SegmentBody(Section):
    """A sentence and its confirmed translation."""

    model: ModelName = None
    project: ProjectName
    source: Text
    translation: Text
    raw: bool = Field(
        default=False, description="whether both are raw text in the languages of the model; else they are tokens"
    )
    is_xml: bool = Field(default=False, description="whether both are XLIFF text, whose tags are left out")
    key: str = Field(
        default="",
        max_length=200,
        description="your key for the segment; a segment with the same key is learned only once",
    )


class SegmentAnswer(BaseModel):
    """A confirmed translation, in tokens."""

    number: int  # in its project, from 1
    source: str
    translation: str
    alignment: list[tuple[int, int]]  # (source, target) positions of aligned words
    key: str


class SegmentsAnswer(BaseModel):
    """Some of the segments of a project, in the order in which they were confirmed."""

    model: str
    project: str
    total: int  # number of all segments of the project
    segments: list[SegmentAnswer]


@router.post("/v1/segments")
async def confirm(body: SegmentBody, http_request: HttpRequest, service: Serving) -> SegmentAnswer:
    """Learn a confirmed translation. It is on disk when the server answers, and used from the next sentence on."""
    served = service.models.get(body.model)

    def job(stop: StopFlag) -> SegmentAnswer:
        sides = segment_words((body.source, body.translation), served, body.raw, body.is_xml, service.limits.max_words)
        return _answer(service.projects.confirm(served, body.project, *sides, body.key))

    return (await service.run(http_request, [job]))[0]


@router.get("/v1/segments")
async def listed(
    http_request: HttpRequest,
    service: Serving,
    project: Annotated[str, Query(pattern=PROJECT_NAME)],
    model: Annotated[str | None, Query(**NAMED)] = None,
    first: Annotated[int, Query(ge=0, le=LARGEST_NUMBER, description="number of segments to skip")] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_LISTED, description="maximum number of segments")] = MOST_LISTED,
) -> SegmentsAnswer:
    """List the confirmed segments of a project, except those that were undone."""
    served = service.models.get(model)
    found = await _segments(http_request, service, served, project)
    answers = [_answer(one) for one in found[first : first + limit]]
    return SegmentsAnswer(model=served.name, project=project, total=len(found), segments=answers)


@router.get("/v1/segments/export", response_class=PlainTextResponse)
async def export(
    http_request: HttpRequest,
    service: Serving,
    project: Annotated[str, Query(pattern=PROJECT_NAME)],
    model: Annotated[str | None, Query(**NAMED)] = None,
) -> str:
    """Export all segments of a project, one JSON object per line."""
    found = await _segments(http_request, service, service.models.get(model), project)
    return "".join(json.dumps(fields(segment), ensure_ascii=False) + "\n" for segment in found)


@router.delete("/v1/segments/{number}")
async def undo(
    number: Annotated[int, Path(ge=1, le=LARGEST_NUMBER)],
    http_request: HttpRequest,
    service: Serving,
    project: Annotated[str, Query(pattern=PROJECT_NAME)],
    model: Annotated[str | None, Query(**NAMED)] = None,
) -> SegmentAnswer:
    """Forget a segment, as if it had never been confirmed."""
    served = service.models.get(model)
    jobs = [lambda stop: service.projects.undo(served, project, number)]
    return _answer((await service.run(http_request, jobs))[0])


async def _segments(
    http_request: HttpRequest, service: Serving, served: ServedModel, project: str
) -> Sequence[Segment]:
    return (await service.run(http_request, [lambda stop: service.projects.segments(served, project)]))[0]


def segment_words(
    texts: tuple[str, str], served: ServedModel, is_raw: bool, is_xml: bool, most: int
) -> tuple[Sequence[str], Sequence[str]]:
    """The words of both sides. Raises ConfigError, and HTTPException (413) if there are too many."""
    lines = [one_line(_without_tags(text) if is_xml else text) for text in texts]
    tokenization = tokenization_of(served, is_raw)
    for line in lines if is_raw else ():
        check_size("characters in a segment", len(line), 50 * most)
    source = served.decoder.input_of(tokenization.before(lines[0])).words
    translation = split(tokenization.target(lines[1]))
    check_size("words in a segment", max(len(source), len(translation)), most)
    return source, translation


def _without_tags(xml: str) -> str:
    text = "".join(piece.written for piece in DocumentSegment(xml, is_xml=True).pieces() if piece.kind == "text")
    return " ".join(text.split())


def _answer(segment: Segment) -> SegmentAnswer:
    return SegmentAnswer(
        number=segment.number,
        source=" ".join(segment.source),
        translation=" ".join(segment.translation),
        alignment=list(segment.alignment),
        key=segment.key,
    )
