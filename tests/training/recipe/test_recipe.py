"""Recipes: what they may say, and those that come with phrasebeam."""

import pytest
import yaml

from phrasebeam.api.config import CONFIGS
from phrasebeam.base.config import load_config, parse_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.recipe.chosen_search import as_carried
from phrasebeam.training.recipe.recipe import Recipe, recipe_file
from phrasebeam.training.recipe.stage import with_seeds
from phrasebeam.training.tuning.carried_search import with_inner_search
from phrasebeam.training.tuning.config import TuneConfig
from tests import ROOT

BUILD, TUNE = {"kind": "train-model"}, {"kind": "tune"}


@pytest.mark.parametrize("name", ["quick", "standard", "best", "small"])
def test_our_recipes(name):
    recipe = load_config(recipe_file(name, CONFIGS), Recipe)
    kinds = [stage.kind for stage in recipe.stages]
    assert kinds[0] == "train-model" and {"choose", "tune"} & {*kinds}
    assert len({stage.label for stage in recipe.stages}) == len(recipe.stages)


def test_a_file_of_a_recipe_is_itself(tmp_path):
    assert recipe_file("mine.yaml", ROOT / "configs").name == "mine.yaml"


@pytest.mark.parametrize(
    ("stages", "complaint"),
    [
        ([], "stages: List should have at least 1 item"),
        ([TUNE], "train-model should be the first stage"),
        ([BUILD, BUILD], "two stages are called train-model; give one of them another name"),
        (
            [BUILD, TUNE, BUILD | {"name": "again", "start": "tune"}],
            "again starts with tune; train-model starts only from the",
        ),
        (
            [BUILD, {"kind": "mbr", "gains": ["chrf++"], "evidence": [0.5]}],
            "the stage mbr has evidence, expected a stage of kind second-model before it",
        ),
        ([BUILD, TUNE | {"start": "tuned"}], "the stage tune names tuned, expected a stage before it"),
        ([BUILD, {"kind": "join-features"}], "stages.1.join-features.features: Field required"),
        (
            [BUILD, {"kind": "join-features", "features": "x"}],
            "the stage join-features names x, expected a stage before",
        ),
        ([BUILD, TUNE | {"settings": {"nbst": 3}}], "stages.1.tune.settings.nbst: unknown key; did you mean nbest?"),
        ([BUILD | {"setings": {}}], "stages.0.train-model.setings: unknown key; did you mean settings?"),
        (
            [BUILD | {"x": 1}],
            "stages.0.train-model.x: unknown key; known keys: name, start, kind, may_lose, settings, word_classes, ",
        ),
        (
            [BUILD | {"settings": {"more_alignments": [{"sed": 2}]}}],
            "settings.more_alignments.0.sed: unknown key; did you mean seed?",
        ),
        (
            [BUILD, {"kind": "guess"}],
            "stages.1: Input tag 'guess' found using 'kind' does not match any of the expected",
        ),
        ([BUILD, {"kind": "mbr", "scales": []}], "stages.1.mbr.scales: List should have at least 1 item"),
        ([BUILD | {"name": "../x"}], "stages.0.train-model.name"),
    ],
)
def test_mistakes_are_one_line(stages, complaint):
    with pytest.raises(ConfigError) as error:
        parse_config({"stages": stages}, Recipe, "mine.yaml")
    assert str(error.value).startswith("mine.yaml: ")
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_threads_and_memory_are_those_of_all_trainers():
    stages = [BUILD, TUNE, {"kind": "train-maxforce"}, {"kind": "mbr"}]
    bounded = parse_config({"stages": stages}, Recipe, "mine").within({"threads": 7, "memory": 2**30})
    found = [stage.settings for stage in bounded.stages if stage.kind != "mbr"]
    assert [(one.threads, one.memory) for one in found] == [(7, 2**30)] * 3


def test_stages_that_a_stage_names():
    text = (
        "stages: [{kind: train-model}, {kind: tune, name: a}, {kind: join-features, start: a, features: train-model}]"
    )
    recipe = parse_config(yaml.safe_load(text), Recipe, "mine")
    assert [(stage.start, stage.others) for stage in recipe.stages] == [(None, []), (None, []), ("a", ["train-model"])]


def test_seeds_at_any_depth():
    recipe = load_config(recipe_file("best", CONFIGS), Recipe)
    more = {"stages": [*recipe.model_dump()["stages"], {"kind": "train-maxforce", "start": "choose"}]}
    recipe = parse_config(more, Recipe, "mine")
    assert with_seeds(recipe, 0) == recipe
    other = {stage.label: stage.settings for stage in with_seeds(recipe, 2).stages if hasattr(stage, "settings")}
    own = {stage.label: stage.settings for stage in recipe.stages if hasattr(stage, "settings")}
    assert other["train-model"].alignment.seed == 3
    assert [one.seed for one in other["aligned-thrice"].more_alignments] == [4, 3]  # of fast_align, without effect
    assert other["train-maxforce"].seeds == [seed + 2 for seed in own["train-maxforce"].seeds]
    assert other["first"].seeds == [3] and other["first"].iterations == own["first"].iterations
    assert other["train-expected-bleu"].tune.seeds == [3]


@pytest.mark.parametrize("kind", [ExpectedBleuConfig, MaxforceConfig])
@pytest.mark.parametrize("more", [0, 1])
def test_trainers_tune_with_the_search_of_the_model(tmp_path, kind, more):
    save_config(ModelSearch(search=SearchSettings(distortion_limit=14)), tmp_path / SEARCH)
    settings = as_carried(with_seeds(kind(), more), tmp_path)
    assert settings.tune.search.distortion_limit == settings.search.distortion_limit == 14
    assert settings.tune.seeds == [1 + more]
    own = kind().tune.model_copy(update={"iterations": 2})
    assert as_carried(kind(tune=own), tmp_path).tune == own


@pytest.mark.parametrize("kind", [ExpectedBleuConfig, MaxforceConfig])
def test_tuning_within_a_trainer_searches_as_the_model_where_it_names_no_search(kind, tmp_path):
    save_config(ModelSearch(search=SearchSettings(algorithm="cube", distortion_limit=9)), tmp_path / SEARCH)
    given = kind(tune=TuneConfig(method="mert"))
    found = with_inner_search(given, tmp_path)
    assert (found.tune.search.algorithm, found.tune.search.distortion_limit, found.tune.method) == ("cube", 9, "mert")
    assert with_inner_search(found, tmp_path / "elsewhere") == found
    fixed = kind(tune=None)
    assert with_inner_search(fixed, tmp_path) == fixed
