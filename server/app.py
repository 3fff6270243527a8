"""The FastAPI application: the served models, and all routers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.gzip import GZipMiddleware

from phrasebeam.server.clients import client_projects, libretranslate, moses_rpc
from phrasebeam.server.page_files import add_page
from phrasebeam.server.routes import (
    complete,
    documents,
    explain,
    health,
    metrics,
    models,
    project_list,
    segments,
    suggestions,
    translate,
)
from phrasebeam.server.serving.authorization import BEARER, AllowedHosts, TokenFirst
from phrasebeam.server.serving.cross_origin import Clients, CrossOrigin
from phrasebeam.server.serving.decoding_pool import DecodingPool
from phrasebeam.server.serving.error_answers import ErrorAnswer, add_error_answers
from phrasebeam.server.serving.projects import Projects
from phrasebeam.server.serving.request_log import RequestLog
from phrasebeam.server.serving.served_models import ServedModels
from phrasebeam.server.serving.server_settings import ServerLimits
from phrasebeam.server.serving.service import Service
from phrasebeam.server.serving.watched_memories import KeptProjects, WatchedMemories
from phrasebeam.server.serving.whole_requests import HeadRequests, WholeRequests

# Routers whose requests need the token in a header, as the OpenAPI page says. Those of OPEN_ROUTERS need no token, or
# take it in the body.
ROUTERS = tuple(
    module.router
    for module in (
        translate,
        complete,
        explain,
        segments,
        project_list,
        documents,
        suggestions,
        models,
        metrics,
        moses_rpc,
    )
)
OPEN_ROUTERS = (libretranslate.router, client_projects.router, health.router)
SECONDS_BETWEEN_LOOKS = 1.0  # between two checks whether a model has changed
LEAST_COMPRESSED, COMPRESSION = 2000, 4  # smallest answer in bytes that is compressed if the client takes gzip; level
REFUSALS = (400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 431, 503)


def create_app(
    models: ServedModels | Mapping[str, Path],
    threads: int = 1,
    limits: ServerLimits | None = None,
    token: str | None = None,
    projects: Path | KeptProjects | None = None,
    hosts: Iterable[str] = (),
    clients: Clients | None = None,
) -> FastAPI:
    """The application that serves `models`, or the models in directories, by name; clients need the `token`, if any.

    `projects`: the directory of confirmed translations, or that directory and translation memories; `hosts`: names
    beside localhost by which the server may be called if there is no token; `clients`: options about clients.

    Raises SmtError.
    """
    limits, clients = limits or ServerLimits(), clients or Clients()
    served = models if isinstance(models, ServedModels) else ServedModels(models)
    keeping = projects if isinstance(projects, KeptProjects) else KeptProjects(projects)

    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncIterator[None]:
        service.pool.open()
        watch = [asyncio.create_task(_watch(look)) for look in looks]
        yield
        for task in watch:
            task.cancel()
        service.pool.close()
        service.projects.close()

    app = FastAPIOffline(
        title="phrasebeam",
        redoc_url=None,  # its page loads a logo from another server
        version=version("phrasebeam"),
        lifespan=run,
        responses={status: {"model": ErrorAnswer} for status in REFUSALS},
    )
    pool, kept = DecodingPool(threads, limits), Projects(keeping.directory, keeping.memories)
    for model in served.all():
        kept.memory_files(model)
    looks = [served.refresh, *([WatchedMemories(keeping.watched, served, kept).look] if keeping.watched else [])]
    service = app.state.service = Service(served, pool, limits, projects=kept, token=token, clients=clients)
    add_error_answers(app)
    _add_routers(app)
    add_page(app)
    app.add_middleware(WholeRequests, limits=limits)
    if token is None:
        app.add_middleware(AllowedHosts, names=hosts, limits=limits)
    else:
        app.add_middleware(TokenFirst, token=token, limits=limits)
    app.add_middleware(CrossOrigin, origins=clients.origins)
    app.add_middleware(GZipMiddleware, minimum_size=LEAST_COMPRESSED, compresslevel=COMPRESSION)
    app.add_middleware(HeadRequests)
    app.add_middleware(RequestLog, metrics=service.metrics)
    return app


def _add_routers(app: FastAPI) -> None:
    for router in ROUTERS:
        app.include_router(router, dependencies=[Depends(BEARER)])
    for router in OPEN_ROUTERS:
        app.include_router(router)


async def _watch(look: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        with suppress(RuntimeError):  # no thread can be started now
            await asyncio.to_thread(look)
