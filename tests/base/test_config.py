"""Configuration: what is wrong is named with file, key and what it may be."""

from itertools import pairwise

import pytest
import yaml
from pydantic import Field, ValidationError, model_validator

from phrasebeam.base import config as configuration
from phrasebeam.base.config import FileName, Section, config_with_options, load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError
from tests import ROOT

ALIAS_BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in pairwise("abcdefgh")
)
MANY_KINDS = """# a comment
? "a key"
: - 1
  - -0x1f
  - .5
  - 1e3
  - [yes, ~, 2026-11-30, '', "\\u00e9\\t\U0001f600"]
text: |
  two
   lines

folded: >-
  one
  line
e: &anchor {é: null}
again: [*anchor, *anchor]
"""
MERGE_BOMB = ALIAS_BOMB.replace("[x, x, x, x, x, x, x, x, x, x]", "{x: 1}").replace("[", "{<<: [").replace("]", "]}")


class Inner(Section):
    size: int = Field(default=3, ge=0)
    share: float = 0.5


class Outer(Section):
    name: str = "x"
    inner: Inner = Inner()
    maybe: Inner | None = None
    numbers: list[float] = Field(default=[1.0])

    @model_validator(mode="after")
    def _no_x(self):
        if self.name == "forbidden":
            raise ValueError("name and nature disagree")
        return self


@pytest.fixture
def load(tmp_path):
    def load_text(text):
        (tmp_path / "c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_config(tmp_path / "c.yaml", Outer)

    return load_text


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("", Outer()),
        ("# nothing\n", Outer()),
        ("{name: y, inner: {size: 5}}", Outer(name="y", inner=Inner(size=5))),
        ("maybe: {share: 1e-3}", Outer(maybe=Inner(share=0.001))),
        ("{inner: &i {size: 5}, maybe: *i}", Outer(inner=Inner(size=5), maybe=Inner(size=5))),
        ("{inner: &i {size: 5}, maybe: {<<: *i, size: 6}}", Outer(inner=Inner(size=5), maybe=Inner(size=6))),
    ],
)
def test_loads(load, text, config):
    assert load(text) == config


