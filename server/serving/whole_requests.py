"""Complete requests for the endpoints: the body is read before a request is handled. HEAD is handled as GET.

Requests are refused if they are too large or too slow, or if their address is not text.
"""

import asyncio
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phrasebeam.base.errors import excerpt
from phrasebeam.server.serving.error_answers import error_answer, refuse
from phrasebeam.server.serving.server_settings import ServerLimits


class WholeRequests:
    """The application. The whole body of a request is read before the application handles it."""

    def __init__(self, app: ASGIApp, limits: ServerLimits):
        self.app, self.limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        address = scope["raw_path"] + b"?" + scope["query_string"]
        if not _is_text(address):
            message = f"the address {excerpt(address.decode('latin-1'))} is not UTF-8; encode text as UTF-8, then by %"
            await refuse(error_answer(400, message), self.limits, scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.limits.max_seconds):
                body, is_whole = await self._read(receive)
        except TimeoutError:
            message = f"the request did not arrive within {self.limits.max_seconds:g} seconds"
            await error_answer(408, message, {"Connection": "close"})(scope, receive, send)
            return
        if body is None:
            return
        if len(body) > self.limits.max_bytes:
            message = f"the request has more than {self.limits.max_bytes} bytes; send several smaller ones"
            answer = error_answer(413, message)
            await (answer(scope, receive, send) if is_whole else refuse(answer, self.limits, scope, receive, send))
            return
        await self.app(scope, _replay(bytes(body), receive), send)

    async def _read(self, receive: Receive) -> tuple[bytearray | None, bool]:
        """The body, or enough of it to be too large, or None if the client went away; and whether it is complete."""
        body, is_whole = bytearray(), False
        while not is_whole and len(body) <= self.limits.max_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None, True
            body += message.get("body", b"")
            is_whole = not message.get("more_body", False)
        return body, is_whole


def _is_text(address: bytes) -> bool:
    """Whether the bytes of an address, after decoding of %, are UTF-8."""
    try:
        unquote_to_bytes(address).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` function that returns the body first, and then what `receive` returns."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return first.pop() if first else await receive()

    return next_message


class HeadRequests:
    """The application, which treats HEAD like GET; the server omits the body."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        as_get = {**scope, "method": "GET"}
        try:
            await self.app(as_get, receive, send_without_body)
        finally:
            scope["route"] = as_get.get("route")  # for the log and the metrics
