"""Checks of arguments by the types of their parameters: an error of one line names the parameter that does not fit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

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
Bounds = tuple[float | None, float | None]  # minimum and maximum; None: unbounded
NO_BOUNDS = None, None


class Checker(NamedTuple):
    """The check of a type. It is made once, since arguments are checked at each call."""

    kind: Any
    fits: Callable[[Any], bool]

    def checked(self, value: Any, where: str) -> Any:
        """The value, or the section that a mapping stands for. Raises ConfigError, whose text begins with `where`."""
        if self.fits(value):
            return value
        sections = [section for section in sections_in(self.kind) if section is not Section]
        if isinstance(value, Mapping) and sections:
            return parse_config(dict(value), sections[0], where)
        raise ConfigError(f"{where} is {excerpt(value)}, expected {_spelled(self.kind)}")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """`function` with a check: it raises ConfigError if an argument is not of the type of its parameter.

    A dictionary in place of a section of settings becomes that section. The items of an iterator are not checked.
    """
    return call_checked(function, signature(function), lambda: get_type_hints(function, include_extras=True))


def call_checked(
    function: Callable[P, R],
    parameters: Signature,
    hints: Callable[[], Mapping[str, Any]],
    gives_defaults: bool = False,
) -> Callable[P, R]:
    """`function`, called with arguments that are bound to `parameters` and checked by the types in `hints`."""
    name = function.__qualname__.removesuffix(".__init__")

    @cache
    def checkers() -> dict[str, Checker]:
        kinds, known = [one.name for one in parameters.parameters.values() if one.kind not in VARIABLE], hints()
        return {one: Checker(known[one], _fitting(known[one])) for one in kinds if one in known}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        try:
            bound = parameters.bind(*args, **options)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        known, given = checkers(), bound.arguments
        for one, value in given.items():
            if one in known and not known[one].fits(value):
                given[one] = known[one].checked(value, f"{name}: {one}")
        if gives_defaults:
            bound.apply_defaults()
        return function(*bound.args, **bound.kwargs)

    return call


def check_fields(given: Any, *left_out: str) -> None:
    """Raise ConfigError if a field of a dataclass is not of its type. Fields in `left_out` are not checked.

    A dictionary in place of a section of settings becomes that section.
    """
    for name, checker in _field_checkers(given.__class__).items():
        if name not in left_out and not checker.fits(value := getattr(given, name)):
            object.__setattr__(given, name, checker.checked(value, f"{type(given).__name__}: {name}"))


@cache
def _field_checkers(kind: Any) -> dict[str, Checker]:
    return {name: Checker(hint, _fitting(hint)) for name, hint in get_type_hints(kind).items()}


def _fitting(kind: Any) -> Callable[[Any], bool]:
    """A function that tells whether a value is of a type."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _within(_fitting(parts[0]), _own_bounds(kind))
    if origin in (Union, UnionType):
        each = [_fitting(part) for part in parts]
        return lambda value: any(fits(value) for fits in each)
    if origin is Literal:
        return lambda value: isinstance(value, str | int) and value in parts
    if origin is type:
        bound = getattr(parts[0], "__bound__", None) or parts[0]
        return lambda value: isinstance(value, type) and issubclass(value, bound)
    if origin is not None:
        return _collection(origin, parts)
    if kind in (int, float):
        number = Integral if kind is int else Real
        return lambda value: type(value) is kind or (isinstance(value, number) and not isinstance(value, bool))
    return lambda value: kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _within(fits: Callable[[Any], bool], bounds: Bounds) -> Callable[[Any], bool]:
    least, most = bounds
    if bounds == NO_BOUNDS:
        return fits
    return lambda value: (
        fits(value) and (value is None or ((least is None or value >= least) and (most is None or value <= most)))
    )


def _own_bounds(kind: Any) -> Bounds:
    """The bounds that pydantic's Field gives in the metadata of Annotated, or that a field itself has."""
    fields = [kind] if isinstance(kind, FieldInfo) else getattr(kind, "__metadata__", ())
    found = [one for field in fields if isinstance(field, FieldInfo) for one in field.metadata]
    least, most = ([getattr(one, name) for one in found if hasattr(one, name)] for name in ("ge", "le"))
    return (*least, None)[0], (*most, None)[0]


def bounds_of(kind: Any) -> Bounds:
    """The bounds of a type or a field: its own, or those of a type that is part of it."""
    parts = [kind.annotation] if isinstance(kind, FieldInfo) else get_args(kind)
    known = (found for found in (_own_bounds(kind), *map(bounds_of, parts)) if found != NO_BOUNDS)
    return next(known, NO_BOUNDS)


def _collection(origin: Any, parts: tuple[Any, ...]) -> Callable[[Any], bool]:
    """Like _fitting, for a type with items: items of mappings and sequences are checked, characters of strings not."""
    if not issubclass(origin, (Mapping, Sequence)):
        return lambda value: isinstance(value, origin) and not isinstance(value, str)
    each = [_fitting(part) for part in parts if part is not ...]
    if issubclass(origin, Mapping):
        key, item = each
        return lambda value: isinstance(value, origin) and all(key(one) and item(value[one]) for one in value)
    if len(each) > 1:
        return lambda value: _is_list(value) and len(value) == len(each) and all(f(x) for f, x in zip(each, value))
    return lambda value: _is_list(value) and all(map(each[0], value))


def _is_list(value: Any) -> bool:
    """Whether a value is a list, a tuple or another sequence; each is accepted in place of another."""
    return type(value) in (list, tuple) or (isinstance(value, Sequence) and not isinstance(value, str))


def _spelled(kind: Any) -> str:
    """A type in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        least, most = _own_bounds(kind)
        return (
            _spelled(parts[0]) + ("" if least is None else f" from {least}") + ("" if most is None else f" to {most}")
        )
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
