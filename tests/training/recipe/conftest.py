"""A directory with a corpus and a recipe."""

import pytest
import yaml

from phrasebeam.training.demo.demo_corpus import write_pairs
from tests.training.recipe.stages import STAGES


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with a corpus and recipe.yaml, of all kinds of stages; the working directory."""
    for name, size, seed in (("train", 400, 1), ("dev", 30, 2), ("test", 10, 3)):
        write_pairs(tmp_path / name, size, seed, 0.1)
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump({"held_out": 0.34, "stages": STAGES}))
    monkeypatch.chdir(tmp_path)
    return tmp_path
