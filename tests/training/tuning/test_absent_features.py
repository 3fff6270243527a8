"""Weights of features that a model does not have are not written by what tunes it."""

import pytest
import yaml

from phrasebeam.cli import main
from tests.decoder.models import random_toy

LINES = ["a b c", "b d a a", "c b", "a b d"] * 2
SETTINGS = {"nbest": 10, "iterations": 2, "mert": {"restarts": 1, "directions": 1}}


@pytest.mark.parametrize("method", ["mert", "online"])
def test_a_model_without_reordering_gets_no_weights_of_it(tmp_path, method):
    model = random_toy(tmp_path / "model", 7, most=3, reordering=None).directory
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in LINES))
    (tmp_path / "reference").write_text("s t\n" * len(LINES))
    (tmp_path / "config").write_text(yaml.safe_dump(SETTINGS))
    files = [part for name in ("source", "reference", "config") for part in (f"--{name}", str(tmp_path / name))]
    given = ["--model", str(model), *files, "--method", method, "--output", str(tmp_path / "out")]
    assert main(["tune", *given]) == 0
    before, tuned = (yaml.safe_load((one / "weights.yaml").read_text()) for one in (model, tmp_path / "out"))
    assert (before["reordering"], tuned["reordering"]) == ([], [])
