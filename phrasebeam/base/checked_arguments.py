"""Arguments checked by the types of their parameters: a line names the parameter whose argument does not fit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from phrasebeam.base.config import Section, parse_config, sections_in
from phrasebeam.base.errors import ConfigError, excerpt

P = ParamSpec("P")
R = TypeVar("R")
WORDS: dict[Any, str] = {
    str: "a string",
    Path: "a Path",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
}
VARIABLE = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which raises ConfigError where an argument is not of the type of its parameter.

    A dictionary in place of a section of settings becomes that section. What is read from an iterator is not looked at.
    """
    parameters = signature(function)
    name = function.__qualname__.removesuffix(".__init__")

    @cache
    def types() -> dict[str, Any]:
        kinds = [one.name for one in parameters.parameters.values() if one.kind not in VARIABLE]
        hints = get_type_hints(function, include_extras=True)
        return {one: hints[one] for one in kinds if one in hints}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        try:
            bound = parameters.bind(*args, **options)
        except TypeError:
            return function(*args, **options)  # which raises it with a better message
        known, given = types(), bound.arguments
        for one, value in given.items():
            if one in known:
                given[one] = _fitting(value, known[one], f"{name}: {one}")
        return function(*bound.args, **bound.kwargs)

    return call


def check_fields(given: Any, *left_out: str) -> None:
    """Raise ConfigError where a field of a dataclass is not of its type, but for those that are `left_out`.

    A dictionary in place of a section of settings becomes that section.
    """
    for name, kind in _field_types(given.__class__).items():
        if name not in left_out:
            value = getattr(given, name)
            if (fitting := _fitting(value, kind, f"{type(given).__name__}: {name}")) is not value:
                object.__setattr__(given, name, fitting)


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _fitting(value: Any, kind: Any, where: str) -> Any:
    """The value, or the section that a mapping stands for. Raises ConfigError, which begins with `where`."""
    if _fits(value, kind):
        return value
    sections = [section for section in sections_in(kind) if section is not Section]
    if isinstance(value, Mapping) and sections:
        return parse_config(dict(value), sections[0], where)
    raise ConfigError(f"{where} is {excerpt(value)}, expected {_spelled(kind)}")


def _fits(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fits(value, parts[0])
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if origin is type:
        return isinstance(value, type) and issubclass(value, getattr(parts[0], "__bound__", None) or parts[0])
    if origin is not None:
        origin = Sequence if origin is tuple else origin  # a list does as well
        return isinstance(value, origin) and not isinstance(value, str) and _items_fit(value, origin, parts)
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _items_fit(value: Any, origin: Any, parts: tuple[Any, ...]) -> bool:
    """Whether what is in a mapping or in a sequence fits; nothing else is looked into."""
    if issubclass(origin, Mapping):
        return all(_fits(key, parts[0]) and _fits(item, parts[1]) for key, item in value.items())
    if issubclass(origin, Sequence) and len(parts) > 1 and parts[-1] is not ...:
        return len(value) == len(parts) and all(map(_fits, value, parts))
    return not issubclass(origin, Sequence) or all(_fits(item, parts[0]) for item in value)


def _spelled(kind: Any) -> str:
    """A type in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _spelled(parts[0])
    if origin in (Union, UnionType, Literal):
        names = list(dict.fromkeys(repr(part) if origin is Literal else _spelled(part) for part in parts))
        return " or ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:])
    if origin is None:
        own = f"{kind.__name__}" if isinstance(kind, type) else str(kind)
        is_section = isinstance(kind, type) and issubclass(kind, Section) and kind is not Section
        return WORDS.get(kind) or (f"{own}, a dictionary of its settings" if is_section else own)
    if origin is type:
        return "a class"
    if issubclass(origin, tuple) and parts[-1:] != (...,):
        return f"({', '.join(map(_spelled, parts))})"
    if issubclass(origin, Mapping):
        return "a dictionary" + (f", each value {_spelled(parts[1])}" if parts[1] is not Any else "")
    return f"a list, each item {_spelled(parts[0])}" if issubclass(origin, Iterable) else str(origin.__name__)
