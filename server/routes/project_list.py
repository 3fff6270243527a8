"""GET /v1/projects: the projects of a model, whose confirmed translations are used by requests that name them."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.requests import Request as HttpRequest

from phrasebeam.server.routes.segments import NAMED
from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["confirmed translations"])


class ProjectsAnswer(BaseModel):
    """The projects of a model; everyone who has the server's token can use them."""

    model: str
    is_kept: bool  # whether the server keeps projects at all
    projects: list[str]  # the most recently changed first


@router.get("/v1/projects")
async def listed(
    http_request: HttpRequest, service: Serving, model: Annotated[str | None, Query(**NAMED)] = None
) -> ProjectsAnswer:
    """List the projects that have confirmed segments."""
    served = service.models.get(model)
    (names,) = await service.run(http_request, [lambda stop: service.projects.names(served)])
    return ProjectsAnswer(model=served.name, is_kept=service.projects.directory is not None, projects=list(names))