def test_the_parser_of_libyaml_finds_what_that_of_python_finds(tmp_path, monkeypatch):
    (tmp_path / "kinds.yaml").write_text(MANY_KINDS, encoding="utf-8")
    files = [tmp_path / "kinds.yaml", *(ROOT / "configs").glob("*.yaml")]
    found = [configuration.load_yaml(path) for path in files]
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert found[0]["again"] == [{"é": None}] * 2 and found[0]["a key"][3] == "1e3"
    assert found == [configuration.load_yaml(path) for path in files]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nmae: y", "c.yaml: nmae: unknown key; did you mean name?"),
        ("zzz: y", "c.yaml: zzz: unknown key; known keys: name, inner, maybe, numbers"),
        ("inner: {sise: 1}", "c.yaml: inner.sise: unknown key; did you mean size?"),
        ("maybe: {shar: 1}", "c.yaml: maybe.shar: unknown key; did you mean share?"),
        ("inner: {size: -1}", "c.yaml: inner.size: Input should be greater than or equal to 0, found -1"),
        ("inner: {size: many}", "c.yaml: inner.size: Input should be a valid integer.* found 'many'"),
        ("inner: 3", "c.yaml: inner: .*Inner, found 3"),
        ("numbers: [1, two]", "c.yaml: numbers.1: .*number.*found 'two'"),
        ("name: forbidden", "c.yaml: name and nature disagree$"),
        ("{nmae: y, inner: {size: -1}}", "c.yaml: .*size.*; nmae: unknown key"),
        ("just words", "c.yaml: .*dictionary.*found 'just words'"),
        ("w " * 5000, "c.yaml: .*found 'w w w .*\\.\\.\\.$"),
        ("[1, 2]", "c.yaml: .*found \\[1, 2\\]"),
        ("1: 2", "c.yaml: .*1"),
        ("name: [", "c.yaml:1: not YAML: "),
        ("name: !!python/object:os.system x", "c.yaml:1: not YAML: "),
        ("inner: {size: !!int a}", "c.yaml:1: not YAML: 'a' is no int"),
        ("inner: {size: !!int ''}", "c.yaml:1: not YAML: '' is no int"),
        ("inner: {size: !!bool maybe}", "c.yaml:1: not YAML: 'maybe' is no bool"),
        ("inner: {size: !!timestamp x}", "c.yaml:1: not YAML: .*timestamp"),
        ("inner: {size: 2001-13-45}", "c.yaml: inner.size: .* found '2001-13-45'"),
        ("inner: {size: " + "9" * 5000 + "}", "c.yaml:1: not YAML: '9999.* is no int"),
        ("inner: {size: 0x" + "f" * 5000 + "}", "c.yaml:1: not YAML: '0xff.* is no int"),
        ("name: y\nname: z", "c.yaml:2: not YAML: the key 'name' is there twice"),
        ("[" * 5000, "c.yaml:1: not YAML: more than 100000 values or 50 levels"),
        ("- " * 500, "c.yaml:1: not YAML: more than 100000 values or 50 levels"),
        (ALIAS_BOMB, "c.yaml:5: not YAML: more than 100000 values or 50 levels"),
        (MERGE_BOMB, "c.yaml:6: not YAML: more than 100000 values or 50 levels"),
        ("a: &a0 [x]\n" + "".join(f"b{i}: &a{i + 1} [*a{i}]\n" for i in range(99)), "c.yaml:49: .*or 50 levels"),
        ("inner: !!map x", "c.yaml:1: not YAML: expected a mapping node"),
        ("numbers: !!seq x", "c.yaml:1: not YAML: expected a sequence node"),
        ("numbers: !!str [x]", "c.yaml:1: not YAML: expected a scalar node"),
        ("numbers: &a [*a]", "c.yaml:1: not YAML: an alias within what it stands for"),
        ("numbers: *b", "c.yaml:1: not YAML: found undefined alias"),
        ("#" * (2**20 + 1), "c.yaml: larger than 1M"),
        ("\n".join(f"k{i}: 1" for i in range(1000)), "c.yaml: k0: unknown key; .*; and 997 more"),
        (f"{'k' * 900}: 1", "c.yaml: k{80}: unknown key"),
        ('"\\e[2J\\n": 1', r"c.yaml: \\x1b\[2J\\n: unknown key"),
        (b"name: \xff", "c.yaml: not YAML: .*utf-8"),
        (b"name: \0", "c.yaml: not YAML: "),
    ],
)
def test_refuses(load, text, complaint):
    with pytest.raises(ConfigError, match=complaint) as caught:
        load(text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.count("c.yaml") == 1 or "not YAML" in message
    assert len(message) < 1000


def test_sections_never_change():
    with pytest.raises(ValidationError):
        Outer().name = "y"


def test_what_is_saved_is_whole_and_loads(tmp_path):
    config = Outer(name="\u00e9", maybe=Inner(share=1e-5))
    save_config(config, tmp_path / "deep" / "c.yaml")
    assert load_config(tmp_path / "deep" / "c.yaml", Outer) == config
    assert list(yaml.safe_load((tmp_path / "deep" / "c.yaml").read_text())) == list(Outer.model_fields)


def test_where_is_named():
    with pytest.raises(ConfigError, match=r"^options: name: "):
        parse_config({"name": 3}, Outer, "options")


class Files(Section):
    """Files that settings name."""

    texts: list[FileName] = Field([])
    classes: FileName | None = None
    other: FileName = ""


def test_files_are_beside_the_settings_that_name_them(tmp_path, monkeypatch):
    path = tmp_path / "settings" / "run.yaml"
    path.parent.mkdir()
    path.write_text("texts: [a, ../b, /c]\nclasses: x/d\nother: ''\n")
    monkeypatch.chdir(tmp_path)
    expected = Files(texts=["settings/a", "settings/../b", "/c"], classes="settings/x/d")
    assert config_with_options("settings/run.yaml", Files, {"texts": None}) == expected
    monkeypatch.chdir(path.parent)
    assert config_with_options("run.yaml", Files, {"classes": "e"}).model_dump() == {
        "texts": ["a", "../b", "/c"],
        "classes": "e",
        "other": "",
    }
    assert load_config(path, Files).texts == ["a", "../b", "/c"]  # of models, which may be moved


def test_options_take_the_place_of_settings(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("{name: y, inner: {size: 5}}")
    options = {"name": None, "inner": {"share": 0.25, "size": None}, "maybe": {"size": None}, "numbers": [2.0]}
    assert config_with_options(path, Outer, options) == Outer(name="y", inner=Inner(size=5, share=0.25), numbers=[2.0])
    assert config_with_options(None, Outer, {"maybe": {"size": 1}}) == Outer(maybe=Inner(size=1))
    with pytest.raises(ConfigError, match=r"options: inner\.size: .* found -1"):
        config_with_options(path, Outer, {"inner": {"size": -1}})
