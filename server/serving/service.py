"""Objects that endpoints share, and how they get them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar, cast

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.status import HTTP_413_CONTENT_TOO_LARGE

from phrasebeam.server.serving.cross_origin import Clients
from phrasebeam.server.serving.decoding_pool import DecodingPool, Job
from phrasebeam.server.serving.metrics import Metrics
from phrasebeam.server.serving.projects import Projects
from phrasebeam.server.serving.served_models import ServedModels
from phrasebeam.server.serving.server_settings import ServerLimits

Result = TypeVar("Result")


@dataclass
class Service:
    """The served models, and the pool in which requests are decoded."""

    models: ServedModels
    pool: DecodingPool
    limits: ServerLimits = field(default_factory=ServerLimits)
    metrics: Metrics = field(default_factory=Metrics)
    projects: Projects = field(default_factory=lambda: Projects(None))
    token: str | None = None  # if given, nothing is translated without it
    clients: Clients = field(default_factory=Clients)

    async def run(self, request: Request, jobs: Sequence[Job[Result]]) -> list[Result]:
        """The results of the jobs, in their order, see DecodingPool.run."""

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        return await self.pool.run(gone, jobs)


def check_size(what: str, size: int, most: int) -> None:
    """Raise HTTPException (413) if a request has more than `most` of something."""
    if size > most:
        raise HTTPException(HTTP_413_CONTENT_TOO_LARGE, f"{size} {what}, at most {most}; send less at once")


async def service_of(request: Request) -> Service:
    """The service of the application that has the request."""
    return cast(Service, request.app.state.service)


Serving = Annotated[Service, Depends(service_of)]
