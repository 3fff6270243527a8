"""Our scores against sacrebleu's own command line and API."""

import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.training.demo.demo_corpus import generate
from phrasebeam.training.metrics.evaluation import EvaluationOptions, bleu, evaluate_files, evaluate_texts

CELL = re.compile(r"(\d+\.\d+) \((\d+\.\d+) ± (\d+\.\d+)\)")  # score (mean ± interval)
words = st.lists(st.sampled_from(["a", "B", "the", "cat", "sat", ".", "Mat", "über"]), max_size=8).map(" ".join)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two systems and two references: damaged versions of the same sentences."""
    folder = tmp_path_factory.mktemp("evaluation")
    versions = {"first": 0.1, "second": 0.4, "reference": 0.0, "other": 0.2}
    return {
        name: write(folder / name, [english.capitalize() for _, english in generate(120, 6 + (name == "other"), noise)])
        for name, noise in versions.items()
    }


def sacrebleu(*arguments, form="json"):
    """What sacrebleu's command prints."""
    command = [sys.executable, "-m", "sacrebleu", *map(str, arguments), "-w", "12", "-f", form]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SACREBLEU")}
    environment |= {"NO_COLOR": "1", "PYTHONUTF8": "1"}
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=True)
    return json.loads(result.stdout) if form == "json" else result.stdout


def test_all_metrics_with_two_references_are_those_of_the_command(files):
    options = EvaluationOptions(("bleu", "chrf", "ter"), confidence=True, trials=50)
    found = evaluate_files([files["first"]], [files["reference"], files["other"]], options)
    expected = sacrebleu(files["reference"], files["other"], "-i", files["first"], "-m", "bleu", "chrf", "ter",
                         "--confidence", "--confidence-n", "50")  # fmt: skip
    for metric in expected:
        result = found.results[metric["name"]][0]
        assert result.score == pytest.approx(metric["score"], abs=1e-11)
        assert result.mean == pytest.approx(metric["confidence_mean"], abs=1e-11)
        assert result.interval == pytest.approx(metric["confidence_var"], abs=1e-11)
        assert found.signatures[metric["name"]] == metric["signature"]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter", "wer", "cer", "accuracy"])
def test_confidence_where_some_samples_have_nothing_right(metric):
    """Sacrebleu's own bootstrap of chrF fails with a TypeError here."""
    found = evaluate_texts(
        {"": ["a b c d", "x", "y"]}, [["a b c d", "r", "s"]], EvaluationOptions((metric,), confidence=True)
    )
    ((result,),) = found.results.values()
    assert result.interval > 0


def test_chrf_with_words_is_that_of_the_command(files):
    found = evaluate_files([files["first"]], [files["reference"]], EvaluationOptions(("chrf++",)))
    command = f"{files['reference']} -i {files['first']} -m chrf --chrf-word-order 2"
    expected = sacrebleu(*command.split())
    assert found.results["chrF2++"][0].score == pytest.approx(expected["score"], abs=1e-11)
    assert found.signatures["chrF2++"] == expected["signature"]


def test_randomization_is_that_of_the_command(files):
    options = EvaluationOptions(("bleu", "chrf"), "none", lowercase=True, paired="randomization", trials=60)
    found = evaluate_files([files["first"], files["second"]], [files["reference"]], options)
    command = f"{files['reference']} -i {files['first']} {files['second']} -m bleu chrf -lc --chrf-lowercase "
    systems = sacrebleu(*command.split(), *["--tokenize", "none", "--paired-ar", "--paired-ar-n", "60"])
    for name, results in found.results.items():
        for result, system in zip(results, systems, strict=True):
            assert result.score == pytest.approx(system[name]["score"], abs=1e-11)
            assert result.p_value == pytest.approx(system[name]["p_value"])
        assert "ar:60|seed:12345|case:lc" in found.signatures[name]


