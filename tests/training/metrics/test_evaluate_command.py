"""The command line of evaluation and of the demo corpus."""

import json

import pytest

from phrasebeam.cli import main
from phrasebeam.commands.command_group import repeat_options
from phrasebeam.commands.command_line import BAD_INPUT
from phrasebeam.training.demo.demo_corpus import generate
from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_files


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Prefix of four files of 40 lines: two systems, two references."""
    folder = tmp_path_factory.mktemp("command")
    for name, seed, noise in (("a", 1, 0.2), ("b", 1, 0.6), ("r", 1, 0.0), ("s", 2, 0.0)):
        lines = "".join(f"{english}\n" for _, english in generate(40, seed, noise))
        (folder / name).write_text(lines, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("arguments", "repeated"),
    [
        ("--reference a b --hypothesis c", "--reference a --reference b --hypothesis c"),
        ("--reference=a b c", "--reference=a --reference b --reference c"),
        ("--reference a --reference b", "--reference a --reference b"),
        ("--metric bleu ter --width 3 x", "--metric bleu --metric ter --width 3 x"),
        ("--hypothesis - --confidence x", "--hypothesis - --confidence x"),
        ("--reference a -- b c", "--reference a -- b c"),
        ("", ""),
    ],
)
def test_options_with_many_values(arguments, repeated):
    assert repeat_options(arguments.split(), {"--reference", "--hypothesis", "--metric"}) == repeated.split()


@pytest.mark.parametrize(
    "arguments",
    ["--hypothesis a b --reference r s --metric bleu ter",
     "--metric bleu --metric ter --reference r --reference s --hypothesis a --hypothesis b",
     "--reference=r s --hypothesis=a b --metric=bleu --metric ter"],
)  # fmt: skip
def test_files_and_metrics_are_found_in_any_order(prefix, arguments, capsys, monkeypatch):
    monkeypatch.chdir(prefix)
    assert main(["evaluate", *arguments.split(), "--json", "--width", "12"]) == 0
    printed = json.loads(capsys.readouterr().out)
    expected = evaluate_files(["a", "b"], ["r", "s"], EvaluationOptions(("bleu", "ter")))
    assert [system["system"] for system in printed["systems"]] == ["a", "b"]
    for i, system in enumerate(printed["systems"]):
        assert system["BLEU"]["score"] == pytest.approx(expected.results["BLEU"][i].score)
        assert system["TER"]["score"] == pytest.approx(expected.results["TER"][i].score)
    assert printed["signatures"] == expected.signatures


def test_the_table_shows_scores_tests_and_signatures(prefix, capsys, monkeypatch):
    monkeypatch.chdir(prefix)
    arguments = "evaluate --hypothesis a b --reference r --paired bootstrap --trials 50 --width 2 --seed 7"
    assert main(arguments.split()) == 0
    printed = capsys.readouterr().out
    options = EvaluationOptions(paired="bootstrap", trials=50, seed=7)
    expected = evaluate_files(["a", "b"], ["r"], options)
    first, second = expected.results["BLEU"]
    lines = printed.splitlines()
    assert lines[0].split() == ["system", "BLEU", "chrF2++"]
    assert lines[2].split()[:2] == ["a", f"{first.score:.2f}"]
    assert lines[3].startswith(f"b       {second.score:.2f} (μ = {second.mean:.2f} ± {second.interval:.2f})")
    assert f"(p = {second.p_value:.4f})" in lines[3]
    assert lines[-2:] == [f"{name}|{signature}" for name, signature in expected.signatures.items()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--hypothesis a --reference missing", "missing: No such file"),
        ("--hypothesis a --reference r --metric blue", "bleu, chrf, chrf++, ter, wer, cer, accuracy"),
        ("--hypothesis a --reference r --paired bootstrap", "two or more systems"),
        ("--hypothesis a a --reference r", "given twice"),
        ("--hypothesis a", "--reference"),
    ],
)
def test_mistakes_are_one_line_and_status_2(prefix, arguments, message, capsys, monkeypatch):
    monkeypatch.chdir(prefix)
    assert main(["evaluate", *arguments.split()]) == BAD_INPUT
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_demo_corpus_writes_both_sides(tmp_path, capsys):
    arguments = ["demo-corpus", "--sentences", "30", "--seed", "4", "--output", str(tmp_path / "new" / "corpus")]
    assert main(arguments) == 0
    sides = [(tmp_path / "new" / f"corpus.{side}").read_text("utf-8").splitlines() for side in ("de", "en")]
    assert list(zip(*sides, strict=True)) == list(generate(30, 4))
    assert "30 sentence pairs" in capsys.readouterr().out


def test_hints_at_tokens_and_at_a_very_low_score(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = [f"{english} ." for _, english in generate(100, 1, 0.0)]
    (tmp_path / "tokens").write_text("".join(f"{line}\n" for line in text))
    (tmp_path / "other").write_text("ganz anders\n" * 100)

    def hints(hypothesis, *more):
        assert main(["evaluate", "--hypothesis", hypothesis, "--reference", "tokens", *more]) == 0
        return capsys.readouterr().err

    asked = "phrasebeam: tokens: 100 lines or more end in a tokenized period (' .'): detokenize"
    assert hints("tokens").startswith(asked) and hints("tokens").count("\n") == 1
    assert hints("tokens", "--tokenize", "none") == hints("tokens", "--metric", "chrf") == ""
    assert hints("other").startswith("phrasebeam: BLEU is 0.00: are source and target in the right direction")
    assert hints("other", "--metric", "chrf") == ""
    (tmp_path / "scored").write_text("".join(f"{line} ||| LM0= 1 ||| 2\n" for line in text))
    (tmp_path / "bars").write_text("".join(f"{line} | |\n" for line in text[1:]) + "a ||| b .\n")
    assert hints("scored", "--tokenize", "none").startswith("phrasebeam: scored: fields set off by '|||' in each line")
    assert "fields" not in hints("bars", "--tokenize", "none")
