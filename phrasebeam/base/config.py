"""YAML files and arguments checked against types: an error gives the key path, or the name, of the invalid value."""

import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    create_model,
)
from pydantic.fields import FieldInfo

from phrasebeam.base.errors import LONGEST_EXCERPT, ConfigError, excerpt
from phrasebeam.base.files import atomic_file

# Far more than any configuration needs. The text of a file is in memory, and PyYAML takes a minute for each 10 MB.
LARGEST_YAML, DEEPEST_YAML, MOST_YAML_VALUES = 2**20, 50, 100_000  # bytes, nested collections, values with aliases
LONGEST_YAML_NUMBER = 100  # characters
YAML_TYPES = ("null", "bool", "int", "float", "str", "seq", "map", "merge")  # the types that settings can have
YAML_TAG = "tag:yaml.org,2002:"
MOST_PROBLEMS = 3  # of one configuration that an error names
LONGEST_MESSAGE = 300  # characters of the message about one problem
MOST_BYTES = 2**50
MOST_THREADS = 1024  # each takes some MB for its search; threads beyond the number of processors only wait
MOST_COUNTED = 2**31 - 1  # for numbers that only end or select something, and take neither memory nor time themselves
LARGEST_FACTOR = 1e9  # sums of products of such factors with scores are far from infinity, in float32 too
# Marks settings that have no effect on what a run has done so far: the run may continue with other values of them.
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
        return min(int(min(float(match[1]), MOST_BYTES + 1) * UNITS[match[2].upper()]), MOST_BYTES + 1)
    return value


def format_size(n_bytes: int) -> str:
    """`n_bytes` as a whole number of the largest possible unit, such as 512M."""
    for unit in "TGMK":
        if n_bytes and n_bytes % UNITS[unit] == 0:
            return f"{n_bytes // UNITS[unit]}{unit}"
    return str(n_bytes)


# Types of settings that several sections have. Every number is bounded: a value that is too large to be meant is
# refused when it is read, and not when memory or the user's patience ends.
Bytes = Annotated[int, Field(le=MOST_BYTES), BeforeValidator(parse_size), PlainSerializer(format_size, return_type=str)]
Threads = Annotated[
    int, Field(ge=1, le=MOST_THREADS, description="processor cores to use; results do not depend on it")
]
Count = Annotated[int, Field(ge=0, lt=2**63)]  # a number that a training has counted
Seed = Annotated[int, Field(ge=0, lt=2**63)]  # 64 bits, as generators of random numbers take them
Factor = Annotated[float, Field(ge=0, le=LARGEST_FACTOR)]  # of scores, weights or steps
PositiveFactor = Annotated[float, Field(gt=0, le=LARGEST_FACTOR)]


def _beside_settings(path: str, info: ValidationInfo) -> str:
    return str(info.context / path) if path and info.context is not None else path


FileName = Annotated[str, AfterValidator(_beside_settings)]  # in a file of settings, relative to the file's folder


if TYPE_CHECKING:
    SectionType = type  # so that type checkers see the keys of sections in Section(key=value)
else:

    class SectionType(type(BaseModel)):
        """The class of sections; it turns errors in Section(key=value) into a ConfigError."""

        def __call__(cls, *args: Any, **fields: Any) -> Any:
            """A new section. Raises ConfigError."""
            try:
                return super().__call__(*args, **fields)
            except ValidationError as error:
                raise _config_error(error, cls, cls.__name__) from None


