"""What numba found for calls of its own functions is remembered: a fifth of the time of compilation.

For each addition and each index, numba tries all that it knows for it until one fits the types, strings and sets among
them, and writes what did not fit as messages that nobody reads. Kernels use the same few types over and over.
"""

from typing import Any

from numba.core.types.functions import BaseFunction

_resolve = BaseFunction.get_call_type
_resolved: dict[tuple[Any, ...], Any] = {}


def _call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """The signature of `function` for arguments of these types; as numba calls it. Mistakes are found anew.

    A function to which others are added, by numba.extending.overload, is another one.
    """
    key = function, context, tuple(arguments), tuple(keywords.items())
    if key not in _resolved:
        _resolved[key] = _resolve(function, context, arguments, keywords)
    return _resolved[key]


def remember_resolved_calls() -> None:
    """From now on, in this process."""
    setattr(BaseFunction, "get_call_type", _call_type)  # noqa: B010
