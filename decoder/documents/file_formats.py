"""File formats by file name, and the use of translate-toolkit, which reads all formats but tables."""

import gzip
import re
import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.base.files import open_binary
from phrasebeam.process.compression import SUFFIXES

ENDINGS = {
    "tsv": (".tsv", ".tab"),
    "csv": (".csv",),
    "tmx": (".tmx",),
    "xliff": (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"),
    "po": (".po", ".pot"),
    "tbx": (".tbx",),
}
MISSING = "PO, XLIFF, TMX and TBX need translate-toolkit, which is not installed; pip install 'phrasebeam[files]'"


def named_format(path: str | Path) -> str | None:
    """The format in ENDINGS that a file name indicates, compressed or not; None if it indicates none.

    Raises ConfigError if `path` is not a path.
    """
    if not isinstance(path, (str, Path)):
        raise ConfigError(f"{excerpt(path)}: expected the path of a file")
    name = Path(path).name.lower()
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return next((kind for kind, endings in ENDINGS.items() if name.endswith(endings)), None)


def format_name(path: str | Path, expected: Sequence[str]) -> str:
    """The format among `expected` that a file name indicates. Raises ConfigError if it indicates none of them."""
    kind = named_format(path)
    if kind in expected:
        return str(kind)
    endings = ", ".join(ending for one in expected for ending in ENDINGS[one])
    raise ConfigError(f"{path}: its name has no known extension; expected one such as {endings}")


def toolkit(module: str) -> Any:
    """A module of translate-toolkit. Raises ConfigError if that is not installed."""
    try:
        return import_module(f"translate.{module}")
    except ImportError as error:
        raise ConfigError(MISSING) from error


def parsed(path: str | Path, store: Callable[[BytesIO], Any], what: str) -> Any:
    """A file, plain or compressed, parsed by translate-toolkit; `what` describes it. Raises FormatError, OSError."""
    return parsed_bytes(path, read_bytes(path), store, what)


def parsed_bytes(path: str | Path, content: bytes, store: Callable[[BytesIO], Any], what: str) -> Any:
    """The content of a file, parsed by translate-toolkit. Raises FormatError, with the line if it is known."""
    try:
        return store(BytesIO(content))
    except Exception as error:  # its parsers raise any exception
        raise damaged(path, error, what) from error


def damaged(path: str | Path, error: Exception, what: str) -> FormatError:
    """The error for users, from a parser's error."""
    line = getattr(error, "lineno", None)
    message = str(error) or type(error).__name__
    if found := re.search(r",? on line (\d+)|, line (\d+), column \d+.*", message):
        line, message = line or int(found[1] or found[2]), message[: found.start()]
    return FormatError(path, f"{message}, expected {what}; mend it, or write it again", line or None)


def read_bytes(path: str | Path) -> bytes:
    """All of a file, decompressed. Raises FormatError if compressed data are damaged, OSError."""
    try:
        with open_binary(path) as file:
            return file.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(path, f"damaged compressed data ({error}); copy the file again") from None
