"""Other origins: web pages whose scripts may read answers (CORS), and requests from other programs.

Scripts of any page may call LibreTranslate's paths that translate or list languages, as at a LibreTranslate server.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from phrasebeam.base.errors import ConfigError, excerpt

ANY = "*"
# Paths that scripts of all pages may call: they change nothing, and reveal no more than translations do
OPEN_TO_ALL = frozenset({"/translate", "/detect", "/languages", "/frontend/settings"})
ORIGIN = re.compile(r"https?://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.IGNORECASE)
METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS")
HEADERS = ("Authorization", "Content-Type", "X-Request-ID")


class Clients(NamedTuple):
    """Options about clients, given when the server starts."""

    origins: Sequence[str] = ()  # of web pages whose scripts may call all endpoints; ANY: of all pages
    project: str | None = None  # that clients of LibreTranslate and MateCat use


class CrossOrigin:
    """The application, with headers that let scripts of some origins read its answers."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]):
        self.all = self._allowed(app, origins) if origins else app
        self.open = self._allowed(app, [ANY])

    def _allowed(self, app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
        return CORSMiddleware(app, allow_origins=origins, allow_methods=METHODS, allow_headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = scope["type"] == "http" and scope["path"] in OPEN_TO_ALL
        await (self.open if is_open else self.all)(scope, receive, send)


def check_origin(request: Request, origins: Sequence[str]) -> None:
    """Raise HTTPException (403) if a script of another page sends a request that changes something.

    Browsers send forms to any server, without asking it for permission first.
    """
    origin = request.headers.get("Origin")
    host = request.headers.get("Host")
    if origin is not None and urlsplit(origin).netloc != host and not {ANY, origin} & {*origins}:
        message = f"the request comes from a page of {excerpt(origin)}; allow it by --cors-origin"
        raise HTTPException(403, message)


def checked_origin(origin: str) -> str:
    """The origin that --cors-origin gives. Raises ConfigError."""
    if origin != ANY and not ORIGIN.fullmatch(origin):
        expected = "expected * or an origin such as https://mt.example:8080, without a path"
        raise ConfigError(f"--cors-origin {excerpt(origin)}: {expected}")
    return origin.lower()