class Section(BaseModel, metaclass=SectionType):
    """Base class of configuration sections: immutable, without unknown keys; only their fields have defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    advice_on_unknown: ClassVar[str] = ""  # is added to the error about an unknown key


Given = str | Path | Mapping[str, Any] | Section  # a YAML file, its content as a mapping, or the section itself


def section_of(name: str, fields: Mapping[str, tuple[Any, Any]], base: type[Section] = Section) -> Any:
    """A section with the keys of `base` and then `fields` (type and default by name), as a registry declares them."""
    return create_model(name, __base__=base, **dict[str, Any](fields))


RESOLVERS = {  # they give a type to text without tag and quotation marks; dates stay text
    first: [(tag, pattern) for tag, pattern in resolvers if tag.removeprefix(YAML_TAG) in YAML_TYPES]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
CONSTRUCTORS = {
    tag: construct
    for tag, construct in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.removeprefix(YAML_TAG) in YAML_TYPES  # None: for all other tags; it refuses them
}


class _PlainYaml(yaml.SafeLoader):
    """A loader of settings: no dates, sets or bytes, no duplicate keys, no deep nesting, no aliases that multiply."""

    yaml_implicit_resolvers, yaml_constructors = RESOLVERS, CONSTRUCTORS

    def __init__(self, text: str, by_libyaml: bool = False):
        super().__init__("" if by_libyaml else text)
        if by_libyaml:  # its events take the place of those that PyYAML's own parser, in Python, would find
            parser = yaml.CSafeLoader(text)
            events = {"check_event": parser.check_event, "peek_event": parser.peek_event, "get_event": parser.get_event}
            vars(self).update(events)
        self._n_values, self._depth, self._deepest = 0, 0, 0  # values and levels so far, with aliases written out
        self._extents: dict[str, tuple[int, int]] = {}  # number of values and levels of each anchored value

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node of the tree. Raises YAMLError if it is nested too deeply, or if there are too many nodes."""
        event: Any = self.peek_event()
        is_alias = isinstance(event, yaml.AliasEvent)
        if is_alias and event.anchor in self.anchors and event.anchor not in self._extents:
            raise yaml.MarkedYAMLError(problem="an alias within what it stands for", problem_mark=event.start_mark)
        n_before, deepest_before = self._n_values, self._deepest
        n_values, n_levels = self._extents.get(event.anchor, (0, 0)) if is_alias else (1, 1)
        self._n_values += n_values
        self._deepest = self._depth + n_levels
        if self._n_values > MOST_YAML_VALUES or self._deepest > DEEPEST_YAML:
            problem = f"more than {MOST_YAML_VALUES} values or {DEEPEST_YAML} levels, aliases written out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor and not is_alias:
            self._extents[event.anchor] = self._n_values - n_before, self._deepest - self._depth
        self._deepest = max(deepest_before, self._deepest)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """The dictionary of a node. Raises YAMLError if it has a key twice."""
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        keys = set()
        for key in (key for key, _ in pairs if isinstance(key, yaml.ScalarNode)):
            if key.value in keys:
                problem = f"the key {excerpt(key.value)} is there twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """The value of a node. Raises YAMLError if the value does not fit its tag."""
        try:
            if len(node.value) > LONGEST_YAML_NUMBER and node.tag in (f"{YAML_TAG}int", f"{YAML_TAG}float"):
                raise ValueError
            return super().construct_object(node, deep)
        except (ValueError, LookupError, ArithmeticError):  # raised by int() and the like, and not caught by PyYAML
            problem = f"{excerpt(node.value)} is no {node.tag.removeprefix(YAML_TAG)}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None


def load_yaml(path: str | Path) -> Any:
    """The content of the YAML file `path`: mappings, lists, strings, numbers and truth values. Raises ConfigError."""
    with open(path, "rb") as file:
        content = file.read(LARGEST_YAML + 1)
    if len(content) > LARGEST_YAML:
        raise ConfigError(f"{path}: larger than {format_size(LARGEST_YAML)}, expected settings in YAML")
    try:
        return _parsed(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else f"{path}"
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ConfigError(f"{where}: not YAML: {problem[:LONGEST_MESSAGE]}") from None


def _parsed(text: str) -> Any:
    """The content of a YAML text. Raises YAMLError, with the message of PyYAML's own parser, which is clearer."""
    if yaml.__with_libyaml__:
        with contextlib.suppress(yaml.YAMLError):  # takes a seventh of the time
            return _PlainYaml(text, by_libyaml=True).get_single_data()
    return _PlainYaml(text).get_single_data()


