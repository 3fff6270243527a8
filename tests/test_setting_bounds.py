"""Settings refuse numbers that no memory and no patience is enough for; every section of the package is tried."""

import importlib
import math
import pkgutil
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import ValidationError

import phrasebeam
from phrasebeam.base.config import Section, load_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.translate.translate_settings import TranslateSettings

for _module in pkgutil.walk_packages(phrasebeam.__path__, "phrasebeam."):
    importlib.import_module(_module.name)

NO_COUNT = -(10**18), 10**20, 10**5000  # beyond what any integer may be
NO_NUMBER = math.nan, math.inf, -math.inf


def sections(base: type[Section] = Section) -> Iterator[type[Section]]:
    """All sections of the package, in the order of their definition."""
    for section in base.__subclasses__():
        if section.__module__.startswith("phrasebeam."):
            yield section
        yield from sections(section)


FIELDS = {
    f"{section.__module__}.{section.__name__}.{name}": (section, name)
    for section in sections()
    for name in section.model_fields
    if not section.__name__.startswith("_")
}


def with_number(type_: Any, leaf: type, number: float) -> Any:
    """A value of the type of a field in which `number` stands for a `leaf`, int or float; None where it has none."""
    kind, arguments = get_origin(type_), get_args(type_)
    if kind is Annotated:
        return with_number(arguments[0], leaf, number)
    if kind in (list, dict):
        value = with_number(arguments[-1], leaf, number)
        return None if value is None else [value] if kind is list else {"1": value}
    values = (with_number(part, leaf, number) for part in arguments)
    return number if type_ is leaf else next((value for value in values if value is not None), None)


@pytest.mark.parametrize("field", FIELDS)
def test_numbers_that_nothing_can_be_are_refused(field):
    section, name = FIELDS[field]
    annotation = section.model_fields[name].annotation
    is_whole = "float" not in str(annotation)
    for number in NO_COUNT if is_whole else NO_NUMBER:
        value = with_number(annotation, int if is_whole else float, number)
        if value is None or isinstance(value, str):
            continue
        with pytest.raises(ValidationError) as caught:
            section.model_validate({name: value})
        assert name in {problem["loc"][0] for problem in caught.value.errors()}, number


@pytest.mark.parametrize(
    "text", ["1" + "0" * 5000, "0x1" + "0" * 5000, "-1", "1" + "0" * 50, ".nan", ".inf", "9:9:9:9:9"]
)
def test_the_error_is_one_short_line(text, tmp_path):
    (tmp_path / "config.yaml").write_text(f"search: {{stack: {text}}}")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "config.yaml", TranslateSettings)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(tmp_path)) + 250


@pytest.mark.parametrize("weight", [math.nan, math.inf, -1e300])
def test_weights_that_ran_away_are_not_kept(weight):
    with pytest.raises(ConfigError, match=r"^weights that were learned, .*: distortion: "):
        Weights.learned({"distortion": weight})
