"""An extension of griffe, which reads docstrings for the page of the API.

Examples with >>> are blocks of code; functions of the API have the options that they are described by.
"""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n\1\S.*)*", re.M)  # to the next line that is blank or less indented


class FencedExamples(griffe.Extension):
    """Puts the examples of all docstrings between fences, without which they would be read as quotations."""

    def on_function(self, *, func: griffe.Function, **rest: Any) -> None:
        """Give a function that is `described` the signature and the docstring that it has when it is imported."""
        if func.docstring and any(str(one.value).startswith("described(") for one in func.decorators):
            found = getattr(import_module(func.module.path), func.name)
            func.docstring.value = fenced(inspect.getdoc(found) or "")
            func.parameters = griffe.Parameters(*map(parameter, inspect.signature(found).parameters.values()))

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def parameter(one: inspect.Parameter) -> griffe.Parameter:
    """A parameter as griffe knows it."""
    default = None if one.default is one.empty else repr(one.default)
    kind = griffe.ParameterKind[one.kind.name.lower()]
    return griffe.Parameter(one.name, annotation=inspect.formatannotation(one.annotation), kind=kind, default=default)


def fenced(text: str) -> str:
    """A docstring with its examples as blocks of code."""
    return EXAMPLE.sub(lambda match: f"{match[1]}```pycon\n{match[0]}\n{match[1]}```", text)
