"""The page that compares systems: gains by simple definitions; what it shows, and which mistakes are refused."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import sentence_chrf

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.training.metrics.evaluation import EvaluatedTexts, EvaluationOptions
from phrasebeam.training.report.system_comparison import gains, length_ratios, sentence_scores
from tests.training.report.test_report import Page

FILES = {
    "src": ["der <b>hund</b>", "die katze", "ein haus", "gut"],
    "ref": ["the <b>dog</b> sleeps", "the cat sleeps here", "a house", "good"],
    "one": ["a <b>dog</b> sleeps", "the cat sleeps here", "a house", "well"],
    "two": ["the <b>dog</b> sleeps", "the cat is there", "a house", "good"],
    "three": ["the dog", "the cat", "house", "good"],
}
PAIR = "--hypothesis one two --reference ref --source src --trials 20"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files above, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def page_of(folder, arguments):
    assert main(["evaluate", *shlex.split(arguments), "--page", "page.html"]) == 0
    return (folder / "page.html").read_text()


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 2.5, 100.0])] * 2), max_size=8))
def test_gains(pairs):
    found = gains([a for a, _ in pairs], [b for _, b in pairs])
    assert sorted(found.won) == [i for i, (a, b) in enumerate(pairs) if b > a]
    assert sorted(found.lost) == [i for i, (a, b) in enumerate(pairs) if b < a]
    assert found.n_tied == sum(a == b for a, b in pairs)
    for sentences in (found.won, found.lost):
        sizes = [(-abs(pairs[i][1] - pairs[i][0]), i) for i in sentences]
        assert sizes == sorted(sizes)


def test_scores_are_those_of_sacrebleu():
    texts = EvaluatedTexts({name: FILES[name] for name in ("one", "two")}, [FILES["ref"], FILES["three"]])
    for name, scores in sentence_scores(texts, EvaluationOptions()).items():
        references = zip(FILES["ref"], FILES["three"])
        expected = [sentence_chrf(a, list(b), word_order=2).score for a, b in zip(FILES[name], references)]
        assert scores == pytest.approx(expected, abs=1e-6)
    alone = EvaluatedTexts({"a": ["x y", "z"]}, [["x y z", "z"]])
    assert length_ratios(alone, EvaluationOptions(tokenize="none")) == [0.75]


def test_the_page_shows_scores_and_sentences(folder, capsys):
    page = page_of(folder, PAIR)
    assert "page.html: comparison of one, two" in capsys.readouterr().out
    found = Page(page)
    assert not {"script", "b"} & set(found.tags) and not re.search(r"url\(|@import", page)
    assert all(address[1:] in re.findall(r'id="([^"]+)"', page) for address in found.addresses)
    for text in (
        "phrasebeam evaluate \\\n  --hypothesis one two \\\n  --reference ref \\\n  --trials 20 \\\n  --page page.html",
        "two against one",
        "2 sentences better, 1 worse, 1 equal.",
        "der <b>hund</b>",
        "the <b>dog</b> sleeps",
        "BLEU",
        "chrF2++|",
    ):
        assert text in found.text, text
    assert '<dd class="words" dir="auto"><span dir="auto"><del>a</del> <ins>the</ins> &lt;b&gt;dog' in page
    evaluation = phrasebeam.evaluate(["one", "two"], "ref", paired="bootstrap", trials=20)
    (_, second) = evaluation.results["BLEU"]
    assert f'{second.score:.1f}</td><td dir="auto">{second.p_value:.4f}' in page


def test_lists_are_as_long_as_was_said_and_each_system_has_its_own(folder):
    page = page_of(folder, "--hypothesis one two three --reference ref --most 1 --trials 20")
    assert "two against one" in page and "three against one" in page
    assert "1 of 2" in page and ">source<" not in page and ">reference<" in page


def test_several_references_are_numbered(folder):
    page = page_of(folder, "--hypothesis one two --reference ref three --trials 20")
    assert ">reference 1<" in page and ">reference 2<" in page and ">reference<" not in page


def test_the_test_may_be_another(folder):
    page = page_of(folder, "--hypothesis one two --reference ref --trials 20 --paired randomization")
    assert "by a paired randomization test" in page


def test_report_has_the_page_of_evaluate(folder, capsys):
    of_evaluate = page_of(folder, "--hypothesis one two --reference ref --source src --most 1")
    assert main(["report", *shlex.split("one two --reference ref --source src --most 1 --output page.html")]) == 0
    assert "page.html: comparison of one, two" in capsys.readouterr().out
    page = (folder / "page.html").read_text()
    assert "phrasebeam report one two \\\n  --output page.html" in page
    shown = [re.sub(r"(?s)<p class=.soft.>20.*?</p>|<pre>.*?</pre>", "", one) for one in (page, of_evaluate)]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("one two", "one: to compare files of translations, give --reference"),
        ("one --reference ref", "two or more systems"),
        ("one two --reference ref --source three --output three", "is an input"),
        ("one", "not a training run"),
    ],
)
def test_mistakes_of_report(folder, capsys, arguments, message):
    output = [] if "--output" in arguments else ["--output", "p"]
    assert main(["report", *arguments.split(), *output]) == 2
    assert message in capsys.readouterr().err and not (folder / "p").exists()


def test_a_page_beside_json(folder, capsys):
    page_of(folder, f"{PAIR} --json")
    assert capsys.readouterr().out.startswith("{")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--hypothesis one --reference ref --page p", "two or more systems"),
        ("--hypothesis one two --reference ref --source src", "give page, too"),
        ("--hypothesis one two --reference ref --source short --page p", "short: 1 lines, but ref has 4"),
        ("--hypothesis one short --reference ref --page p", "short: 1 lines, but ref has 4"),
        ("--hypothesis one two --reference missing --page p", "missing: No such file"),
        ("--hypothesis one two --page p", "--reference"),
        ("--hypothesis one two --reference ref --page two", "is an input"),
    ],
)
def test_mistakes_are_one_line_and_status_2(folder, capsys, arguments, message):
    (folder / "short").write_text("a\n")
    assert main(["evaluate", *arguments.split()]) == 2
    printed = capsys.readouterr()
    assert re.search(message, printed.err) and printed.err.count("\n") == 1 and not printed.out
    assert not (folder / "p").exists()
