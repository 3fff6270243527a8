"""Refusals of requests that are not read: their clients hear why at once, and may end what they are sending."""

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from phrasebeam.server.serving.server_settings import ServerLimits

DRAINED = 8  # so many times the size allowed is read of a body that is refused


async def refuse(answer: Response, limits: ServerLimits, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the answer before the body is read. What still comes of it is forgotten, within limits, before the
    connection is closed: a client that is reset while it sends would not see the answer.
    """
    headers = Headers(scope=scope)
    if "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0":
        answer.headers["Connection"] = "close"

    async def send_unfinished(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    await answer(scope, receive, send_unfinished)
    with suppress(TimeoutError):
        async with asyncio.timeout(limits.max_idle):
            await _drain(receive, DRAINED * limits.max_bytes)
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive, most: int) -> None:
    """Receive the rest of a body, at most so many bytes."""
    while most > 0:
        message = await receive()
        most -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return
