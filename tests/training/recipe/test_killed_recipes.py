"""Recipes that are killed and run again make what undisturbed ones make."""

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml

import phrasebeam
from phrasebeam.training.recipe import recipe_run, stages
from tests import ROOT
from tests.training.maxforce.maxforce_toy import Killed
from tests.training.recipe.stages import MAXFORCE, STAGES, TEXTS, TUNE, content

pytestmark = pytest.mark.needs_jit


def test_killed_and_begun_again(here):
    """Killed in the middle of each stage, each time begun again: the same model as without."""
    recipe = {
        "held_out": 0.34,
        "stages": [STAGES[0], STAGES[1] | {"settings": {"iterations": 4, "nbest": 50}}, MAXFORCE],
    }
    (here / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    phrasebeam.train(*TEXTS, "undisturbed", recipe="recipe.yaml")
    for stage in ("train-model", "tune", "train-maxforce"):
        kill_in(stage, here)
    phrasebeam.train(*TEXTS, "out", recipe="recipe.yaml")
    assert content(here / "out") == content(here / "undisturbed")


def kill_in(stage, here):
    """Run the recipe, and kill it soon after that stage has begun."""
    code = f"import phrasebeam; phrasebeam.train(*{TEXTS!r}, 'out', recipe='recipe.yaml')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], cwd=here, env=environment, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        record = f"{stage}:"
        path = here / "out/recipe/run.yaml"
        while process.poll() is None and not (path.exists() and record in path.read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("name", ["run", "clear_stage"])
def test_killed_before_the_work_of_other_settings_is_deleted(here, monkeypatch, name):
    """Or after that: the same recipe is made, as if there had been no other."""
    tunings = (STAGES[1] | {"settings": TUNE | {"nbest": nbest}} for nbest in (10, 5))
    recipe, other = ({"held_out": 0.34, "stages": [STAGES[0], tuning]} for tuning in tunings)
    phrasebeam.train(*TEXTS, "undisturbed", recipe=other)
    phrasebeam.train(*TEXTS, "out", recipe=recipe)

    def die(*_, **__):
        raise Killed

    with monkeypatch.context() as patched:
        if name == "clear_stage":
            patched.setattr(recipe_run, name, die)
        else:
            patched.setattr(stages.TuneStage, name, die)
        with pytest.raises(Killed):
            phrasebeam.train(*TEXTS, "out", recipe=other)
    phrasebeam.train(*TEXTS, "out", recipe=other)
    assert content(here / "out") == content(here / "undisturbed")


def test_killed_before_it_is_recorded_that_a_model_is_done(here):
    recipe = {"held_out": 0.34, "stages": STAGES[:1]}
    phrasebeam.train(*TEXTS, "out", recipe=recipe)
    first, record = content(here / "out"), here / "out/recipe/run.yaml"
    record.write_text(record.read_text().replace("is_done: true", "is_done: false"))
    phrasebeam.train(*TEXTS, "out", recipe=recipe)
    assert content(here / "out") == first
    (here / "out/recipe/stages/tune/tuning").mkdir(parents=True)  # killed before the work of a stage had a file
    phrasebeam.train(*TEXTS, "out", recipe={"held_out": 0.34, "stages": STAGES[:2]})
    assert phrasebeam.check_model(here / "out/recipe/stages/tune") == []
