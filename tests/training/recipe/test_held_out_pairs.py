"""Training pairs that are held out: the newest of usable length; a recipe that tunes on them and builds of all."""

import numpy as np
import pytest

import phrasebeam
from phrasebeam.base.errors import ConfigError
from phrasebeam.cli import main
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.recipe.recipe import Recipe
from phrasebeam.training.recipe_texts.held_out_pairs import hold_out, newest_pairs, newness
from tests.training.recipe.stages import MAXFORCE, STAGES, TUNE, content

SMALL = {
    "dev_sentences": 30,
    "metric": "chrf++",
    "stages": [
        STAGES[0],
        {"kind": "tune", "settings": TUNE},
        {"kind": "mbr", "sizes": [10], "scales": [0.5], "gains": ["chrf++"]},
        {"kind": "refit"},
    ],
}
SPARSE = TUNE | {"method": "online", "online": {"templates": {"rule_id": True}}}
FILES = "--source train.de --target train.en --output out"


def naive_newness(sentences):
    """The share of word pairs that no other sentence has, one by one."""
    pairs = [[words[i : i + 2] for i in range(len(words) - 1)] for words in sentences]
    found = []
    for i, ours in enumerate(pairs):
        others = [pair for j, theirs in enumerate(pairs) if j != i for pair in theirs]
        found.append(sum(pair not in others for pair in ours) / max(1, len(ours)))
    return found


def test_newness():
    sentences = [line.split() for line in ("a b c", "a b", "b c a", "", "x", "d e d e", "a b c")]
    assert newness(sentences).tolist() == pytest.approx(naive_newness(sentences))


def test_the_newest_of_usable_length_are_held_out():
    rng = np.random.default_rng(1)
    known = [" ".join(f"w{i % 7}" for i in range(k, k + 8)) for k in rng.integers(0, 5, 200)]
    new = [" ".join(f"n{k}x{i}" for i in range(8)) for k in range(12)]
    short, long = ["so new"] * 20, [" ".join(f"l{i}" for i in range(50))] * 20
    source = [*known, *new, *short, *long]
    target = [line.upper() for line in source]
    target[-41] = "only"  # its translation is too short, that of the last new one
    chosen = newest_pairs(source, target[:211] + ["only"] + target[212:], 12)
    assert chosen[200:211].all() and chosen.sum() == 12 and not chosen[211:].any()
    with pytest.raises(ConfigError, match=r"the training data: 8 of 40 pairs can be held out to tune on, expected 10"):
        newest_pairs(known[:40], known[:40], 8)
    with pytest.raises(ConfigError, match="0 of 20 pairs"):
        newest_pairs(short, short, 500)


def test_the_files_are_the_two_parts_of_the_training_data(here):
    files = BitextFiles(here / "train.de", [here / "train.en"])
    learned, held_out = hold_out(files, 10, 30, here / "parts")
    pairs, whole = [], list(zip((here / "train.de").open(), (here / "train.en").open()))
    for part, size in ((learned, 370), (held_out, 30)):
        lines = [path.read_text().splitlines(keepends=True) for path in part.parallel]
        assert [len(one) for one in lines] == [size, size]
        pairs += zip(*lines)
    assert sorted(pairs) == sorted(whole)


@pytest.mark.parametrize(
    ("stages", "complaint"),
    [
        ([STAGES[0], {"kind": "refit"}, {"kind": "mbr"}], "refit should be the last stage"),
        ([STAGES[0], MAXFORCE | {"start": None}, {"kind": "refit"}], "without the result of train-maxforce"),
        ([STAGES[0], {"kind": "tune", "settings": SPARSE}, {"kind": "refit"}], "without the result of tune"),
    ],
)
def test_where_refit_may_stand(stages, complaint):
    with pytest.raises(ValueError, match=complaint):
        Recipe.model_validate({"stages": stages})


def test_refit_comes_and_goes_with_pairs_that_are_held_out():
    def kinds(stages, is_held_out):
        return [one.kind for one in Recipe.model_validate({"stages": stages}).refitting(is_held_out).stages]

    assert kinds(STAGES[:2], True) == ["train-model", "tune", "refit"]
    assert kinds([*STAGES[:2], {"kind": "refit"}], False) == ["train-model", "tune"]
    sparse = [STAGES[0], {"kind": "tune", "settings": SPARSE}]
    assert kinds(sparse, True) == ["train-model", "tune"]
    assert kinds(STAGES, True) == kinds(STAGES, False) == [stage["kind"] for stage in STAGES]  # they learn more


@pytest.mark.needs_jit
def test_a_recipe_without_development_data(here, capsys):
    test = {"test_source": "test.de", "test_reference": "test.en"}
    result = phrasebeam.train("train.de", "train.en", None, None, "out", recipe=SMALL, dev_folds=10, **test)
    assert list(result.stages) == ["train-model", "tune", "mbr", "refit"] and result.best == "refit"
    assert result.sentences == {"training": 400, "development": 30, "test": 10}
    assert result.stages["refit"].deciding is None and result.stages["refit"].test
    scores = [result.stages[name].deciding.scores["chrf++"] for name in ("train-model", result.decided)]
    assert [result.gain.before, result.gain.best] == scores and result.gain.metric == "chrf++"
    whole = phrasebeam.train_model("train.de", "train.en", "whole", config=STAGES[0]["settings"])
    assert whole
    ours, theirs = content(here / "out"), content(here / "whole")
    assert all(ours[name] == data for name, data in theirs.items() if name != "weights.yaml")
    decided = content(here / "out/recipe/stages" / result.decided)
    assert [ours[name] for name in ("weights.yaml", "search.yaml")] == [
        decided[name] for name in ("weights.yaml", "search.yaml")
    ]
    assert phrasebeam.check_model("out") == []
    assert "the held-out training pairs, which are" in (here / "out/recipe/report.md").read_text()
    before = {path: path.stat().st_mtime_ns for path in here.glob("out/recipe/stages/*/model.yaml")}
    again = phrasebeam.train("train.de", "train.en", None, None, "out", recipe=SMALL, dev_folds=10, **test)
    assert again.stages == result.stages
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.needs_jit
def test_without_folds_and_without_development_data(here, capsys):
    (here / "small.yaml").write_text(f"stages: {STAGES[:2]}\n")
    assert main(["train", *FILES.split(), "--recipe", "small.yaml"]) == 2
    *_, line = capsys.readouterr().err.splitlines()  # others may tell that kernels are compiled
    assert "no development data; give --dev-source and --dev-reference, or --dev-folds" in line
    assert main(["train", *FILES.split(), "--recipe", "small.yaml", "--dev-source", "dev.de"]) == 2
    assert "--dev-reference" in capsys.readouterr().err
