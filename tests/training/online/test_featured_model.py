"""The features that a training begins with are those of its model and of its settings."""

import shutil

import numpy as np
import pytest

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.sparse.sparse_files import open_feature_names, save_pair_features
from phrasebeam.decoder.sparse.sparse_weights import open_sparse_weights, used
from phrasebeam.decoder.sparse.templates import PAIR_SPARSE, Templates
from phrasebeam.lm.text.word_classes import write_paths
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import WORK
from phrasebeam.training.online.featured_model import FEATURES, with_features
from tests.decoder.models import random_toy
from tests.training.maxforce.maxforce_toy import QUICK, learn, learned_with, make_data


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small training, and what it learned, whose words have classes."""
    directory = tmp_path_factory.mktemp("featured")
    make_data(directory)
    write_classes(directory, 4)
    progress = learn(directory, directory / "learned", templates=templates_in(directory), iterations=4)
    assert progress.best > 0
    (directory / "best").write_text(repr(progress.best_score))
    return directory


def write_classes(directory, n):
    for side in ("source", "target"):
        words = sorted({*(directory.parent / directory / f"train.{side}").read_text().split()})
        write_paths(directory / f"{side}.paths", [(f"{i % n:02b}", word, 1) for i, word in enumerate(words)])


def templates_in(directory, **more):
    maps = {side: str(directory / f"{side}.paths") for side in ("source", "target")}
    levels = [{"kind": "word", "budget": 5}, {"kind": "classes", "budget": 2} | maps]
    return {"rule_id": True, "word_edges": {"most_words": 2}, "levels": levels} | more


def sparse_in(model):
    """Weights by key, of those that are not 0."""
    return dict(zip(*(array.tolist() for array in used(open_sparse_weights(model / "sparse")))))


LEVELS = [{"kind": "word", "budget": 5}, {"kind": "type", "budget": 1}]
TIMID = {"rates": {"rule_id": 1e-9, "word_edges": 1e-9, "rule_shape": 1e-3}, "iterations": 1}


@pytest.mark.parametrize(
    "templates",
    [
        templates_in,  # the model's own
        lambda directory: {"rule_id": True},
        lambda directory: {"rule_shape": True},  # which the model has not
        lambda directory: {"rule_shape": True, "source_deletion": True},  # of the model's classes
        lambda directory: templates_in(directory, rule_shape=True),
        lambda directory: None,
    ],
)
def test_what_a_model_has_learned_is_what_the_next_training_begins_with(data, tmp_path, templates):
    given = templates(data)
    progress = learned_with(data, tmp_path / "out", "learned", templates=given, **TIMID).progress[1]
    assert progress.iterations[0].score == float((data / "best").read_text())
    before, after = (sparse_in(place) for place in (data / "learned", tmp_path / "out"))
    assert before
    assert {key: after[key] for key in before} == pytest.approx(before, abs=1e-6)
    names = open_feature_names(tmp_path / "out")
    assert open_feature_names(data / "learned").items() <= names.items()
    model = open_model(tmp_path / "out")
    assert (model.templates.rule_id, model.templates.rule_shape) == (True, "rule_shape" in (given or {}))
    assert [level.kind for level in model.templates.levels] == ["word", "classes"]
    assert (tmp_path / "out" / WORK / FEATURES).exists() == ("rule_shape" in (given or {}))


def test_features_whose_keys_would_differ_are_refused(data, tmp_path):
    shutil.copytree(data, tmp_path / "other")
    write_classes(tmp_path / "other", 3)
    for given, message in (
        (templates_in(tmp_path / "other"), "levels of templates differ; expected the same"),
        (QUICK["templates"], "levels of templates differ"),
        (templates_in(data, word_edges={"most_words": 1}), "word_edges of templates differ"),
        (templates_in(tmp_path / "other", word_edges=None, source_deletion=True), "levels of tags or classes of temp"),
        ({"inserted_words": True, "word_lists": {"inserted": ["m"]}}, "word_lists.inserted of templates differ"),
    ):
        model = data / "learned"
        if "inserted_words" in given:
            model = tmp_path / "of-words"
            learned_with(data, model, templates={"inserted_words": True}, **TIMID)
        with pytest.raises(ConfigError, match=rf"{model.name}, settings: {message}.*templates: null"):
            learned_with(data, tmp_path / "out", model, templates=given)


def test_words_edges_and_deletions_have_levels_together(data, tmp_path):
    """What depends on classes alone goes with any levels that have the same classes, or none."""
    rates = {"rates": {"word_edges": 1e-3, "source_deletion": 1e-3}, "iterations": 1}
    learned_with(data, tmp_path / "first", templates={"source_deletion": True, "rule_id": True}, **rates)
    learned_with(data, tmp_path / "out", tmp_path / "first", templates=QUICK["templates"] | {"levels": LEVELS}, **rates)
    templates = open_model(tmp_path / "out").templates
    assert (templates.source_deletion, templates.rule_bigram) == (True, True)
    assert [level.kind for level in templates.levels] == ["word", "type"]
    of_classes = templates_in(data, source_deletion=True, rule_id=False, word_edges=None)
    with pytest.raises(ConfigError, match="levels of tags or classes of templates differ"):
        learned_with(data, tmp_path / "other", tmp_path / "out", templates=of_classes, **rates)


def test_default_templates_give_way_to_features_of_other_levels(data, tmp_path, caplog):
    model = open_model(data / "learned")
    with caplog.at_level("INFO"):
        opened = with_features(model, data / "learned", tmp_path, MaxforceConfig())
    assert "its own features are learned" in caplog.text
    assert opened.templates == model.templates
    assert [*tmp_path.iterdir()] == []


def test_features_of_single_pairs_stay(data, tmp_path):
    """Features that another toolkit's phrase table gave them."""
    shutil.copytree(data / "learned", tmp_path / "model")
    n_pairs = len(open_model(tmp_path / "model").tables.phrases.ln_scores)
    offsets, numbers = np.arange(n_pairs + 1), np.zeros(n_pairs, np.int64)
    save_pair_features(tmp_path / "model", ["known"], offsets, numbers, np.ones(n_pairs))
    accept_files(tmp_path / "model")
    learned_with(data, tmp_path / "out", tmp_path / "model", templates={"rule_shape": True}, **TIMID)
    sparse = open_model(tmp_path / "out").tables.sparse
    assert sparse.active[PAIR_SPARSE]
    assert sparse.pair_values.tolist() == [1.0] * n_pairs


