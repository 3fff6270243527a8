"""The command train-model: one line when it is done, one line and status 2 when it cannot be."""

import gzip

import pytest

from phrasebeam.cli import main
from tests.training.model_building.test_train_model import bitext

FAST = "alignment: {effort: 0.2}\nlanguage_model: {order: 3}\n"


@pytest.fixture
def train(tmp_path, monkeypatch, capsys):
    """Runs train-model on files in tmp_path; returns status, output, error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("phrasebeam.commands.derived_command.show_progress", lambda: None)
    (tmp_path / "fast.yaml").write_text(FAST, encoding="utf-8")
    bitext(tmp_path)

    def call(**options):
        options = {"source": "source", "target": "target", "output": "model", "config": "fast.yaml"} | options
        words = [part for name, value in options.items() for part in (f"--{name}", value)]
        status = main(["train-model", *words])
        return status, *capsys.readouterr()

    return call


def test_says_what_it_made(train, tmp_path):
    status, output, error = train()
    assert (status, error) == (0, "")
    assert output.startswith("model: model of 120 sentence pairs, made in ")
    assert output.count("\n") == 1
    assert (tmp_path / "model" / "model.yaml").exists()


BAD = {
    "missing file": ({"source": "nowhere"}, "nowhere: No such file or directory"),
    "directory": ({"source": "."}, "Is a directory"),
    "device": ({"source": "/dev/zero"}, "/dev/zero: a pipe or device, which cannot be read twice"),
    "device in a config": ({"config": "device.yaml"}, "/dev/zero: a pipe or device, which cannot be read twice"),
    "not UTF-8": ({"source": "latin"}, "latin:2: byte 0xe9 at column 4 is not UTF-8; convert it (iconv -t UTF-8)"),
    "truncated gzip": ({"source": "half.gz"}, "half.gz: damaged compressed data"),
    "unequal lengths": ({"source": "short"}, "target: 120 lines, but short has 2"),
    "unknown key": ({"config": "typo.yaml"}, "typo.yaml: alignment.alligner: unknown key; did you mean aligner?"),
    "no YAML": ({"config": "broken.yaml"}, "broken.yaml:2: not YAML"),
    "bad memory": ({"memory": "lots"}, "memory: should be a size such as 512M or 2G, found 'lots'"),
    "output inside a file": ({"output": "source/model"}, "source"),
    "output is something else": ({"output": "."}, "exists and is not a model; choose another directory"),
    "missing text": ({"config": "text.yaml"}, "absent: No such file or directory"),
    "bad alignment": ({"alignment": "links"}, "links:1: 'x' is not an alignment point"),
    "alignment of GIZA": ({"alignment": "a3"}, "a3:1: an A3 file of GIZA++ or mgiza, which has one direction"),
    "bars": ({"target": "bars"}, "bars:2: 119 lines have a |, the first one in the word 'a|b'; it sets off"),
    "missing LM text": ({"lm-text": "absent"}, "absent: No such file or directory"),
    "LM text that is no text": ({"lm-text": "latin"}, "latin:2: byte 0xe9 at column 4 is not UTF-8"),
    "missing classes": ({"lm-classes": "absent"}, "absent: No such file or directory"),
    "no classes": ({"lm-classes": "short"}, "short:1: 1 fields, expected 'word class', or 'class word count'"),
    "class of a marker": (
        {"lm-classes": "marker"},
        "marker:1: the class </s>, which is reserved in language models; rename it",
    ),
    "LM of nothing": ({"config": "nothing.yaml"}, "language_models.0: neither text nor classes, expected one of them"),
    "weights of LMs": ({"config": "weights.yaml"}, "weights.language_model has 3 weights, the model has 2 language"),
}


@pytest.mark.parametrize("options, message", BAD.values(), ids=BAD.keys())
def test_refuses(train, tmp_path, options, message):
    (tmp_path / "latin").write_bytes("s1\ncaf\xe9\n".encode("latin-1"))
    (tmp_path / "half.gz").write_bytes(gzip.compress(b"s1 s2 s3\n" * 999, mtime=0)[:40])
    (tmp_path / "short").write_text("s1\ns2\n", encoding="utf-8")
    (tmp_path / "typo.yaml").write_text("alignment: {alligner: hmm}\n", encoding="utf-8")
    (tmp_path / "device.yaml").write_text("language_models: [{classes: /dev/zero}]", encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("alignment: [\n", encoding="utf-8")
    (tmp_path / "text.yaml").write_text("language_model: {text: [absent]}\n", encoding="utf-8")
    (tmp_path / "marker").write_text("t1 </s>\n", encoding="utf-8")
    (tmp_path / "nothing.yaml").write_text("language_models: [{order: 3}]\n", encoding="utf-8")
    weights = "language_models: [{text: [target]}]\nweights: {language_model: [1, 2, 3]}\n"
    (tmp_path / "weights.yaml").write_text(weights, encoding="utf-8")
    (tmp_path / "links").write_text("x\n" * 120, encoding="utf-8")
    (tmp_path / "a3").write_text("# Sentence pair (1) source length 2 target length 2 alignment score : 1e-5\n")
    (tmp_path / "bars").write_text("a b\n" + "a|b | c\n" * 119, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    status, output, error = train(**options)
    assert (status, output) == (2, "")
    assert error.startswith("phrasebeam: ")
    assert message in error
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_words_of_language_models_in_the_text(train, tmp_path):
    lines = (tmp_path / "target").read_text().splitlines()
    (tmp_path / "target").write_text("".join(f"{line}\n" for line in ["<unk> <s>", *lines[1:]]))
    (tmp_path / "more").write_text("a | b\n")  # language models may have any words
    status, _, error = train(**{"lm-text": "more"})
    assert (status, error.count("\n")) == (0, 1)
    words = "2 words that language models keep for themselves (<unk>, <s>, </s>)"
    assert f"target: {words} were left out, as lmplz --skip_symbols does" in error
    assert main(["check-model", "model"]) == 0


def test_options_for_further_language_models(train, tmp_path):
    assert main(["cluster", "--text", "target", "--classes", "3", "--output", "classes"]) == 0
    assert train(**{"lm-text": "source", "lm-classes": "classes"})[0] == 0
    assert sorted(path.name for path in (tmp_path / "model").glob("lm*")) == [
        *("lm.bin", "lm2.bin", "lm3.bin", "lm3.classes")
    ]


def test_options(train):
    status, output, _ = train(threads="1", memory="3G")
    assert status == 0
    assert "120" in output
