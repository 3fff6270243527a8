"""Configuration: what is wrong is named with file, key and what it may be."""

import pytest
import yaml
from pydantic import Field, ValidationError, model_validator

from phrasebeam.base.config import Section, config_with_options, load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError


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
    ],
)
def test_loads(load, text, config):
    assert load(text) == config


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
        ("name: [", "c.yaml: not YAML: "),
        ("name: !!python/object:os.system x", "c.yaml: not YAML: "),
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
    assert len(message) < 400


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


def test_options_take_the_place_of_settings(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("{name: y, inner: {size: 5}}")
    options = {"name": None, "inner": {"share": 0.25, "size": None}, "maybe": {"size": None}, "numbers": [2.0]}
    assert config_with_options(path, Outer, options) == Outer(name="y", inner=Inner(size=5, share=0.25), numbers=[2.0])
    assert config_with_options(None, Outer, {"maybe": {"size": 1}}) == Outer(maybe=Inner(size=1))
    with pytest.raises(ConfigError, match=r"options: inner\.size: .* found -1"):
        config_with_options(path, Outer, {"inner": {"size": -1}})
