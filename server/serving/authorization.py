"""The bearer token, if the server has one, without which nothing is translated."""

import secrets
from pathlib import Path
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.status import HTTP_401_UNAUTHORIZED

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import read_lines
from phrasebeam.server.serving.service import Serving

SHORTEST_TOKEN = 16  # characters; 16 random ones cannot be guessed
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


def check_token(service: Serving, credentials: Credentials) -> None:
    """Raise HTTPException (401) unless a request has the token, where the server wants one."""
    check_secret(service.token, credentials.credentials if credentials else None)


def check_secret(token: str | None, given: str | None) -> None:
    """Raise HTTPException (401) unless `given` is the token, where there is one."""
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
