"""What is made of the declarations of features: settings, the files in configs/, and values."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from phrasebeam.base.config import load_config
from phrasebeam.decoder.features.dense import weight_vector
from phrasebeam.decoder.features.dense_feature import names_of
from phrasebeam.decoder.features.pair import PAIR_FEATURES
from phrasebeam.decoder.features.registry import ADDED_BY_TUNE, FEATURES, OPTIONAL, SCALES
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS, SparseGroup, Templates
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.maxforce.config import LearningRates
from phrasebeam.training.tuning.config import AddedFeatures
from tests.decoder.models import random_toy
from tests.decoder.search.test_search import flat

ROOT = Path(__file__).resolve().parents[3]


def settings_in(name):
    return yaml.safe_load((ROOT / "configs" / name).read_text(encoding="utf-8"))


def test_settings_name_the_features():
    rates = dict.fromkeys(feature.rate_name or feature.name for feature in FEATURES)
    assert list(Weights.model_fields) == list(names_of(FEATURES))
    assert list(LearningRates.model_fields) == list(rates)
    assert set(AddedFeatures.model_fields) == {*names_of(ADDED_BY_TUNE), "length_groups"}
    assert all(getattr(Weights(), name) is None for name in names_of(OPTIONAL))
    assert list(Weights().model_dump()) == Weights.required()
    assert [feature.name for feature in SCALES] == [group.name for group in SPARSE_GROUPS]


def test_files_with_settings_name_the_features():
    assert list(settings_in("default.yaml")["weights"]) == Weights.required()
    assert settings_in("tune.yaml")["add"] == AddedFeatures().model_dump()
    templates = Templates.model_validate(settings_in("yu2013-maxforce.yaml")["templates"])
    assert templates.word_edges is not None
    text = (ROOT / "configs" / "yu2013-maxforce.yaml").read_text(encoding="utf-8")
    assert all(f"{group.name}: true" in text for group in SPARSE_GROUPS if group.is_switch)


@pytest.mark.kernels
@pytest.mark.parametrize("feature", PAIR_FEATURES, ids=names_of(PAIR_FEATURES))
def test_features_of_pairs_have_values(feature, tmp_path):
    """A feature that is declared and has no kernel is found by the search: its value is NaN."""
    toy = random_toy(tmp_path / "toy", 5)
    counts = toy.directory / "phrases" / "joint_counts.npy"
    np.save(counts, 1 + np.arange(np.load(counts).size, dtype=np.int32) % 2)
    added = AddedFeatures(**{feature.name: True}).added_to(load_config(toy.directory / "weights.yaml", Weights))
    decoder = Decoder.load(toy.directory, weights=added.model_copy(update={feature.name: 0.5}))
    found = [one for line in toy.table for one in decoder.nbest(line, 50)]
    values = [one.features[feature.name] for one in found]
    assert np.isfinite(values).all()
    assert any(values)
    weights = weight_vector(decoder.dense_weights, decoder.features)
    assert [flat(one.features) @ weights for one in found] == pytest.approx([one.score for one in found], abs=1e-4)


def test_groups_are_declared_once():
    names = [group.name for group in SPARSE_GROUPS]
    assert len({*names}) == len(names)
    assert {group.scope for group in SPARSE_GROUPS} <= {"pair", "rule", "orientation", "history"}
    assert all(isinstance(group, SparseGroup) and group.description for group in SPARSE_GROUPS)
