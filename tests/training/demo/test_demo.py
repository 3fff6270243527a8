"""The demo from corpus to BLEU: the whole way in little."""

import sys

import pytest

from phrasebeam.api.config import CONFIGS
from phrasebeam.base.config import load_config
from phrasebeam.cli import main
from phrasebeam.commands.command_line import BAD_INPUT
from phrasebeam.commands.demo import called_here
from phrasebeam.training.demo.demo import N_EXAMPLES, TEST_SENTENCES, run_demo
from phrasebeam.training.model_building.config import TrainModelConfig

SENTENCES = 1500
BLEU_FLOOR = 30.0


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"), SENTENCES, 1, load_config(CONFIGS / "demo.yaml", TrainModelConfig))


def test_translations_are_good_enough(result):
    assert result.bleu > BLEU_FLOOR
    assert "tok:none" in result.signature
    assert result.output.read_text("utf-8").count("\n") == TEST_SENTENCES


def test_examples_are_whole_sentences(result):
    sources = result.corpus.test_source.read_text("utf-8").splitlines()
    assert len(result.examples) == N_EXAMPLES
    for example in result.examples:
        phrases = example.translation.phrases
        assert example.source in sources
        assert " ".join(p.source for p in sorted(phrases, key=lambda p: p.source_span)) == example.source
        assert " ".join(p.target for p in phrases) == example.translation.text


def test_the_command_shows_examples_and_bleu(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "out"), "--sentences", "200"]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines() if line] == [
        *["source", "output", "reference"] * 3,
        "BLEU",
        "Try:",
    ]
    assert main(["demo", "--sentences", "0"]) == BAD_INPUT


def test_the_command_that_it_ends_with_can_be_run(tmp_path, monkeypatch):
    installed = tmp_path / "here" / ".venv" / "bin" / "phrasebeam"
    installed.parent.mkdir(parents=True)
    installed.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(installed.with_name("python")))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path / "here")
    assert called_here() == "./.venv/bin/phrasebeam"
    monkeypatch.chdir(installed.parent)
    assert called_here() == "./phrasebeam"
    monkeypatch.setenv("PATH", f"{installed.parent}")
    assert called_here() == "phrasebeam"
    installed.unlink()
    assert called_here() == f"{sys.executable} -m phrasebeam"
