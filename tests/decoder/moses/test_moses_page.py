"""docs/moses.md is true: our options and settings on it exist, and it names all sections of moses.ini as they are."""

import re
from functools import cache
from inspect import signature
from typing import get_args

from phrasebeam.base.config import Section
from phrasebeam.cli import COMMANDS
from phrasebeam.commands.derived_command import command_function
from phrasebeam.decoder.features.registry import FEATURES
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.moses.feature_lines import KEYS
from phrasebeam.decoder.moses.sections import REFUSED_SECTIONS, SECTIONS
from phrasebeam.decoder.translate.translate_settings import TranslateSettings
from phrasebeam.training.model_building.config import TrainModelConfig
from tests import ROOT

PAGE = (ROOT / "docs" / "moses.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")


@cache
def options(command):
    """The options of one of our commands, and its arguments' names; those that may be given both ways have two."""
    parameters = signature(command_function(command, COMMANDS[command])).parameters
    both = {name for name, one in parameters.items() if get_args(one.annotation)[:1] == (bool | None,)}
    names = {*parameters, *(f"no-{name}" for name in both)}
    return {f"--{name.replace('_', '-')}" for name in names}


def commands():
    """The words of each of our commands on the page, without the program's name."""
    lines = [
        line.strip().removeprefix("phrasebeam ") for line in PAGE.splitlines() if line.startswith("    phrasebeam")
    ]
    for text in (*lines, *CODE.findall(PAGE.replace("\n", " "))):
        words = re.sub(r"[][]", "", text).split()
        if words[0] in COMMANDS:
            yield words


def test_our_options_exist():
    found = list(commands())
    assert {"import-moses", "export-moses", "translate", "tune", "train-model", "rerank"} < {
        words[0] for words in found
    }
    for command, *words in found:
        used = {word for word in words if word.startswith("--")}
        assert used <= options(command), (command, used - options(command))
    assert not [text for text in CODE.findall(PAGE) if text.startswith("--") and text != "--pairwise-ranked"]


def test_our_settings_exist():
    def has(section, path):
        first, _, rest = path.partition(".")
        field = section.model_fields.get(first)
        types = [] if field is None else [field.annotation, *getattr(field.annotation, "__args__", ())]
        sections = [one for one in types if isinstance(one, type) and issubclass(one, Section)]
        return field is not None and (not rest or any(has(one, rest) for one in sections))

    row = re.compile(r"((?:`[\w.]+`(?:, )?)+) in `(translate|train-model) --config`")
    found = [(name, command) for names, command in row.findall(PAGE) for name in CODE.findall(names)]
    assert ("phrases.max_length", "train-model") in found
    for name, command in found:
        assert has({"translate": TranslateSettings, "train-model": TrainModelConfig}[command], name), name


def test_features_are_those_of_weights():
    table = PAGE.partition("| Moses | In `weights.yaml` |")[2].partition("\n\n")[0]
    ours = set(CODE.findall(table))
    assert ours <= {feature.name for feature in FEATURES}
    assert {*Weights.required()} <= ours
    assert all(kind in table for kind in KEYS)


def test_sections_are_treated_as_it_says():
    text = PAGE.partition("## Sections of moses.ini")[2].partition("##")[0]
    taken, left_out, refused = (set(re.findall(r"\[([\w-]+)\]", part)) for part in text.strip().split("\n\n"))
    assert taken == {name for name, entry in SECTIONS.items() if entry}
    assert left_out == {name for name, entry in SECTIONS.items() if not entry}
    assert refused == {*REFUSED_SECTIONS}
