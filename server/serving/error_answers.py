"""Errors as all endpoints answer them: a status and {"error": "one line"}; and refusals before a request is read."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from phrasebeam.base.errors import LONGEST_ERROR, SmtError, excerpt, printable
from phrasebeam.base.progress import log
from phrasebeam.server.serving.server_settings import ServerLimits

MOST_PROBLEMS = 3  # of one request that an answer names
JSON = "application/json"
DRAINED = 8  # of a refused body, at most this many times the allowed size is read


class ErrorAnswer(BaseModel):
    """An error message of one line."""

    error: str


def error_answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer with this status and message."""
    return JSONResponse({"error": printable(message)[:LONGEST_ERROR]}, status, headers)


def add_error_answers(app: FastAPI) -> None:
    """Let `app` answer faulty requests with 4xx and a message, and log all other errors."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return error_answer(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        if isinstance(error.body, bytes):  # FastAPI does not take them as JSON
            return error_answer(415, unknown_content(request, JSON))
        return error_answer(422, problems(error))

    @app.exception_handler(SmtError)
    async def wrong(request: Request, error: SmtError) -> JSONResponse:
        return error_answer(422, str(error))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return error_answer(500, "the server failed, and has logged why; please report it")


def unknown_content(request: Request, *expected: str) -> str:
    """The error message if the body of a request has none of the expected types."""
    given = request.headers.get("Content-Type")
    found = f"the Content-Type {excerpt(given)}" if given else "no Content-Type"
    return f"the request has {found}; send {' or '.join(expected)}"


def problems(error: RequestValidationError | ValidationError) -> str:
    """The errors of a request as one line, with the path of each invalid value."""
    found = []
    for one in error.errors()[:MOST_PROBLEMS]:
        place = ".".join(str(part) for part in one["loc"] if part != "body")
        found.append(f"{place or 'request'}: {one['msg']}, found {excerpt(one.get('input'))}")
    return "; ".join(found)


async def refuse(answer: Response, limits: ServerLimits, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the answer before the body is read. The rest of the body is read and dropped, within limits, before the
    connection is closed: a client whose connection is reset while it sends would not see the answer.
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
    """Receive the rest of a body, until `most` bytes have been received."""
    while most > 0:
        message = await receive()
        most -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return
