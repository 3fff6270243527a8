"""Bodies of LibreTranslate's requests and answers."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from phrasebeam.base.errors import excerpt
from phrasebeam.server.routes.sentence_body import Text
from phrasebeam.server.serving.error_answers import JSON, unknown_content

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
MOST_VALUES = 1000
BOUNDARY = re.compile(r'boundary="?([^";,\s]{1,70})', re.IGNORECASE)
NAME = re.compile(rb';\s*name="([^"]*)"')


class LibreTranslateRequest(BaseModel):
    """Parameters of every request."""

    model_config = ConfigDict(extra="ignore")  # clients send parameters that servers do not know
    api_key: str | None = None  # the server's token


class LibreTranslateBody(LibreTranslateRequest):
    """Parameters of /translate."""

    q: Text | list[Text]
    source: str = Field(max_length=100, description="a language code, or auto")
    target: str = Field(max_length=100)
    format: str | None = Field(default="text", max_length=100, description="text or html")
    alternatives: int = Field(default=0, ge=0)


class DetectBody(LibreTranslateRequest):
    """Parameters of /detect."""

    q: Text


class Detected(BaseModel):
    """A language, and the percentage of words that its models know."""

    confidence: float
    language: str


class LibreTranslateAnswer(BaseModel):
    """Answer of /translate; its fields are lists if q is a list."""

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None
    detectedLanguage: Detected | list[Detected] | None = None


class LanguageAnswer(BaseModel):
    """A source language and its target languages."""

    code: str
    name: str
    targets: list[str]


class LanguageName(BaseModel):
    """A language as LibreTranslate lists it: its code, its name, and the codes of its target languages."""

    code: str
    name: str


class SettingsAnswer(BaseModel):
    """Answer of /frontend/settings: the settings for a client's user interface."""

    charLimit: int
    frontendTimeout: int = 500  # milliseconds after a key until a text is translated; LibreTranslate's default
    apiKeys: bool
    keyRequired: bool
    suggestions: bool = False
    filesTranslation: bool = False
    supportedFilesFormat: list[str] = []
    language: dict[str, LanguageName]  # source and target that are selected at first


async def request_values(request: Request, lists: frozenset[str]) -> Any:
    """The values of a request; a name in `lists` that is given several times has a list.

    If the body is not JSON, the form takes precedence over the address. Raises HTTPException (400; 415 if a body has
    another type).
    """
    data, given = await request.body(), request.headers.get("content-type", "")
    kind = given.partition(";")[0].strip().lower()
    if data and kind not in (JSON, FORM, MULTIPART):
        raise HTTPException(415, unknown_content(request, JSON, FORM, MULTIPART))
    try:
        if kind == JSON:
            return json.loads(data)
        pairs = _multipart(data, given) if kind == MULTIPART else _urlencoded(data)
        address = _urlencoded(request.scope["query_string"])
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"the request has {excerpt(error.object)}, which is not UTF-8") from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request is neither JSON nor a form in UTF-8") from None
    return _by_name(address, lists) | _by_name(pairs, lists)


def _by_name(pairs: list[tuple[str, str]], lists: frozenset[str]) -> dict[str, str | list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: some if name in lists and len(some) > 1 else some[0] for name, some in values.items()}


def _urlencoded(data: bytes) -> list[tuple[str, str]]:
    """The names and values of an urlencoded form. Raises ValueError if it is not UTF-8, or has too many values."""
    text = data.decode("utf-8")
    return parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_VALUES, errors="strict")


def _multipart(data: bytes, content_type: str) -> list[tuple[str, str]]:
    """The values of a form that has a part for each value (RFC 7578). Raises ValueError as _urlencoded does."""
    boundary = BOUNDARY.search(content_type)
    parts = (b"\r\n" + data).split(b"\r\n--" + boundary[1].encode())[1:-1] if boundary else []
    if not parts or len(parts) > MOST_VALUES:
        raise ValueError("no form")
    pairs = []
    for part in parts:
        head, _, value = part.partition(b"\r\n\r\n")
        if (name := NAME.search(head)) is None:
            raise ValueError("a part without a name")
        pairs.append((name[1].decode("utf-8"), value.decode("utf-8")))
    return pairs