def test_templates_that_were_changed_are_refused(tmp_path):
    directory, work = random_toy(tmp_path / "toy", 3).directory, tmp_path / "work"
    model, settings = open_model(directory), MaxforceConfig(templates=Templates(rule_id=True))
    for _ in range(2):  # written, and read again
        assert with_features(model, directory, work, settings).templates.rule_id
    path = work / FEATURES / "templates.yaml"
    path.write_text(path.read_text().replace("rule_shape: false", "rule_shape: true"))
    with pytest.raises(FormatError, match="not the templates of the settings; delete"):
        with_features(model, directory, work, settings)


def test_tokens_have_the_tags_that_the_model_needs(data, tmp_path):
    """Also where the templates of the settings have none."""
    for name in ("train", "dev"):
        for side in ("source", "target", "alignment"):
            text = (data / f"{name}.{side}").read_text()
            tagged = "".join(" ".join(f"{word}|T" for word in line.split()) + "\n" for line in text.splitlines())
            (tmp_path / f"{name}.{side}").write_text(tagged if side == "source" else text)
    levels = [{"kind": "word", "budget": 5}, {"kind": "tags", "budget": 1}]
    rates = {"rates": {"class_reordering": 1.0, "rule_id": 1e-3}, "iterations": 1}
    first = {"class_reordering": True, "levels": levels}
    learned_with(tmp_path, tmp_path / "first", data / "model", templates=first, **rates)
    learned_with(tmp_path, tmp_path / "out", tmp_path / "first", templates={"rule_id": True}, **rates)
    templates = open_model(tmp_path / "out").templates
    assert (templates.rule_id, templates.class_reordering) == (True, True)
