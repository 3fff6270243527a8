"""Target lines of another spelling: found where letters differ on one side alone, and left out of a recipe."""

import random

import numpy as np
import pytest
import yaml

import phrasebeam
from phrasebeam.training.demo.demo_corpus import write_pairs
from phrasebeam.training.recipe_texts import varieties
from phrasebeam.training.recipe_texts.varieties import LetterPairs, divergence, written_otherwise
from tests.training.recipe.stages import STAGES

SPELLING = str.maketrans({"k": "qu", "s": "ç", "e": "é", "w": "hu", "a": "ā", "o": "ø"})


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    place = tmp_path_factory.mktemp("texts") / "text"
    write_pairs(place, 600, 1, 0.0)
    return [place.with_name(f"text.{side}").read_text().splitlines() for side in ("de", "en")]


@pytest.mark.parametrize("share", [0.2, 0.45, 0.7])
def test_the_smaller_spelling_is_found(texts, share, monkeypatch):
    source, target = texts
    rng = random.Random(1)
    is_other = np.array([rng.random() < share for _ in target])
    mixed = [line.translate(SPELLING) if other else line for line, other in zip(target, is_other)]
    expected = is_other if share < 0.5 else ~is_other
    assert (written_otherwise(source, mixed) == expected).mean() > 0.98
    monkeypatch.setattr(varieties, "FITTED", 150)  # every fourth line decides
    monkeypatch.setattr(varieties, "BATCH", 7)
    assert (written_otherwise(source, mixed) == expected).mean() > 0.98


def test_three_spellings(texts):
    source, target = texts
    other = str.maketrans("abdeghiklmnoprstuvwy", "ыбдегхиклмнопрстувшя")
    changes = [{}] * 5 + [SPELLING] * 2 + [other]
    mixed = [line.translate(changes[i % 8]) for i, line in enumerate(target)]
    found = written_otherwise(source, mixed)
    assert np.mean(found == [bool(changes[i % 8]) for i in range(len(target))]) > 0.98


def test_one_spelling_and_two_languages_on_both_sides(texts):
    source, target = texts
    assert not written_otherwise(source, target).any()
    assert not written_otherwise([*source, *target], [*target, *source]).any()
    for few in ([], ["a b"], [""] * 200, ["a"] * 200, ["", "a"] * 100, ["a", "b"] * 100):
        assert not written_otherwise(few, few).any()


def test_letter_pairs():
    pairs = LetterPairs(["Ab a", "", "b"])
    names = [chr(code >> 21) + chr(code & 0x1FFFFF) for code in pairs.codes]
    assert sorted(names) == sorted({" a", "ab", "b ", "a ", " b"})
    counted = [dict(zip(names, row)) for row in pairs.counts(["ab  AB", "x", "c a"]).tolist()]
    assert counted[0] == {" a": 2, "ab": 2, "b ": 2, "a ": 0, " b": 0}
    assert sum(counted[1].values()) == 0
    assert counted[2] == {" a": 1, "ab": 0, "b ": 0, "a ": 1, " b": 0}


def test_divergence():
    lines = ["a", "a", "b", "b"]
    assert divergence(lines, np.array([True, True, False, False])) == pytest.approx(1.0)
    assert divergence(lines, np.array([True, False, True, False])) == pytest.approx(0.0)
    # Two pairs with a half each, and these with a fifth each, as have three others.
    expected = (2 * 0.5 * np.log2(0.5 / 0.35) + 2 * 0.2 * np.log2(0.2 / 0.35) + 3 * 0.2 * np.log2(2)) / 2
    assert divergence(["a", "a bb"], np.array([True, False])) == pytest.approx(expected)


@pytest.mark.needs_jit
def test_a_recipe_of_the_largest(here):
    lines = (here / "train.en").read_text().splitlines()
    other = [line.translate(SPELLING) if i % 3 == 0 else line for i, line in enumerate(lines)]
    (here / "train.en").write_text("".join(f"{line}\n" for line in other))
    (here / "few.yaml").write_text(yaml.safe_dump({"varieties": "largest", "stages": STAGES[:1]}))
    texts = "train.de", "train.en", "dev.de", "dev.en"
    result = phrasebeam.train(*texts, "out", recipe="few.yaml")
    assert result.sentences["training"] == pytest.approx(400 - 134, abs=3)
    (note,) = result.cleaning
    assert "of 400 training pairs are left out: their target has another spelling than most" in note
    assert note in (here / "out/recipe/report.md").read_text()
