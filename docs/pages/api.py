"""The page of the Python API: the public names by the chapters of the package's docstring, each with its own."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

import phrasebeam
from phrasebeam.base.config import Section

HEAD = """# Python

`docs/pages/api.py` generates this page from the docstring of the package. On the documentation site, the docstrings of
all names follow below.

Each command has a function whose arguments have the names and defaults of the command's options. Classes give access to
the parts, such as the decoder. Import all names from `phrasebeam`:

    import phrasebeam

    decoder = phrasebeam.Decoder.load("model")
    print(decoder.translate("der hund schläft .").text)

Text is tokenized, one sentence per line, unless an argument says that it is raw. A file is given as a name or Path.
Wrong files, settings or arguments raise `SmtError`, whose one line says where the error is and what to do. A file that
cannot be opened raises `OSError`. `help(phrasebeam.tune)` explains each argument of a function.

{chapters}
"""
CHAPTER = re.compile(r"^(\w[\w ]+)\n((?:    .+\n?)+)", re.M)


def page() -> str:
    """The whole text."""
    return HEAD.format(chapters="\n\n".join(_chapters()))


def _chapters() -> Iterator[str]:
    """Each heading of the docstring, and behind it where its names are defined."""
    public = [name for name in dir(phrasebeam) if not name.startswith("_")]
    for heading, text in CHAPTER.findall(phrasebeam.__doc__ or ""):
        names = [word for word in re.findall(r"\w+", text) if word in public]
        yield f"## {heading}"
        found = {name: getattr(phrasebeam, name) for name in names}
        yield "\n".join(f"- {_summary(name, one)}" for name, one in found.items())
        for name, one in found.items():
            yield f"::: {one.__module__}.{name}"


def _summary(name: str, found: Any) -> str:
    """The signature of a public name and its methods, and what it is in a sentence."""
    sentence = re.split(r"(?<=\.)\s(?=[A-Z])", " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split()))[
        0
    ].rstrip(".")
    is_shown = inspect.isfunction(found) or not issubclass(found, (Section, Exception))
    own = vars(found).items() if inspect.isclass(found) and is_shown else ()
    methods = [one for one, value in own if not one.startswith("_") and _is_method(value)]
    more = f"; methods {', '.join(f'`{one}`' for one in methods)}" if methods else ""
    return f"`{name}{_arguments(found) if is_shown else ''}`: {sentence}{more}."


def _is_method(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, (classmethod, property, cached_property))


def _arguments(found: Any) -> str:
    """Parameters and their defaults, without types."""
    signature = inspect.signature(found)
    plain = [one.replace(annotation=Parameter.empty) for one in signature.parameters.values()]
    # The representation of an object may have its address in it.
    shown = [one if _is_plain(one.default) else one.replace(default=...) for one in plain]
    return str(signature.replace(parameters=shown, return_annotation=Signature.empty))


def _is_plain(default: Any) -> bool:
    return default in (Parameter.empty, None) or isinstance(default, (str, int, float, tuple))
