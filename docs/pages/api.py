"""The page of the Python API: the public names by the chapters of the package's docstring, each with its own."""

import re
from collections.abc import Iterator

import phrasebeam

HEAD = """# Python

This page is written by `docs/pages/api.py` from the docstring of the package; the site has those of all names below.

All that commands do is there as functions with the names and defaults of their options, and what is within them as
classes. Names are imported from `phrasebeam` itself:

    import phrasebeam

    decoder = phrasebeam.Decoder.load("model")
    print(decoder.translate("der hund schläft .").text)

Text is tokenized, one sentence a line, unless it is said to be raw. Files are given by name or Path. What is wrong with
them or with settings raises `SmtError`: one line that says where, and what to do.

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
        for name in dict.fromkeys(names):
            yield f"::: {getattr(phrasebeam, name).__module__}.{name}"