Config = TypeVar("Config", bound=Section)


def load_config(path: str | Path, section: type[Config], folder: Path | None = None) -> Config:
    """Read the configuration in the YAML file `path`. Raises ConfigError, naming the key and its valid values.

    File names in it are relative to `folder`, if that is given.
    """
    if not isinstance(path, (str, Path)) or not (isinstance(section, type) and issubclass(section, Section)):
        raise ConfigError(f"{excerpt(path)}, {excerpt(section)}: expected a file and a class such as TuneConfig")
    data = load_yaml(path)
    return parse_config({} if data is None else data, section, str(path), folder)


def parse_config(data: Any, section: type[Config], where: str, folder: Path | None = None) -> Config:
    """The configuration in parsed YAML `data`, see load_config. Raises ConfigError, whose text begins with `where`."""
    try:
        return section.model_validate(data, context=folder)
    except ValidationError as error:
        raise _config_error(error, section, where) from None


def _config_error(error: ValidationError, section: type[Section], where: str) -> ConfigError:
    found = error.errors(include_url=False)
    problems = [_explain(problem, section)[:LONGEST_MESSAGE] for problem in found[:MOST_PROBLEMS]]
    more = [f"and {len(found) - MOST_PROBLEMS} more"] if len(found) > MOST_PROBLEMS else []
    return ConfigError(f"{where}: {'; '.join(problems + more)}")


def config_with_options(given: Given | None, section: type[Config], options: Mapping[str, Any]) -> Config:
    """The `given` configuration, or the defaults (None), in which the options of a command replace settings.

    An option that is None was not given; options of a subsection are in a mapping of their own. Raises ConfigError.
    """
    return parse_config(_with_options(given_settings(given, section), options), section, "options")


def given_settings(given: Given | None, section: type[Section]) -> dict[str, Any]:
    """The settings of a YAML file, of a mapping with the content of one, or of a section, without defaults.

    File names in a YAML file are relative to its folder.

    Raises ConfigError.
    """
    if given is None:
        return {}
    if isinstance(given, (str, Path)):
        config = load_config(given, section, Path(given).parent)
    else:
        config = given if isinstance(given, section) else parse_config(given, section, "settings")
    return config.model_dump(mode="json", exclude_unset=True)


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
    path = [str(key)[:LONGEST_EXCERPT] for key in problem["loc"]]
    name = f"{'.'.join(path)}: " if path else ""
    if problem["type"] != "extra_forbidden":
        message = problem["msg"].removeprefix("Value error, ")
        is_section = problem["type"] == "missing" or isinstance(problem["input"], dict)  # too long to be shown
        found = "" if is_section else f", found {excerpt(problem['input'])}"
        return f"{name}{message}{found}"
    keys = _keys(section, path[:-1])
    similar = difflib.get_close_matches(path[-1], keys, n=1)
    hint = f"did you mean {similar[0]}?" if similar else f"known keys: {', '.join(keys)}"
    return f"{name}unknown key; {hint}{section.advice_on_unknown}"


def _keys(section: type[Section], path: list[str]) -> list[str]:
    """Keys of the subsection of `section` at the key path `path`; empty if there is no such subsection.

    The path has numbers for items of lists, and the kind of a section where sections are distinguished by a kind.
    """
    found = [section]
    for key in path:
        fields = [one.model_fields[key] for one in found if key in one.model_fields]
        if fields:
            found = [one for field in fields for one in sections_in(field.annotation)]
        elif not key.isdigit():
            found = [one for one in found if _is_of_kind(one.model_fields.values(), key)]
    return list(found[0].model_fields) if found else []


def _is_of_kind(fields: Iterable[FieldInfo], kind: str) -> bool:
    return any(kind in get_args(field.annotation) for field in fields)


def sections_in(annotation: Any) -> Iterator[type[Section]]:
    """The sections in a type such as `Section | None` or `list[Section]`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for part in get_args(annotation):
        yield from sections_in(part)
