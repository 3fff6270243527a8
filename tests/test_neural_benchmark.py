"""The texts and the table of the comparison with a neural system; nothing of PyTorch is needed for them."""

import json
import random
from dataclasses import asdict

import pytest

from benchmarks.neural import compare, texts
from benchmarks.neural.settings import Settings

WORDS = ["der", "hund", "schläft", "im", "garten", "und", "die", "katze", "sieht", "einen", "vogel", "auf", "dem"]


def sentences(n):
    chance = random.Random(1)
    return [" ".join(chance.choices(WORDS, k=8)) for _ in range(n)]


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data" / "multi30k"
    folder.mkdir(parents=True)
    for part, n in {"train": 30, "val": 4, "test_2016_flickr": 3}.items():
        for language in ("de", "en"):
            (folder / f"{part}.{language}").write_text("".join(f"{language} {one}\n" for one in sentences(n)))
    return tmp_path / "data"


@pytest.fixture
def run():
    return texts.Run("multi30k", 20, 500)


def test_both_systems_get_the_first_pairs_and_a_run_keeps_its_settings(tmp_path, data, run):
    texts.prepare(run, data, tmp_path / "run")
    found = {path.name: len(path.read_text().splitlines()) for path in (tmp_path / "run").glob("*.source")}
    assert found == {"train.source": 20, "dev.source": 4, "test.source": 3}
    assert (tmp_path / "run" / "test.target").read_text().startswith("en ")
    settings = tmp_path / "run" / "settings.json"
    assert json.loads(settings.read_text()) == asdict(Settings(500, "BLEU"))
    texts.prepare(run._replace(n_pairs=10, pieces=900), data, tmp_path / "run")
    assert json.loads(settings.read_text())["pieces"] == 500


def test_raw_text_is_divided_as_the_recipe_does(tmp_path):
    folder = tmp_path / "americasnlp"
    folder.mkdir()
    for part, n in {"train": 200, "dev": 5}.items():
        for language in ("es", "bzd"):
            lines = [*sentences(n)[:-1], ""] if part == "train" else sentences(n)
            (folder / f"bzd.{part}.{language}").write_text("".join(f"{one}\n" for one in lines))
    texts.prepare(texts.RUNS["bzd"], tmp_path, tmp_path / "run")
    learned, held_out = ((tmp_path / "run" / f"{part}.source").read_text().splitlines() for part in ("train", "dev"))
    assert (len(learned), len(held_out)) == (180, 19)
    assert all(learned)
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["score"] == "chrF++"


def test_systems_that_are_done_stand_beside_each_other(tmp_path, data, run):
    texts.prepare(run, data, tmp_path)
    assert list(compare.table_rows(run, tmp_path)) == []
    reference = (tmp_path / "test.target").read_text()
    numbers = {"processor seconds": 9, "seconds of the test set": 0.5, "peak MB": 100}
    for name, text in {"neural": reference.replace("hund", "vogel"), "quick": reference}.items():
        (tmp_path / f"{name}.test").write_text(text)
        (tmp_path / f"{name}.json").write_text(json.dumps(numbers))
    neural, quick = compare.table_rows(run, tmp_path)
    assert [neural["system"], neural["p"]] == ["Transformer", ""]
    assert [quick[name] for name in ("corpus", "pairs", "system", "BLEU")] == ["multi30k", 20, "quick", "100.00"]
    assert 0 < float(quick["p"]) <= 1
    assert [quick[name] for name in ("training s", "test s", "MB")] == [9, 0.5, 100]


def test_the_plot_has_a_line_for_each_system(tmp_path):
    matplotlib = pytest.importorskip("matplotlib.figure")
    rows = [
        {"corpus": "ted", "pairs": n, "system": system, "chrF++": "40.00", "training s": n // 10}
        for system in ("Transformer", "quick")
        for n in (5_000, 10_000)
    ]
    figure = matplotlib.Figure()
    compare.draw(figure, rows)
    by_pairs, by_seconds = figure.axes
    assert [line.get_label() for line in by_pairs.lines] == ["ted, Transformer", "ted, quick"]
    assert list(by_seconds.lines[1].get_xdata()) == [500, 1_000]
