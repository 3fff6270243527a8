"""The application: what is served, and all routers, mounted."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from phrasebeam.server.page_files import add_page
from phrasebeam.server.routes import explain, models, translate
from phrasebeam.server.serving.decoding_pool import DecodingPool
from phrasebeam.server.serving.error_answers import ErrorAnswer, add_error_answers
from phrasebeam.server.serving.served_models import ServedModels
from phrasebeam.server.serving.server_settings import ServerLimits
from phrasebeam.server.serving.service import Service

ROUTERS = (models.router, translate.router, explain.router)
SECONDS_BETWEEN_LOOKS = 1.0  # at whether a model has changed
REFUSALS = (401, 404, 413, 422, 429, 503)


def create_app(directories: Mapping[str, Path], threads: int = 1, limits: ServerLimits | None = None) -> FastAPI:
    """The application that serves the models in `directories`, by name. Raises SmtError."""
    limits, served = limits or ServerLimits(), ServedModels(directories)

    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncIterator[None]:
        watch = asyncio.create_task(_watch(served))
        yield
        watch.cancel()
        app.state.service.pool.close()

    app = FastAPIOffline(
        title="phrasebeam",
        version=version("phrasebeam"),
        lifespan=run,
        responses={status: {"model": ErrorAnswer} for status in REFUSALS},
    )
    app.state.service = Service(served, DecodingPool(threads, limits), limits)
    add_error_answers(app)
    for router in ROUTERS:
        app.include_router(router)
    add_page(app)
    return app


async def _watch(served: ServedModels) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        await asyncio.to_thread(served.refresh)
