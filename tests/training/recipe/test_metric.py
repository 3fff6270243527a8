"""`train --metric`: what stages optimize, by what they are kept, and what is shown of it."""

import pytest
import yaml

import phrasebeam
from phrasebeam.cli import main
from phrasebeam.training.recipe.recipe import Recipe
from tests.training.recipe.stages import STAGES, TEXTS, TUNE

FILES = "--source train.de --target train.en --dev-source dev.de --dev-reference dev.en --output out --recipe few.yaml"


def test_stages_optimize_the_metric_unless_they_name_another():
    stages = [*STAGES[:2], {"kind": "tune", "name": "own", "settings": TUNE | {"metric": "ter"}}, *STAGES[2:]]
    recipe = Recipe.model_validate({"stages": stages, "metric": "cer"}).by_metric()
    found = {one.label: getattr(one, "metric", None) or getattr(one.settings, "metric", "") for one in recipe.stages}
    assert found.pop("train-model") == "" and found.pop("own") == "ter"
    assert {*found.values()} == {"cer"}
    assert Recipe.model_validate({"stages": stages}).by_metric() == Recipe.model_validate({"stages": stages})


@pytest.mark.needs_jit
def test_stages_are_kept_by_the_metric(here, capsys):
    choose = {"kind": "choose", "searches": [{}, {"distortion_limit": 0}], "tuned": 2, "settings": TUNE}
    stages = [STAGES[0], {"kind": "tune", "settings": TUNE}, choose, {"kind": "mbr", "sizes": [10], "scales": [1.0]}]
    (here / "few.yaml").write_text(yaml.safe_dump({"stages": stages}))
    test = ["--test-source", "test.de", "--test-reference", "test.en"]
    assert main(["train", *FILES.split(), "--metric", "cer", *test]) == 0
    said = capsys.readouterr()
    columns = ["stage", "CER", "BLEU", "chrF++", "test", "CER", "test", "BLEU", "test", "chrF++", "minutes"]
    assert said.out.splitlines()[0].split() == columns
    assert "train-model: kept, cer " in said.err
    result = phrasebeam.train(
        *TEXTS, "out", recipe="few.yaml", metric="cer", test_source="test.de", test_reference="test.en"
    )
    scores = {name: record.deciding.scores["cer"] for name, record in result.stages.items()}
    assert scores[result.best] == min(scores.values())
    assert [line.split("|")[0] for line in result.signatures(["cer", "chrf++"])] == ["CER", "chrF2++"]
    assert result.gain.metric == "cer" and result.gain.best == scores[result.best]
    tried = yaml.safe_load((here / "out/recipe/stages/choose.tried/tried.yaml").read_text())
    assert all(score <= 0 for score in tried["tuned"].values())
    report = (here / "out/recipe/report.md").read_text()
    assert "| stage | from | CER | BLEU | chrF++ | TER | WER | accuracy | minutes | peak |" in report
    assert "| test set | CER | BLEU | chrF++ | TER | WER | accuracy |" in report
    assert f"{scores[result.best]:.2f} ±" in report and "CER decides which stages are kept" in report
