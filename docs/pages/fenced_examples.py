"""An extension of griffe, which reads docstrings for the page of the API: examples with >>> are blocks of code."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n\1\S.*)*", re.M)  # to the next line that is blank or less indented


class FencedExamples(griffe.Extension):
    """Puts the examples of all docstrings between fences, without which they would be read as quotations."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """A docstring with its examples as blocks of code."""
    return EXAMPLE.sub(lambda match: f"{match[1]}```pycon\n{match[0]}\n{match[1]}```", text)
