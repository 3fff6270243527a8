"""Ids, log lines and counts of all requests, refused ones included."""

import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phrasebeam.base.errors import printable
from phrasebeam.base.progress import log
from phrasebeam.server.serving.metrics import OTHER, Metrics

ID_HEADER, ID = "X-Request-ID", r"[\w.-]{1,64}"  # ids that a client or a proxy may give
LONGEST_PATH = 100  # characters that are logged


class RequestLog:
    """The application with a log line, an id and metrics for each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        given = Headers(scope=scope).get(ID_HEADER, "")
        request_id = given if re.fullmatch(ID, given, re.ASCII) else uuid.uuid4().hex[:16]
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[ID_HEADER] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            seconds, shown = time.perf_counter() - start, printable(scope["path"][:LONGEST_PATH])
            log.info("%s %s %s %d %.3f s", request_id, scope["method"], shown, status, seconds)
            path = getattr(scope.get("route"), "path", OTHER)
            self.metrics.note_request(scope["method"], path, status, seconds)
