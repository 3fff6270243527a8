"""Options of the functions of the API, each declared once: a type, and its help text or the setting it stands for.

The signature, the checks of arguments, the section Args of the docstring and the options of commands come from these.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature, cleandoc, signature
from types import NoneType
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, Unpack, get_args, get_origin, get_type_hints

from pydantic import PlainSerializer
from pydantic.fields import FieldInfo

from phrasebeam.base.checked_arguments import NO_BOUNDS, Bounds, bounds_of, call_checked
from phrasebeam.base.config import Config, Section, config_with_options, sections_in

P = ParamSpec("P")
R = TypeVar("R")
Group = TypeVar("Group", bound=type)
OPTIONS = "options"  # attribute of a function that has its options
COMMAND = "{command}"  # stands for the name of the command in a help text
MOST_TOLD = 10**9  # larger bounds only exclude absurd values, and are not shown
WIDTH = 112  # of the section Args
RESULT = re.compile(r"^(Returns|Raises|>>>)", re.M)  # begins what follows the section Args


class Option(NamedTuple):
    """Metadata of an argument besides its type, for Annotated; a plain string there is a help text alone."""

    help: str = ""  # "": the description of its setting
    setting: str = ""  # key of the setting that it stands for, such as search.stack; "": the name of the argument
    section: type[Section] | None = None  # section with the setting; None: the section of the function
    unset: str = ""  # what happens if it is not given, in words, if the section does not say it
    is_bare: bool = False  # whether it is given on the command line without the name of the option


class Heading(NamedTuple):
    """Metadata of Annotated: the heading of a group of options in the help."""

    text: str = ""


class Declared(NamedTuple):
    """Everything known about an argument."""

    name: str
    kind: Any  # its type
    default: Any  # Parameter.empty: the argument is required
    help: str  # sentences, in which names of other arguments stand in backquotes
    unset: str  # what happens if it is not given, in words
    section: type[Section] | None  # section with the setting that it stands for
    setting: str  # key in that section
    heading: str
    is_bare: bool


def heading(text: str) -> Callable[[Group], Group]:
    """Decorate a TypedDict: its own options get a heading in the help of every function that has them."""

    def decorate(group: Group) -> Group:
        for name, kind in group.__annotations__.items():
            if not _first(kind, Heading()).text:
                group.__annotations__[name] = Annotated[kind, Heading(text)]
        return group

    return decorate


def described(section: type[Section] | None = None, unset: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function: its parameters, and the keys of a TypedDict of further ones (PEP 692), become options.

    An option without help stands for the setting of its name in `section`. If it is not given, the default of the
    setting holds, or what `unset` says. Arguments are checked as by `checked`; the function gets the defaults as well.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = [*_parameters(function, section)]
        options = {one.name: _declared(one, section, unset, function.__name__) for one in parameters}
        hints = {one.name: one.annotation for one in parameters}
        call = call_checked(function, Signature(parameters), lambda: hints, gives_defaults=True)
        plain = [one.replace(annotation=options[one.name].kind) for one in parameters]
        returned = signature(function).return_annotation
        call.__doc__ = _documented(cleandoc(function.__doc__ or ""), options)
        call.__dict__ |= {"__signature__": Signature(plain, return_annotation=returned), OPTIONS: options}
        return call

    return decorate


def options_of(function: Callable[..., Any]) -> Mapping[str, Declared]:
    """The options by name of a function that is `described`; of other functions their keyword-only parameters."""
    found: Mapping[str, Declared] | None = getattr(function, OPTIONS, None)
    parameters = () if found else signature(function).parameters.values()
    keywords = (one for one in parameters if one.kind is Parameter.KEYWORD_ONLY)
    return found or {one.name: _declared(one, None, "", "") for one in keywords}


def settings_given(function: Callable[..., Any], section: type[Section], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of `section` that the arguments of a function give, nested as in YAML; None means not given."""
    found: dict[str, Any] = {}
    for name, option in options_of(function).items():
        if option.section and issubclass(section, option.section) and given[name] is not None:
            place, value = found, given[name]
            *path, key = option.setting.split(".")
            for part in path:
                place = place.setdefault(part, {})
            is_list = _takes_list(_field(section, option.setting).annotation)
            place[key] = [value] if is_list and not isinstance(value, list | tuple) else value
    return found


def settings_of(function: Callable[..., Any], section: type[Config], given: Mapping[str, Any]) -> Config:
    """The section in the argument `config` of a function, with settings replaced by other arguments.

    Raises ConfigError.
    """
    return config_with_options(given["config"], section, settings_given(function, section, given))


