"""A model of letters in a recipe: it learns from words of the first model; the next stage tunes its weights."""

import pytest

import phrasebeam
from phrasebeam.base.config import load_config
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.engine.parcel import pack, unpack
from phrasebeam.training.normalization.letter_model import LetterModelBuilder
from phrasebeam.training.recipe import letter_model
from tests.training.recipe.stages import BUILD, TEXTS, TUNE, content

pytestmark = pytest.mark.needs_jit

LETTERS = {"kind": "letter-model", "settings": {"similarity": 0.5, "fewest_pairs": 10}, "may_lose": 100}
STAGES = [{"kind": "train-model", "settings": BUILD}, LETTERS, {"kind": "tune", "settings": TUNE, "may_lose": 100}]
NEW = "der gartenx schläft ."  # its second word is in no training sentence


def trained(output, stages=STAGES, metric="bleu"):
    return phrasebeam.train(*TEXTS, output, recipe={"held_out": 0, "metric": metric, "stages": stages})


def test_it_is_stored_tuned_and_used(here):
    result = trained("out")
    assert list(result.stages) == ["train-model", "letter-model", "tune"]
    assert result.best == "tune"
    assert result.stages["letter-model"].deciding is not None
    weights = load_config(here / "out" / "weights.yaml", Weights)
    assert weights.spelled_words is not None and weights.spelling > 0
    assert phrasebeam.check_model("out") == []
    decoder = phrasebeam.Decoder.load("out")
    spelled = [one for one in decoder.nbest(NEW, 1000) if one.features["spelled_words"]]
    assert {phrase.source for one in spelled for phrase in one.phrases if phrase.target == "gardenx"} == {"gartenx"}
    sent = unpack(pack(decoder))
    assert [one.text for one in sent.nbest(NEW, 50)] == [one.text for one in decoder.nbest(NEW, 50)]


def test_without_enough_words_there_is_none(here, caplog):
    few = LETTERS | {"settings": {"fewest_pairs": 10_000}}
    with caplog.at_level("INFO"):
        trained("out", [STAGES[0], few, STAGES[2]])
    assert "words resemble their translations: too few for a model of letters" in caplog.text
    assert not (here / "out" / "letters" / "model.yaml").exists()
    assert load_config(here / "out" / "weights.yaml", Weights).spelled_words is None


@pytest.mark.parametrize("step", ["build", "put_in_place"])
def test_a_stopped_run_goes_on(here, monkeypatch, step):
    trained("whole")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LetterModelBuilder if step == "build" else letter_model, step, stop)
        with pytest.raises(KeyboardInterrupt):
            trained("out")
    trained("out")
    assert content(here / "out") == content(here / "whole")


@pytest.mark.parametrize("metric", ["bleu", "chrf++"])
def test_it_is_left_out_unless_it_gains(here, metric):
    result = trained("out", [STAGES[0], LETTERS | {"may_lose": 0}, STAGES[2]], metric)
    before, after = (result.stages[name].deciding.scores[metric] for name in ("train-model", "letter-model"))
    assert result.stages["letter-model"].is_kept == (after > before) == (metric == "chrf++")
    assert (here / "out" / "letters" / "model.yaml").exists() == (after > before)
    more = trained("out", [STAGES[0], LETTERS | {"may_lose": -10}, STAGES[2]], metric)  # it must gain 10 points
    assert not more.stages["letter-model"].is_kept


def test_a_model_in_its_place_has_none(here):
    trained("out")
    phrasebeam.train_model("train.de", "train.en", "out", config=BUILD, force=True)
    assert not (here / "out" / "letters" / "model.yaml").exists()
    assert phrasebeam.check_model("out") == []
    phrasebeam.Decoder.load("out")
