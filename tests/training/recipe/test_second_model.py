"""A second model of subwords in a recipe: of the same source tokens, stored with the first, used by the stage mbr."""

import pytest
import yaml

import phrasebeam
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.raw_text.preprocessing import RawText
from phrasebeam.engine.parcel import pack, unpack
from phrasebeam.training.recipe import second_model
from phrasebeam.training.recipe.stages import RiskStage
from tests.training.recipe.stages import BUILD, TEXTS, TUNE, content

pytestmark = pytest.mark.needs_jit

SECOND = {"kind": "second-model", "pieces": 80, "order": 3, "settings": TUNE}
RISK = {"kind": "mbr", "sizes": [20], "scales": [0.5], "gains": ["chrf++"], "evidence": [0.9], "may_lose": 100}
STAGES = [{"kind": "train-model", "settings": BUILD}, SECOND, RISK]
RAW = {"raw": True, "source_language": "de", "target_language": "en"}


def trained(output, **options):
    return phrasebeam.train(*TEXTS, output, recipe={"held_out": 0, "metric": "chrf++", "stages": STAGES}, **options)


@pytest.mark.parametrize("options", [{}, RAW], ids=["tokens", "raw text"])
def test_it_is_stored_and_used(here, options):
    result = trained("out", **options)
    assert (result.best, result.stages["second-model"].deciding) == ("mbr", None)
    first, second = here / "out", here / "out" / "evidence"
    words = [sorted((folder / "source.vocab").read_text().split()) for folder in (first, second)]
    assert words[0] == words[1]
    assert "▁the" in (second / "target.vocab").read_text().split()
    lines = (here / "dev.de").read_text().splitlines()[:10]
    texts = [RawText.load(folder).before for folder in (first, second)] if options else [str, str]
    assert [*map(texts[0], lines)] == [*map(texts[1], lines)]
    assert yaml.safe_load((first / "search.yaml").read_text())["mbr"]["evidence"] == 0.9
    assert phrasebeam.check_model("out") == []
    decoder = phrasebeam.Decoder.load("out")
    found = [decoder.translate_text(line) for line in lines]
    assert found == (here / "out/recipe/mbr.deciding").read_text().splitlines()[:10]
    sent = unpack(pack(decoder))  # to a worker on another machine, which has the files of arrays, but not the folders
    sent._directory = sent._second._directory = None
    assert [sent.translate_text(line) for line in lines] == found
    (first / "search.yaml").write_text("mbr: {size: 20, scale: 0.5, gain: chrf++}\n")
    alone = phrasebeam.Decoder.load("out")
    assert found != [alone.translate_text(line) for line in lines]


def test_a_stopped_run_goes_on(here, monkeypatch):
    trained("whole")
    built = []
    original = second_model.train_model

    def train_model(*arguments, **options):
        built.append(original(*arguments, **options))
        return built[-1]

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(second_model, "train_model", train_model)
    with monkeypatch.context() as patched:
        patched.setattr(second_model, "tune_model", stop)
        with pytest.raises(KeyboardInterrupt):
            trained("out")
    trained("out")
    assert len(built) == 1
    assert content(here / "out") == content(here / "whole")


def test_a_share_needs_the_gain_that_it_changes():
    assert RiskStage(kind="mbr", gains=["bleu", "chrf++"], evidence=[0.0, 0.5]).decodings({"development": 10}) == 90
    with pytest.raises(ConfigError, match=r"evidence needs chrf\+\+ among the gains"):
        RiskStage(kind="mbr", evidence=[0.0, 0.5])


def test_a_model_in_its_place_has_none(here):
    trained("out")
    phrasebeam.train_model("train.de", "train.en", "out", config=BUILD, force=True)
    assert not (here / "out" / "evidence" / "weights.yaml").exists()
    assert phrasebeam.check_model("out") == []
    phrasebeam.Decoder.load("out")