def _parameters(function: Callable[..., Any], section: type[Section] | None) -> Iterator[Parameter]:
    """The parameters of a function and those in the keys of its TypedDict; groups with a heading come last."""
    hints = get_type_hints(function, include_extras=True)
    for one in signature(function).parameters.values():
        if get_origin(hints[one.name]) is not Unpack:
            yield one.replace(annotation=hints[one.name])
            continue
        group: dict[str, Any] = get_args(hints[one.name])[0].__annotations__
        headings = {name: _first(kind, Heading()).text for name, kind in group.items()}
        places = [*dict.fromkeys(["", *headings.values()])]
        for name in sorted(group, key=lambda name: places.index(headings[name])):
            option = _first(group[name], Option(_first(group[name], "")))
            has_field = not option.help and NoneType not in get_args(plain(group[name]))
            default = _field(option.section or section, option.setting or name).default if has_field else None
            default = False if plain(group[name]) is bool and default is None else default
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=group[name])


def _declared(parameter: Parameter, section: type[Section] | None, unset: str, function: str) -> Declared:
    """The declaration of an argument. Raises LookupError if it has no help and no setting with a description."""
    annotation, name = parameter.annotation, parameter.name
    option = _first(annotation, Option(_first(annotation, "")))
    help, bounds, meant, owner, key = option.help, bounds_of(annotation), option.unset, None, option.setting or name
    if not help or option.setting or option.section:
        owner = option.section or section
        field = _field(owner, key)
        help, bounds = help or field.description or "", bounds if bounds != NO_BOUNDS else bounds_of(field)
        if not help:
            raise LookupError(f"{owner}: {key} has no description; give it one")
        meant = meant or ("" if option.section else unset) or _shown(field)
    help = _sentence(help.replace(COMMAND, function.replace("_", "-"))) + _range(bounds)
    named = (
        name,
        plain(annotation),
        parameter.default,
        help,
        meant if parameter.default in (None, Parameter.empty) else "",
    )
    return Declared(*named, owner, key, _first(annotation, Heading()).text, option.is_bare)


def _field(section: type[Section] | None, key: str) -> FieldInfo:
    """The field for the setting `key`, such as search.stack, of a section. Raises LookupError."""
    first, _, rest = key.partition(".")
    if section is None or first not in section.model_fields:
        raise LookupError(f"{key}: not a setting of {section}; give the option a help text")
    field = section.model_fields[first]
    return _field(next(sections_in(field.annotation)), rest) if rest else field


def _first(annotation: Any, default: Any) -> Any:
    """The first metadata of an annotation that has the type of `default`."""
    metadata = getattr(annotation, "__metadata__", ())
    return next((one for one in metadata if type(one) is type(default)), default)


def plain(kind: Any) -> Any:
    """A type without metadata."""
    return get_type_hints(type("_", (), {"__annotations__": {"kind": kind}}))["kind"]


def _takes_list(kind: Any) -> bool:
    return list in (get_origin(kind), *map(get_origin, get_args(kind)))


def _shown(field: FieldInfo) -> str:
    """The default of a setting, in words."""
    default = field.default
    for one in field.metadata:
        serialized: Any = one.func if isinstance(one, PlainSerializer) else lambda value: value
        default = serialized(default)
    if default is None or isinstance(default, Section):
        return ""
    return ", ".join(map(str, default)) if isinstance(default, list) else str(default)


def _sentence(text: str) -> str:
    """A description as a sentence; a value at its beginning, as in "cube: cube pruning", keeps its case."""
    first = text[:1] if re.match(r"\S+[:,]", text) else text[:1].upper()
    return first + text[1:] + ("" if text.endswith(".") else ".")


def _range(bounds: Bounds) -> str:
    """The bounds of a number as a sentence; bounds that only exclude absurd values are left out."""
    least, most = (None if one is None or one >= MOST_TOLD else one for one in bounds)
    if least is None:
        return "" if most is None else f" At most {most:g}."
    return f" At least {least:g}." if most is None else f" From {least:g} to {most}."


def _documented(text: str, options: Mapping[str, Declared]) -> str:
    """A docstring with the section Args, placed before results, errors and examples."""
    lines = ["Args:"]
    for one in options.values():
        told = f"{one.name}: {one.help}" + (f" Default: {one.unset}." if one.unset else "")
        lines += textwrap.wrap(told, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False)
    found = RESULT.search(text)
    place = found.start() if found else len(text)
    return f"{text[:place].rstrip()}\n\n{chr(10).join(lines)}\n\n{text[place:]}".rstrip() + "\n"