def test_paired_bootstrap_is_that_of_the_command(files):
    options = EvaluationOptions(("bleu", "chrf++"), paired="bootstrap", trials=60)
    found = evaluate_files([files["first"], files["second"]], [files["reference"]], options)
    command = f"{files['reference']} -i {files['first']} {files['second']} -m bleu chrf --chrf-word-order 2"
    command += " --paired-bs --paired-bs-n 60"
    printed = sacrebleu(*command.split(), form="text")
    numbers = [float(text) for cell in CELL.findall(printed) for text in cell]
    p_values = [float(text) for text in re.findall(r"p = (\d+\.\d+)", printed)]
    ours = [x for i in range(2) for results in found.results.values() for x in _numbers(results[i])]
    assert ours == pytest.approx(numbers, abs=1e-4)
    assert [results[1].p_value for results in found.results.values()] == pytest.approx(p_values, abs=1e-4)
    assert all(f" {signature}\n" in printed for signature in found.signatures.values())


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_equal_translations_do_not_differ(test):
    lines = ["the dog sleeps .", "a cat"]
    systems = {"first": lines, "same": [*lines], "other": ["the dog", "a cat"]}
    found = evaluate_texts(systems, [["the dog sleeps .", "the cat"]], EvaluationOptions(paired=test, trials=20))
    assert all(results[1].p_value == 1 for results in found.results.values())
    assert all(results[2].p_value < 1 for results in found.results.values())


def _numbers(result):
    return result.score, result.mean, result.interval


@settings(max_examples=30)
@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=6), st.booleans())
def test_scores_are_those_of_the_library(lines, lowercase):
    system, *references = (list(side) for side in zip(*lines))
    found = evaluate_texts({"x": system}, references, EvaluationOptions(("bleu", "chrf", "ter"), "13a", lowercase))
    metrics = (BLEU(lowercase=lowercase, tokenize="13a", force=True), CHRF(lowercase=lowercase), TER())
    for metric, results in zip(metrics, found.results.values(), strict=True):
        assert results[0].score == metric.corpus_score(system, references).score


def test_the_seed_decides_and_does_not_stay_behind(files, monkeypatch):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)

    def mean(seed):
        options = EvaluationOptions(confidence=True, trials=20, seed=seed)
        found = evaluate_files([files["first"]], [files["reference"]], options)
        assert "SACREBLEU_SEED" not in os.environ
        assert f"seed:{seed}|" in found.signatures["BLEU"]
        return found.results["BLEU"][0].mean

    assert mean(1) == mean(1) != mean(2)


def test_tokenized_bleu_of_one_system():
    score, signature = bleu(["a b c d e ."], ["a b c d e ."])
    assert score == pytest.approx(100)
    assert "tok:none" in signature


def test_unequal_files_are_named(tmp_path):
    one, two = write(tmp_path / "one", ["a"]), write(tmp_path / "two", ["a", "b"])
    with pytest.raises(FormatError, match=r"one: 1 lines, but .*two has 2"):
        evaluate_files([one], [two])
    with pytest.raises(FormatError, match="no lines"):
        evaluate_files([one], [write(tmp_path / "none", [])])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": ("blue",)}, "bleu, chrf, chrf[+]{2}, ter"),
        ({"metrics": ()}, "bleu, chrf, chrf[+]{2}, ter"),
        ({"paired": "ttest"}, "bootstrap, randomization"),
        ({"tokenize": "14a"}, "13a"),
        ({"trials": 1}, "expected from 2"),
        ({"seed": 0}, "expected from 1"),
        ({"paired": "bootstrap", "confidence": True}, "one of them"),
    ],
)
def test_impossible_options(settings, message):
    with pytest.raises(ConfigError, match=message):
        EvaluationOptions(**settings)


def test_options_that_do_not_fit_the_systems():
    one, two = {"x": ["a"]}, {"x": ["a"], "y": ["b"]}
    with pytest.raises(ConfigError, match="two or more systems"):
        evaluate_texts(one, [["a"]], EvaluationOptions(paired="bootstrap"))
    with pytest.raises(ConfigError, match="for a single system, got 2"):
        evaluate_texts(two, [["a"]], EvaluationOptions(confidence=True))
    with pytest.raises(ConfigError, match="the same number of each"):
        evaluate_texts(one, [["a", "b"]])
    with pytest.raises(ConfigError, match="at least one"):
        evaluate_files([], [])
