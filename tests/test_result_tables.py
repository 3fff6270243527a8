"""The tables in the pages of measurements are those that the files of results give, and how they are made."""

import re

import pytest

from benchmarks import tables
from tests import ROOT


def test_pages_show_the_results():
    for page in tables.pages():
        for table in tables.tables_of(page):
            assert table.shown == table.made, f"{page}:{table.line + 1}: run python -m benchmarks.tables --write"


def test_every_file_of_results_is_shown():
    shown = set()
    for page in tables.pages():
        for request in re.findall(r"^<!-- table (\S+)", page.read_text(encoding="utf-8"), re.M):
            shown.add((page.parent / request).resolve())
    files = [*(ROOT / "benchmarks" / "results").glob("*.csv"), *(ROOT / "docs/experiments/results").glob("*.csv")]
    assert set(files) == shown


def test_links_of_the_pages_lead_somewhere():
    for page in tables.pages():
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.fixture
def folder(tmp_path):
    text = "set,method,seed,BLEU,words\na,x,1,10.05,1234\na,x,2,10.06,1236\na,y,1,9.00,1000\nb,x,1,1.00,1\n"
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_chosen_rows_and_columns(folder):
    assert tables.made(folder, "r.csv set=a method=y") == [
        "| seed | BLEU | words |",
        "| ---: | ---: | ----: |",
        "|    1 | 9.00 | 1,000 |",
    ]
    assert tables.made(folder, "r.csv set=a|b seed=1 columns=set|method")[2:] == [
        "| a   | y      |" if row == "y" else f"| {row}   | x      |" for row in ("a", "y", "b")
    ]


def test_means_round_halves_up(folder):
    assert tables.made(folder, "r.csv set=a columns=method|seed|BLEU|words mean_over=seed")[2:] == [
        "| x      |     2 | 10.06 (0.01) | 1,235 (1) |",
        "| y      |     1 |         9.00 |     1,000 |",
    ]


def test_a_mean_is_not_of_several_experiments(folder):
    with pytest.raises(ValueError, match="the mean of a has rows with the same seed: 1, 1, 2"):
        tables.made(folder, "r.csv set=a columns=set|seed|BLEU mean_over=seed")


def test_a_request_without_rows_is_an_error(folder):
    with pytest.raises(ValueError, match="no rows"):
        tables.made(folder, "r.csv set=c")
