"""The report of a training: what changed, by simple definitions; and the page that the command writes."""

import random
import re
import shutil
from html.parser import HTMLParser
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.console.html_page import element, html_page
from phrasebeam.training.common.kept_translations import kept_translations
from phrasebeam.training.report.changed_translations import versions
from phrasebeam.training.report.marked_words import marked
from phrasebeam.training.report.run_files import find_training
from phrasebeam.training.report.training_report import best_iteration, best_row, best_score, charts, weight_rows
from tests.decoder.models import SOURCE, TARGET, random_toy

WORDS = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)


class Page(HTMLParser):
    """The tags, the text and the addresses of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.addresses, self.open = [], "", [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_versions_are_runs_of_equal_texts(texts):
    found = versions({number: [text] for number, text in enumerate(texts)}, 0)
    expected = [(text, len(list(some))) for text, some in groupby(texts)]
    assert [(one.text, one.last - one.first + 1) for one in found] == expected
    assert found[0].first == 0 and found[-1].last == len(texts) - 1


@given(WORDS, WORDS)
def test_marks_turn_the_old_text_into_the_new_one(before, text):
    parts = list(marked(before, text).iter())
    pieces = [(parts[0].text or "", "")] + [
        piece for one in parts[1:] for piece in ((one.text, one.tag), (one.tail, ""))
    ]
    for gone, expected in (("ins", before), ("del", text)):
        assert " ".join(piece for piece, tag in pieces if piece and tag != gone).split() == expected.split()


def test_the_best_row():
    rows = [{"score": None}, {"score": 2.0}, {"score": 3.0}, {"score": 3.0}]
    assert (best_row(rows, False), best_row(rows, True), best_row(rows[:1], False)) == (2, 1, None)


def test_charts_are_of_numbers_that_change():
    rows = [
        {"iteration": float(i), "score": 10.0 + i, "list_score": None, "same": 1.0, "updates": i * 2.0}
        for i in range(3)
    ]
    found = list(charts({"": rows}, 2.0))
    assert [figure.find("figcaption").text for figure in found] == ["score", "updates"]
    dots = [title.text for title in found[0].iter("title")]
    assert dots == ["score, iteration 0: 10", "score, iteration 1: 11", "score, iteration 2: 12"]
    heights = [float(dot.get("cy")) for dot in found[0].iter("circle")]
    assert heights == sorted(heights, reverse=True)


def test_text_is_escaped():
    page = html_page("<i>", [element("p", {"dir": '"><b>'}, "<b>&", element("em", {}, "x"), "</p>")]).decode()
    found = Page(page)
    assert "b" not in found.tags and "i" not in found.tags and "<b>&x</p>" in found.text


@pytest.fixture
def tuned(tmp_path, monkeypatch):
    """A directory with a model that was tuned by MERT."""
    monkeypatch.chdir(tmp_path)
    random_toy(tmp_path / "model", 7, most=3)
    rng = random.Random(1)
    for name, words in (("dev.src", SOURCE), ("dev.ref", TARGET)):
        lines = [" ".join(rng.choices([*words, "<b>"], k=5)) for _ in range(20)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    settings = {"method": "mert", "iterations": 3, "nbest": 20, "seeds": [1, 2]}
    phrasebeam.tune("model", "dev.src", "dev.ref", "tuned", config=settings)
    return tmp_path


def test_the_page_of_a_tuning(tuned, capsys):
    assert main(["report", "tuned", "--output", "page.html"]) == 0
    assert "page.html" in capsys.readouterr().out
    page = (tuned / "page.html").read_text()
    found = Page(page)
    assert all(address[1:] in re.findall(r'id="([^"]+)"', page) for address in found.addresses)
    assert "script" not in found.tags and "b" not in found.tags
    assert not re.search(r"url\(|@import", page)
    assert {"svg", "table", "details"} <= set(found.tags)
    for text in (
        "How the model was made",
        "seed-1",
        "seed-2",
        "method: mert",
        "lexical weight P(e|f)",
        "Largest gains",
        "begun 20",
    ):
        assert text in found.text, text
    (work,) = find_training(tuned / "tuned").works
    assert [run.name for run in work.runs] == ["seed-1", "seed-2"]
    for run in work.runs:
        n_decoded = len(work.curves[0].runs[run.name])
        assert sorted(run.translations) == list(range(n_decoded)) == sorted(run.weights)
        assert weight_rows(run.weights, None)[0] == [
            "feature",
            "before",
            *(f"after {i}" for i in list(run.weights)[1:]),
        ]
        assert kept_translations(tuned / "tuned/tuning" / run.name) == run.translations
    assert main(["report", "tuned/tuning", "--output", "work.html"]) == 0
    assert "seed-2" in (tuned / "work.html").read_text()


def test_a_training_by_a_recipe_is_one_page(tuned, tmp_path):
    best = tmp_path / "best"
    shutil.copytree(tuned / "tuned", best)
    (best / "recipe/stages/choose.tried/0").mkdir(parents=True)
    (best / "tuning").rename(best / "recipe/stages/choose.tried/0/tuning")
    report = "# best: report\n\n| stage | BLEU |\n| --- | ---: |\n| choose | 29.20 ± 7 |\n\n- Sentences: 40.\n"
    (best / "recipe/report.md").write_text(report)
    assert main(["report", str(best), "--output", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    found = Page(page)
    for text in (
        "Stages",
        "29.20 ± 7",
        "Sentences: 40.",
        "tune in recipe/stages/choose.tried/0/tuning",
        "Largest losses",
    ):
        assert text in found.text, text
    assert "svg" in found.tags and "---" not in found.text and 'href="#work-1"' in page


def test_changes_are_from_the_first_weights_to_the_best(tuned):
    main(["report", "tuned", "--output", "page.html"])
    (work,) = find_training(tuned / "tuned").works
    run = work.runs[0]
    rows = work.curves[0].runs[run.name]
    best = max(range(len(rows)), key=lambda number: rows[number]["score"])
    assert best_iteration(work.curves, run.name, False) == best and best_score(work.curves, run.name, False) > 0
    before, after = run.translations[0], run.translations[best]
    text = Page((tuned / "page.html").read_text()).text
    if before != after:
        assert "difference to before" in text and f"after {best}" in text
    assert work.development.source == (tuned / "dev.src").read_text().splitlines()
    assert work.development.references == [(tuned / "dev.ref").read_text().splitlines()]


def test_work_of_an_older_version_shows_the_iterations_of_its_translations(tuned):
    shutil.rmtree(tuned / "tuned/tuning/development")
    assert main(["report", "tuned", "--output", "page.html"]) == 0
    assert "changed within" in (tuned / "page.html").read_text()


def test_trainings_are_compared_by_their_best_translations(tuned, capsys):
    phrasebeam.tune("model", "dev.src", "dev.ref", "other", config={"method": "pro", "iterations": 2, "nbest": 20})
    assert main(["report", "tuned", "other", "--output", "page.html"]) == 0
    assert "page.html: comparison of tuned, other" in capsys.readouterr().out
    page = (tuned / "page.html").read_text()
    assert "other against tuned" in page and "phrasebeam report tuned other" in page and "tok:none" in page
    phrasebeam.tune("model", "dev.src", "dev.src", "third", config={"method": "pro", "iterations": 1, "nbest": 20})
    for others, message in (
        (["third"], "third: other development sentences"),
        (["model"], "model: no translations"),
        (["dev.src"], "dev.src: not the directory of a training run"),
    ):
        assert main(["report", "tuned", *others, "--output", "page.html"]) == 2
        assert message in capsys.readouterr().err


def test_kept_translations_are_those_of_the_weights(tuned):
    (work,) = find_training(tuned / "tuned").works
    lines = (tuned / "dev.src").read_text().splitlines()
    for run in work.runs:
        for number, texts in run.translations.items():
            decoder = phrasebeam.Decoder.load("model", weights=run.weights[number])
            assert [one.text for one in decoder.translate_all(lines)] == texts


def test_what_is_no_training_is_refused(tmp_path, capsys):
    assert main(["report", str(tmp_path), "--output", str(tmp_path / "page.html")]) == 2
    assert "not a training run" in capsys.readouterr().err
    (tmp_path / "tuning").mkdir()
    (tmp_path / "tuning" / "work.yaml").write_text("signature: 1\n")
    assert main(["report", str(tmp_path), "--output", str(tmp_path / "page.html")]) == 2
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("iteration,score\n1,a b\n", 2),
        ("iteration,score\n1,2,3\n", 2),
        ("score\n1\n", 2),
        ("", 2),
        (f"iteration,score\n1,{'a' * 10_000}\n", 2),
        ("iteration,score\n", 0),
        ("iteration,score\n1,nan\n2,1e999\n3\n4,5\n", 0),
    ],
)
def test_damaged_curves_are_told_in_a_line(tuned, capsys, text, status):
    (curve,) = tuned.rglob("curve.csv")
    curve.write_text(text)
    assert main(["report", "tuned", "--output", "page.html"]) == status
    errors = capsys.readouterr().err
    assert len(errors) < 400 and ("curve.csv:" in errors) == (status == 2)
