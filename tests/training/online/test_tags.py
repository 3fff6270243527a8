"""Features of tags of source tokens, from the commands that learn them to those that use them."""

import random
import sys

import pytest
import yaml

from phrasebeam.cli import main
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model

TEMPLATES = {
    "rule_id": True,
    "class_reordering": True,
    "source_deletion": True,
    "word_edges": {"most_words": 2},
    "levels": [{"kind": "word", "budget": 5}, {"kind": "tags", "budget": 2, "content": ["N", "P"]}],
}
SEARCH = {"stack": 20, "beam_threshold": 0.0, "max_phrase_length": 1}  # longer phrases would know
COMMON = {"iterations": 3, "threads": 1, "search": SEARCH}
CONFIGS = {
    "train-maxforce": COMMON | {"templates": TEMPLATES, "rates": {"word_edges": 1.0}},
    "train-ranking": COMMON | {"templates": TEMPLATES, "rate": 0.02, "algorithm": 1, "iterations": 4, "nbest": 20},
    "tune": COMMON | {"method": "online", "sparse": "weights", "nbest": 20},
}
TRAINING = {"alignment": "train.alignment", "dev-reference": "dev.target"}
CONFIGS["tune"]["online"] = {"templates": TEMPLATES, "rate": 0.3, "strength": 0.001, "strengths": {}, "batch": 8}
CONFIGS["tune"]["online"] |= {"average": False, "lm_folds": 0}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A model, and tagged sentences in which only the tag of `k` decides what it is."""
    directory, rng = tmp_path_factory.mktemp("tags"), random.Random(1)
    for name, size in (("train", 60), ("dev", 10)):
        lines = [[(rng.choice("abcd"), rng.choice("PQ")) for _ in range(rng.randint(1, 3))] for _ in range(size)]
        columns = {
            "source": [" ".join(f"{word} k" for word, _ in line) for line in lines],
            "tagged": [" ".join(f"{word}|N k|{tag}" for word, tag in line) for line in lines],
            "target": [" ".join(f"{word.upper()} m {tag.lower()}" for word, tag in line) for line in lines],
            "alignment": [
                " ".join(f"{2 * i}-{3 * i} {2 * i + 1}-{3 * i + 1} {2 * i + 1}-{3 * i + 2}" for i in range(len(line)))
                for line in lines
            ],
        }
        for kind, texts in columns.items():
            (directory / f"{name}.{kind}").write_text("".join(f"{text}\n" for text in texts))
    settings = {"phrases": {"max_length": 2}, "language_model": {"order": 2}, "threads": 1}
    texts = directory / "train.source", directory / "train.target"
    train_model(*texts, directory / "model", TrainModelConfig.model_validate(settings), directory / "train.alignment")
    for command, config in CONFIGS.items():
        (directory / command).write_text(yaml.safe_dump(config))
    return directory


def options(data, files):
    return [f"--{name}={data / file}" for name, file in files.items()]


def learn(data, command, output, source="train.tagged", development="dev.tagged"):
    files = TRAINING | {"source": source, "dev-source": development, "model": "model", "config": command}
    files |= {"reference" if command == "tune" else "target": "train.target"}
    return main([command, f"--output={output}", *options(data, files)])


@pytest.mark.parametrize("command", CONFIGS)
def test_what_only_tags_tell_is_learned(data, tmp_path, command, capsys, monkeypatch):
    model, lines = tmp_path / "out", tmp_path / "lines"
    assert learn(data, command, model) == 0
    capsys.readouterr()
    lines.write_text("a|N k|P b|N k|Q\n\n||N k|Q new|word|N k|P\na k|P\n")
    with open(lines) as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["translate", f"--model={model}"]) == 2
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["A m p B m q", "", "| m q new|word m p"]
    assert captured.err.endswith(
        "standard input:4: the token 'a', expected word|TAG, since the model has features of tags\n"
    )
    assert main(["explain", f"--model={model}", "--top=1000", "--source=a|N k|P"]) == 0
    text, _, *fired = capsys.readouterr().out.splitlines()
    names = {line.split(" x ")[1] for line in fired}
    assert text == "A m p"
    assert {"class_reordering_<s>+N,monotone", "class_reordering_N+P,monotone"} <= names
    assert any(name.startswith("source_target_edges_") and "tags=P" in name for name in names)
    assert not any("target.tags" in name for name in names)
    assert "tags=Q" in (model / "sparse" / "names").read_text()


@pytest.fixture(scope="module")
def tuned(data):
    """A model with features of tags."""
    assert learn(data, "tune", data / "tuned") == 0
    return data / "tuned"


def test_references_are_forced(data, tuned, tmp_path):
    files = options(data, {"source": "dev.tagged", "reference": "dev.target"})
    assert main(["forced-decode", f"--model={tuned}", f"--output={tmp_path / 'found'}", *files]) == 0
    found = [yaml.safe_load(line) for line in (tmp_path / "found").read_text().splitlines()]
    assert {one["status"] for one in found} == {"reachable"}
    groups = "class_reordering", "source_target_edges"
    assert all(any(one["features"][group] != [0.0] for one in found) for group in groups)


def test_other_trainers_read_tags(data, tuned, tmp_path):
    sets = {"source": "dev.tagged", "reference": "dev.target"}
    sets |= {f"test-{name}": file for name, file in sets.items()}
    tune = ["tune", "--method=mert", "--iterations=1", f"--output={tmp_path / 'mert'}"]
    assert main([*tune, f"--model={tuned}", *options(data, sets)]) == 0
    files = TRAINING | {"source": "train.tagged", "target": "train.target", "dev-source": "dev.tagged"}
    learn = ["train-expected-bleu", "--iterations=1", f"--output={tmp_path / 'learned'}"]
    assert main([*learn, f"--model={tuned}", *options(data, files)]) == 0


@pytest.mark.parametrize("command", CONFIGS)
def test_text_without_tags_is_refused_before_any_work(data, tmp_path, command, capsys):
    for files in ({"source": "train.source"}, {"development": "dev.source"}):
        assert learn(data, command, tmp_path / "out", **files) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{data / next(iter(files.values()))}:1: the token " in line
    assert learn(data, command, tmp_path / "out") == 0


def test_models_without_such_features_read_tokens_as_words(data):
    assert Decoder.load(data / "model").translate("| k|P").text == "| k|P"
