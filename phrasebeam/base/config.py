"""YAML files checked against typed sections: errors give the key path of an unknown key or an invalid value."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError, create_model

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file

LONGEST_VALUE = 80  # characters of a wrong value that an error shows
# Marks settings that have no effect on what a run has done so far: it may go on with other values of them.
WITHOUT_EFFECT = "without effect on what was done"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}  # bytes


def parse_size(value: object) -> object:
    """The bytes that a string such as 512M or 2G means, in powers of 1024; other types are returned unchanged.

    Raises ValueError for any other string.
    """
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", value.strip(), re.IGNORECASE)
        if match is None:
            raise ValueError("should be a size such as 512M or 2G")
        return int(float(match[1]) * UNITS[match[2].upper()])
    return value


def format_size(n_bytes: int) -> str:
    """`n_bytes` as a whole number of the largest possible unit, such as 512M."""
    for unit in "TGMK":
        if n_bytes and n_bytes % UNITS[unit] == 0:
            return f"{n_bytes // UNITS[unit]}{unit}"
    return str(n_bytes)


Bytes = Annotated[int, BeforeValidator(parse_size), PlainSerializer(format_size, return_type=str)]


class Section(BaseModel):
    """Base class of configuration sections: immutable, without unknown keys; their fields hold the only defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def section_of(name: str, fields: Mapping[str, tuple[Any, Any]], base: type[Section] = Section) -> Any:
    """A section with the keys of `base` and then `fields`, type and default by name, as a registry declares them."""
    return create_model(name, __base__=base, **dict[str, Any](fields))


Config = TypeVar("Config", bound=Section)


def load_config(path: str | Path, section: type[Config]) -> Config:
    """The configuration in the YAML file `path`. Raises ConfigError, naming the key and its valid values."""
    try:
        with open(path, encoding="utf-8") as file:
            data = yaml.safe_load(file)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    return parse_config({} if data is None else data, section, str(path))


def parse_config(data: Any, section: type[Config], where: str) -> Config:
    """The configuration in parsed YAML `data`. Raises ConfigError, whose message begins with `where`."""
    try:
        return section.model_validate(data)
    except ValidationError as error:
        problems = "; ".join(_explain(problem, section) for problem in error.errors())
        raise ConfigError(f"{where}: {problems}") from None


def config_with_options(path: str | Path | None, section: type[Config], options: Mapping[str, Any]) -> Config:
    """The configuration in the YAML file `path`, or the defaults (None), with the options of a command in its place.

    An option that is None was not given; those of a subsection stand in a mapping of their own. Raises ConfigError.
    """
    data = load_config(path, section).model_dump(mode="json", exclude_unset=True) if path else {}
    return parse_config(_with_options(data, options), section, "options")


def _with_options(data: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(data)
    for name, value in options.items():
        if isinstance(value, Mapping):
            value = _with_options(found.get(name) or {}, value) or None
        if value is not None:
            found[name] = value
    return found


def save_config(config: Section, path: str | Path) -> None:
    """Write all settings of `config`, defaults included, to the YAML file `path`."""
    with atomic_file(path) as file:
        file.write(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True).encode("utf-8"))


def _explain(problem: Any, section: type[Section]) -> str:
    path = [str(key) for key in problem["loc"]]
    name = f"{'.'.join(path)}: " if path else ""
    if problem["type"] != "extra_forbidden":
        message = problem["msg"].removeprefix("Value error, ")
        is_section = problem["type"] == "missing" or isinstance(problem["input"], dict)  # too long to show
        found = "" if is_section else f", found {_short(problem['input'])}"
        return f"{name}{message}{found}"
    keys = _keys(section, path[:-1])
    similar = difflib.get_close_matches(path[-1], keys, n=1)
    hint = f"did you mean {similar[0]}?" if similar else f"known keys: {', '.join(keys)}"
    return f"{name}unknown key; {hint}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _keys(section: type[Section], path: list[str]) -> list[str]:
    """Keys of the subsection of `section` at the key path `path`; empty where there is none."""
    for key in path:
        field = section.model_fields.get(key)
        types = [] if field is None else [field.annotation, *get_args(field.annotation)]  # "Section | None" has two
        sections = [type_ for type_ in types if isinstance(type_, type) and issubclass(type_, Section)]
        if not sections:
            return []
        section = sections[0]
    return list(section.model_fields)
