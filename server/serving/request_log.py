"""What happens to every request: it gets an id, is read whole or refused, logged and counted."""

import asyncio
import re
import time
import uuid
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phrasebeam.base.errors import printable
from phrasebeam.base.progress import log
from phrasebeam.server.serving.error_answers import error_answer
from phrasebeam.server.serving.metrics import OTHER, Metrics
from phrasebeam.server.serving.server_settings import ServerLimits

ID_HEADER, ID = "X-Request-ID", r"[\w.-]{1,64}"  # ids that a client or a proxy may give
LONGEST_PATH = 100  # characters that are logged
DRAINED = 8  # so many times the size allowed is read of a request that is too large, so that its client hears why


class RequestLog:
    """The application with a log line, an id and metrics for each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
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


class WholeBodies:
    """The application, for which each request is read whole before it begins, unless it is too large or too slow."""

    def __init__(self, app: ASGIApp, limits: ServerLimits):
        self.app, self.limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(self._read(receive), self.limits.max_seconds)
        except TimeoutError:
            await error_answer(408, f"the request did not arrive within {self.limits.max_seconds:g} seconds")(
                scope, receive, send
            )
            return
        if body is None:
            return
        if len(body) > self.limits.max_bytes:
            message = f"the request has more than {self.limits.max_bytes} bytes; send several smaller ones"
            await error_answer(413, message, {"Connection": "close"})(scope, receive, send)
            return
        await self.app(scope, _replay(bytes(body), receive), send)

    async def _read(self, receive: Receive) -> bytearray | None:
        """The body, cut off behind the byte that makes it too large; None if the client went away."""
        body, n_read, is_whole = bytearray(), 0, False
        while not is_whole and n_read <= DRAINED * self.limits.max_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            n_read += len(part)
            body += part[: self.limits.max_bytes + 1 - len(body)]
            is_whole = not message.get("more_body", False)
        return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body first, and then what comes after it."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return first.pop() if first else await receive()

    return next_message
