"""The page of all settings, from the sections that hold their defaults and bounds."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import models_json_schema

from docs.pages.markdown_table import markdown_table
from phrasebeam.api.config import OF_COMMANDS
from phrasebeam.base.config import Section, format_size
from phrasebeam.decoder.features.registry import FEATURES
from phrasebeam.decoder.translate.translate_settings import TranslateSettings
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.normalization.normalizer_settings import NormalizerRecipe
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.selection.config import SelectionConfig
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.word_alignment.alignment_settings import AlignmentConfig

HEAD = """# Settings

`docs/pages/settings.py` generates this page from the code that defines the settings, their defaults and bounds.

Give settings in a YAML file with `--config`. The file need only contain the settings that differ from the defaults;
options of the command take precedence over it. In Python, the argument `config` is such a file, a dictionary with the
same contents, or an object of the section's class. An unknown key, or a number out of bounds, is an error that names
it. "None" in a description means that the setting is not given, or is `null`.

{commands}

{sections}
"""
COMMANDS: dict[str, type[Section]] = {
    "train": Recipe,
    "train --recipe normalize": NormalizerRecipe,
    "train-model": TrainModelConfig,
    "align": AlignmentConfig,
    "select": SelectionConfig,
    "translate": TranslateSettings,
    "forced-decode": TranslateSettings,
    "tune": TuneConfig,
    "rerank": TuneConfig,
    "train-maxforce": MaxforceConfig,
    "train-ranking": RankingConfig,
    "train-expected-bleu": ExpectedBleuConfig,
}
SHOWN = {name: name for name in ("align", "select", "translate", "tune")} | OF_COMMANDS
SHOWN |= {"train --recipe normalize": "recipe-normalize"}
OF_FEATURES = {feature.name: feature.description for feature in FEATURES}
OF_FEATURES |= {feature.rate_name: feature.description for feature in FEATURES if feature.rate_name}
OF_MANY = {  # what settings mean that sections name without a description of their own
    "iterations": "maximum number of passes over the lists",
    "epochs": "number of passes over the lists",
    "kind": "kind of stage",
    "source_language": "code of the source language, such as de",
    "target_language": "code of the target language, such as en",
    "levels": "levels, which say how words are represented in sparse features",
}


def page() -> str:
    """The whole text."""
    _, schema = models_json_schema([(section, "validation") for section in dict.fromkeys(COMMANDS.values())])
    sections: dict[str, Any] = schema["$defs"]
    names = list(dict.fromkeys(name for top in COMMANDS.values() for name in _reached(top.__name__, sections)))
    return HEAD.format(
        commands=markdown_table(("Command", "Section", "Printed by"), map(_command, COMMANDS)),
        sections="\n\n".join(f"## {name}\n\n{_section(sections[name])}" for name in names),
    )


def _command(name: str) -> tuple[str, str, str]:
    section = COMMANDS[name].__name__
    shown = f"`phrasebeam config {SHOWN[name]}`" if name in SHOWN else ""
    return f"[`{name}`](commands.md#{name.split()[0]})", _link(section), shown


def _reached(name: str, sections: dict[str, Any]) -> Iterator[str]:
    """The section and those within it, depth first."""
    yield name
    for ref in dict.fromkeys(_references(sections[name]["properties"])):
        yield from _reached(ref, sections)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for key, value in schema.items():
            if key != "default":
                yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _section(section: dict[str, Any]) -> str:
    """What a section is, and the table of its settings."""
    rows = (_row(name, field) for name, field in section["properties"].items())
    text = section.get("description", "").strip()
    return f"{text}\n\n{markdown_table(('Setting', 'Value', 'Default', 'Meaning'), rows)}".strip()


def _row(name: str, field: dict[str, Any]) -> tuple[str, str, str, str]:
    meaning = field.get("description") or ("" if _is_section(field) else (OF_FEATURES | OF_MANY).get(name, ""))
    return f"`{name}`", _value(field), _default(name, field), meaning.replace("<", "&lt;")


def _value(field: dict[str, Any]) -> str:
    """What a setting takes, in words."""
    if "$ref" in field:
        return _link(field["$ref"].rpartition("/")[2])
    if "enum" in field or "const" in field:
        return ", ".join(f"`{one}`" for one in field.get("enum", [field.get("const")]))
    if parts := field.get("anyOf") or field.get("oneOf"):
        return ", ".join(_value(part) for part in parts if part.get("type") != "null")
    kind = field.get("type", "")
    if kind == "array":
        return f"list: {_value(field.get('items', {}))}"
    if kind == "object":
        values = field.get("additionalProperties")
        return f"by name: {_value(values)}" if isinstance(values, dict) else "by name"
    return f"{kind}{_bounds(field)}"


def _bounds(field: dict[str, Any]) -> str:
    """The bounds of a number; those that only keep nonsense away are left out."""
    low = _bound("at least", field.get("minimum")) or _bound("above", field.get("exclusiveMinimum"))
    high = _bound("at most", field.get("maximum")) or _bound("below", field.get("exclusiveMaximum"))
    found = ", ".join(bound for bound in (low, high) if bound)
    return f", {found}" if found else ""


def _bound(word: str, value: float | None) -> str:
    return "" if value is None or abs(value) >= 2**31 - 1 else f"{word} {value:{'g' if value < 1e6 else ''}}"


def _default(name: str, field: dict[str, Any]) -> str:
    default = field.get("default")
    if name == "memory":
        return f"`{format_size(default)}`"
    if "default" not in field:
        return "must be given"
    if default is None or (_is_section(field) and default != []):
        return ""
    return f"`{json.dumps(default, ensure_ascii=False)}`".replace('"', "")


def _is_section(field: dict[str, Any]) -> bool:
    return next(_references(field), "") != ""


def _link(section: str) -> str:
    return f"[{section}](#{section.lower()})"
