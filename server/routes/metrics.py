"""GET /metrics: counters and times for Prometheus."""

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse

from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["server"])


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(service: Serving) -> Response:
    """Return counts of requests, seconds, sentences, words and memory, in the text format of Prometheus."""
    versions = {one.name: one.version for one in service.models.all()}
    return Response(service.metrics.text(service.pool.n_requests, versions), media_type=CONTENT_TYPE_LATEST)
