"""What is seen while a recipe runs: stages, scores, minutes, and how many are left."""

import re

import pytest
import yaml

from phrasebeam.base.config import parse_config
from phrasebeam.training.demo.demo_corpus import write_pairs
from phrasebeam.training.recipe import recipe_screen
from phrasebeam.training.recipe.chosen_search import OPTIMIZING
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe.recipe_screen import RecipeScreen, seconds_left
from phrasebeam.training.recipe.stages import BUILDING
from tests.console.screen import on_terminal

SENTENCES = {"training": 1000, "development": 100}
STAGES = [
    {"kind": "train-model"},
    {"kind": "tune", "settings": {"iterations": 5}},
    {"kind": "choose", "searches": [{}, {}, {}], "tuned": 2, "settings": {"iterations": 5}},
    {"kind": "train-maxforce", "settings": {"iterations": 3, "seeds": [1, 2], "tune": None}},
    {"kind": "train-expected-bleu", "settings": {"iterations": 40, "score_every": 8, "sentences": 500, "tune": None}},
    {"kind": "mbr", "sizes": [100, 200], "scales": [0.3, 1.0]},
]


def recipe(stages):
    return parse_config({"stages": stages}, Recipe, "recipe")


def test_how_many_sentences_are_decoded():
    tuning = OPTIMIZING * 5 * 100
    expected = [BUILDING * 1000, tuning, 300 + 2 * tuning, 2 * (3 * 1000 + 3 * 100), 500 + 5 * 100, 400]
    assert [stage.decodings(SENTENCES) for stage in recipe(STAGES).stages] == expected


def test_seconds_left():
    expected = {"a": 10.0, "b": 20.0, "c": 40.0}
    assert seconds_left(expected, {}, 5.0) is None
    assert seconds_left(expected, {"a": 5.0}, 0.0) == 30.0
    assert seconds_left(expected, {"a": 5.0}, 4.0) == 26.0
    assert seconds_left(expected, {"a": 5.0}, 400.0) == 20.0  # it takes longer than was expected
    assert seconds_left(expected, {"a": 5.0, "b": 40.0}, 0.0) == 60.0
    assert seconds_left(expected, {"a": 5.0, "b": 5.0, "c": 5.0}, 9.0) == 0.0


def test_lines(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(recipe_screen.time, "monotonic", lambda: now[0])
    screen = RecipeScreen(recipe(STAGES[:3]), SENTENCES)
    screen.begin()
    assert screen.lines()[1].split() == [">", "train-model", "0.0"]
    screen.finish("train-model", ("20.00", "40.00", "", ""), "train-model", 60.0)
    screen.begin()
    now[0] += 30
    # 500 decodings took 60 s: 1,000 take 120 s, 2,300 take 276 s, and 30 s are over.
    lines = screen.lines()
    assert len({*map(len, (*lines[:2], lines[2][: len(lines[0])]))}) == 1
    assert [line.split() for line in lines] == [
        ["stage", "BLEU", "chrF++", "test", "BLEU", "test", "chrF++", "minutes"],
        ["*", "train-model", "20.00", "40.00", "1.0"],
        [">", "tune", "0.5", "about", "6", "min", "left"],
        ["choose"],
    ]
    screen.finish("tune", ("21.00", "41.00", "19.50", "39.50"), "tune", 60.0)
    assert screen.lines()[2].split() == ["*", "tune", "21.00", "41.00", "19.50", "39.50", "1.0"]


@pytest.fixture
def command(tmp_path):
    """The command `train`, with a recipe of two stages."""
    for name, size, seed in (("train", 200, 1), ("dev", 20, 2)):
        write_pairs(tmp_path / name, size, seed, 0.1)
    stages = [{"kind": "train-model"}, {"kind": "tune", "settings": {"iterations": 1, "nbest": 10}}]
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump({"stages": stages}))
    files = [tmp_path / name for name in ("train.de", "train.en", "dev.de", "dev.en", "recipe.yaml", "out")]
    names = ["--source", "--target", "--dev-source", "--dev-reference", "--recipe", "--output"]
    return ["train", *(word for pair in zip(names, files) for word in pair)]


@pytest.mark.needs_jit
def test_ctrl_c_removes_the_stages_and_tells_how_to_go_on(command, tmp_path):
    screen = on_terminal(command, interrupt_at="> tune")
    assert screen.status == 130
    assert not [line for line in screen.lines if line.startswith(("*", ">", "  stage"))]
    told = "phrasebeam: interrupted; run the same command again to go on from the last checkpoint in"
    assert "".join(screen.lines).endswith(f"{told} {tmp_path / 'out' / 'recipe'}")


@pytest.mark.needs_jit
def test_on_a_terminal(command, tmp_path):
    screen = on_terminal(command)
    assert screen.status == 0
    # The stages stood above the bars, and are gone; what was done stays.
    assert "> train-model" in screen.raw
    assert "* train-model" in screen.raw
    assert "min left" in screen.raw
    left = "\n".join(screen.lines)
    assert "> train-model" not in left
    assert re.search(r"stage 2 of 2: tune, about \d+ min left", left)
    assert "train-model: kept, " in left
    assert f"{tmp_path / 'out'}: the model of " in left.replace("\n", "")
