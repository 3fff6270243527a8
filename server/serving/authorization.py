"""Who may use the server: clients that have its token or, without a token, pages and programs of this machine."""

import ipaddress
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.status import HTTP_401_UNAUTHORIZED
from starlette.types import ASGIApp, Receive, Scope, Send

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import read_lines
from phrasebeam.server.serving.error_answers import error_answer, refuse
from phrasebeam.server.serving.server_settings import ServerLimits

SHORTEST_TOKEN = 16  # characters; 16 random ones cannot be guessed
BEARER = HTTPBearer(auto_error=False)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
# First parts of the paths that need no token: the files of the page, and paths that say nothing about models
OPEN = frozenset({"health", "frontend", "page", "docs", "openapi.json", "static-offline-docs"})
KEY_IN_BODY = frozenset({"/translate", "/detect", "/suggest"})  # look for the token elsewhere if no header has it
HOST = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<name>[^:\[\]]+))(?::\d{0,5})?")
HOST_NAME = re.compile(r"[a-z0-9._-]{1,253}", re.IGNORECASE)


class TokenFirst:
    """The application, with a check of a request's token before its body is read."""

    def __init__(self, app: ASGIApp, token: str, limits: ServerLimits):
        self.app, self.token, self.limits = app, token, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_open(scope["path"]):
            scheme, given = get_authorization_scheme_param(Headers(scope=scope).get("Authorization"))
            has_token = scheme.lower() == "bearer" and bool(given)
            if has_token or scope["path"] not in KEY_IN_BODY:
                try:
                    check_secret(self.token, given if has_token else None)
                except HTTPException as error:
                    answer = error_answer(error.status_code, error.detail, error.headers)
                    await refuse(answer, self.limits, scope, receive, send)
                    return
        await self.app(scope, receive, send)


def _is_open(path: str) -> bool:
    return path == "/" or path.removeprefix("/").partition("/")[0] in OPEN


def check_secret(token: str | None, given: str | None) -> None:
    """Raise HTTPException (401) if there is a token and `given` is not that token."""
    if token is not None and (given is None or not secrets.compare_digest(_bytes(given), _bytes(token))):
        what = "no token" if given is None else "another token"
        message = f"the request has {what}; send Authorization: Bearer and the server's token"
        raise HTTPException(HTTP_401_UNAUTHORIZED, message, {"WWW-Authenticate": "Bearer"})


def read_token(path: Path) -> str:
    """The token in a file, its only line. Raises FormatError or OSError."""
    lines = [line.strip() for line in read_lines(path)]
    token = lines[0] if len(lines) == 1 else ""
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        expected = f"expected one line, a token of at least {SHORTEST_TOKEN} ASCII characters without spaces"
        raise FormatError(path, f"{expected}; make one with: python -c 'import secrets; print(secrets.token_hex())'")
    return token


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class AllowedHosts:
    """The application, for requests whose Host is localhost, an address, or one of the allowed names."""

    def __init__(self, app: ASGIApp, names: Iterable[str], limits: ServerLimits):
        self.app, self.limits = app, limits
        self.names = {"localhost", *map(str.lower, names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(given) == 1 and self._is_allowed(given[0]):
            await self.app(scope, receive, send)
            return
        found = f"the Host {excerpt(', '.join(given))}" if given else "no Host"
        message = f"the request has {found}; without a token expected localhost, an address or an --allowed-host"
        await refuse(error_answer(421, message), self.limits, scope, receive, send)

    def _is_allowed(self, host: str) -> bool:
        match = HOST.fullmatch(host.lower())
        return match is not None and (match["name"] in self.names or _is_address(match["address"] or match["name"]))


def check_host_name(name: str) -> str:
    """The name that --allowed-host gives. Raises ConfigError."""
    if not HOST_NAME.fullmatch(name):
        raise ConfigError(f"--allowed-host {excerpt(name)}: expected a name such as mt.example, without scheme or port")
    return name


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
