"""A model carries its search: search.yaml is what every command does, unless a configuration or options say else."""

import io
import json
import sys

import pytest
import yaml

from phrasebeam.base.errors import ConfigError, SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translate_settings import ModelSearch, TranslateSettings, translate_settings
from phrasebeam.decoder.translate.translator import Decoder
from tests import ROOT
from tests.decoder.models import random_toy

pytestmark = pytest.mark.kernels
CARRIED = "search: {algorithm: cube, stack: 7, table_limit: 1}\ninput: {oov: drop}\n"


@pytest.fixture
def model(tmp_path):
    directory = random_toy(tmp_path / "model", 7, most=3).directory
    (directory / "search.yaml").write_text(CARRIED)
    return directory


def test_the_decoder_searches_as_the_model_says(model):
    decoder = Decoder.load(model)
    assert decoder.search_settings == SearchSettings(algorithm="cube", stack=7, table_limit=1)
    assert decoder.translate("zzz").text == ""
    assert Decoder.load(model, SearchSettings(stack=9)).search_settings == SearchSettings(stack=9)
    (model / "search.yaml").unlink()
    assert Decoder.load(model).search_settings == SearchSettings()
    assert Decoder.load(model).translate("zzz").text == "zzz"


def test_the_settings_that_come_with_it_are_the_defaults():
    written = yaml.safe_load((ROOT / "configs" / "translate.yaml").read_text(encoding="utf-8"))
    assert written == TranslateSettings().model_dump(mode="json")


def test_a_configuration_overrides_single_settings(model, tmp_path):
    (tmp_path / "config").write_text("search: {stack: 5}\nmbr: {size: 3}\n")
    settings = translate_settings(model, tmp_path / "config")
    assert settings.search == SearchSettings(algorithm="cube", stack=5, table_limit=1)
    assert (settings.input.oov, settings.mbr) == ("drop", MbrSettings(size=3))
    (model / "search.yaml").write_text("mbr: {size: 3}\n")
    (tmp_path / "config").write_text("mbr: null\n")
    assert translate_settings(model, tmp_path / "config").mbr is None


def translated(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    monkeypatch.setattr("phrasebeam.api.translate.read_input", lambda path: iter(["a zzz", "b"]))
    assert main(["translate", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_translate_does_what_the_model_says(model, monkeypatch, capsys):
    assert "zzz" not in translated(["--model", model], monkeypatch, capsys)
    assert "zzz" in translated(["--model", model, "--oov", "copy"], monkeypatch, capsys)


def test_minimum_bayes_risk_of_a_model_can_be_switched_off(model, monkeypatch, capsys):
    decoder = Decoder.load(model)
    (model / "search.yaml").write_text("mbr: {size: 2, scale: 0.01}\n")
    assert Decoder.load(model).request.mbr == MbrSettings(size=2, scale=0.01)
    asked = []
    answer = Decoder.found_together
    monkeypatch.setattr(
        Decoder,
        "found_together",
        lambda self, lines, request: asked.append(request.mbr) or answer(self, lines, request),
    )
    for more in ([], ["--no-mbr"], ["--mbr-size", "9"]):
        translated(["--model", model, *more], monkeypatch, capsys)
    assert asked[::2] == [MbrSettings(size=2, scale=0.01), None, MbrSettings(size=9, scale=0.01)]
    assert decoder.request.mbr is None


def test_forced_decoding_reads_it_too(model, tmp_path, capsys):
    (model / "search.yaml").write_text("search: {distortion_limit: 40, max_phrase_length: 30}\n")
    for side in ("source", "reference"):
        (tmp_path / side).write_text("a\n")
    files = [f"--{side}={tmp_path / side}" for side in ("source", "reference")]
    assert main(["forced-decode", "--model", str(model), *files, "--output", str(tmp_path / "out")]) == 2
    assert "search.yaml: search.max_phrase_length" in capsys.readouterr().err
    (model / "search.yaml").write_text("search: {distortion_limit: 0}\n")
    assert main(["forced-decode", "--model", str(model), *files, "--output", str(tmp_path / "out")]) == 0
    assert json.loads((tmp_path / "out").read_text())["status"]


@pytest.mark.parametrize("text", ["search: {stack: -1}", "serach: {}", "memory: 1G", "[", "search: {stack: 100001}"])
def test_damage_is_refused(model, text):
    (model / "search.yaml").write_text(text)
    with pytest.raises(SmtError, match=r"search\.yaml"):
        ModelSearch.of(model)
    with pytest.raises(ConfigError):
        Decoder.load(model)
