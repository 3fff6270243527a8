"""The command join-features: a model with the sparse features of another scores as both say, and can be tuned."""

import shutil

import numpy as np
import pytest
import yaml

from phrasebeam.base.config import load_config, parse_config
from phrasebeam.cli import main
from phrasebeam.decoder.model.description import ModelDescription, accept_files
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_files import save_pair_features
from phrasebeam.decoder.sparse.sparse_weights import open_sparse_weights, used
from phrasebeam.decoder.sparse.templates import GROUPS
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.lm.text.word_classes import write_paths
from tests.decoder.models import assert_sound
from tests.training.maxforce.maxforce_toy import QUICK, learn, make_data, options

LINES = ["a k c k", "b k", "d k a k b k"]


def edited(model, output, file, change):
    """A copy of a model with another file of YAML."""
    shutil.copytree(model, output)
    settings = yaml.safe_load((output / file).read_text())
    (output / file).write_text(yaml.safe_dump(settings | change, sort_keys=False))
    accept_files(output)
    return output


LISTS = {"nbest": 10, "iterations": 1, "features": ["a"], "tune": None, "lm_folds": 0}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What the perceptron and expected BLEU learned, each beginning with the same model."""
    directory = tmp_path_factory.mktemp("joined")
    make_data(directory)
    maps = {}
    for side in ("source", "target"):
        words = sorted({*(directory / f"train.{side}").read_text().split()})
        maps[side] = str(directory / f"{side}.paths")
        write_paths(directory / f"{side}.paths", [(f"{i % 4:02b}", word, 1) for i, word in enumerate(words)])
    levels = [{"kind": "word", "budget": 5}, {"kind": "classes", "budget": 2} | maps]
    templates = {"rule_id": True, "word_edges": {"most_words": 2}, "levels": levels}
    learn(directory, directory / "perceptron", templates=templates)
    (directory / "lists").write_text(yaml.safe_dump(LISTS | {"search": QUICK["search"]}))
    arguments = options(directory, directory / "learned", "--config", str(directory / "lists"))
    assert main(["train-expected-bleu", *arguments[1:]]) == 0
    weights = {"language_model": [0.2], "translation": [0.1, 0.2, 0.05, 0.1, 0.7], "distortion": 0.1}
    edited(directory / "learned", directory / "scores", "weights.yaml", weights)
    return directory


def join(data, output, model="scores", features="perceptron", force=False):
    paths = {"model": data / model, "features": data / features, "output": output}
    return main(["join-features", *(f"--{name}={path}" for name, path in paths.items()), *["--force"] * force])


def decoder_of(model):
    return Decoder.load(model, parse_config(QUICK["search"], SearchSettings, "settings"))


def weighed(weights, features):
    """Weights times features, both by name."""
    return sum(float(np.dot(weights[name], value)) for name, value in features.items())


def test_scores_are_those_of_both(data, tmp_path):
    assert join(data, tmp_path / "out") == 0
    models = tmp_path / "out", data / "scores", data / "perceptron"
    joined, scores, perceptron = map(decoder_of, models)
    own, others = scores.model.weights.model_dump(), perceptron.model.weights.model_dump()
    factor = others["language_model"][0] / own["language_model"][0]
    assert factor != 1
    sparse = dict(zip(*(array.tolist() for array in used(open_sparse_weights(data / "perceptron" / "sparse")))))
    n_same = 0
    for line in LINES:
        known = {one.phrases: one.features for one in scores.nbest(line, 100)}
        found = joined.answer(line, Request(n=100, sparse="keys")).nbest
        assert len(found) > 1
        for one in found:
            groups = {name: value for name, value in one.features.items() if name in GROUPS}
            dense = {name: value for name, value in one.features.items() if name not in GROUPS}
            assert groups
            assert sum(groups.values()) == pytest.approx(sum(sparse.get(key, 0) * n for key, n in one.sparse.items()))
            assert one.score == pytest.approx(factor * weighed(own, dense) + weighed(others, groups))
            if one.phrases in known:
                n_same += 1
                assert dense == known[one.phrases]
    assert n_same > 0


def test_groups_of_two_models_are_one(data, tmp_path):
    """Features of words at edges from one training, bigrams of rules from another."""
    learn(data, tmp_path / "edges", templates={"word_edges": {"most_words": 2}}, iterations=1)
    learn(data, tmp_path / "bigrams", templates={"rule_bigram": True}, rates={"rule_bigram": 1.0}, iterations=1)
    assert join(data, tmp_path / "out", tmp_path / "edges", tmp_path / "bigrams") == 0
    joined, *both = map(decoder_of, (tmp_path / "out", tmp_path / "edges", tmp_path / "bigrams"))
    own, others = (one.model.weights.model_dump() for one in both)
    factor, n_same = others["language_model"][0] / own["language_model"][0], 0
    for line in LINES:
        known = [{one.phrases: one.features for one in decoder.nbest(line, 100)} for decoder in both]
        for one in joined.nbest(line, 100):
            if all(one.phrases in features for features in known):
                n_same += 1
                assert one.features == known[0][one.phrases] | known[1][one.phrases]
                bigrams = {"rule_bigram": one.features["rule_bigram"]}
                rest = {name: value for name, value in one.features.items() if name != "rule_bigram"}
                assert one.score == pytest.approx(factor * weighed(own, rest) + weighed(others, bigrams))
    assert n_same > 0
    names = [(tmp_path / name / "sparse" / "names").read_text().splitlines() for name in ("edges", "bigrams", "out")]
    assert {*names[2]} == {*names[0], *names[1]}


def n_right(data, model):
    """Sentences of the development set that are translated as they should be."""
    source, target = ((data / f"dev.{name}").read_text().splitlines() for name in ("source", "target"))
    found = decoder_of(model).translate_all(source)
    return sum(one.text == other for one, other in zip(found, target, strict=True))


def test_it_can_be_tuned(data, tmp_path, capsys):
    assert join(data, tmp_path / "out") == 0
    assert "now tune it" in capsys.readouterr().out
    (tmp_path / "config").write_text(yaml.safe_dump({"iterations": 3, "nbest": 20, "search": QUICK["search"]}))
    files = f"--source={data / 'dev.source'}", f"--reference={data / 'dev.target'}", f"--config={tmp_path / 'config'}"
    paths = f"--model={tmp_path / 'out'}", f"--output={tmp_path / 'tuned'}"
    assert main(["tune", "--method=mira-corpus", *files, *paths]) == 0
    assert n_right(data, data / "scores") < n_right(data, tmp_path / "tuned")
    assert_sound(tmp_path / "out")
    assert_sound(tmp_path / "tuned")
    assert join(data, tmp_path / "tuned") == 2
    assert "a model that tune made: expected one of join-features; give --force" in capsys.readouterr().err
    assert join(data, tmp_path / "tuned", force=True) == 0
    assert_sound(tmp_path / "tuned")
    assert not (tmp_path / "tuned" / "tuning").exists()


def test_provenance_is_that_of_both(data, tmp_path):
    assert join(data, tmp_path / "out") == 0
    joined, scores, perceptron = (
        load_config(path / "model.yaml", ModelDescription)
        for path in (tmp_path / "out", data / "scores", data / "perceptron")
    )
    assert {*joined.data} == {*scores.data, *perceptron.data}
    assert joined.settings["joined"] == {"model": scores.signature, "features": perceptron.signature}
    assert {"expected_bleu", "maxforce"} <= joined.settings.keys()
    assert joined.signature not in (scores.signature, perceptron.signature)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *(path.name for path in (data / "perceptron").iterdir() if path.name != "maxforce")
    }


def test_what_cannot_be_joined_is_refused(data, tmp_path, capsys):
    unweighed = edited(data / "scores", tmp_path / "unweighed", "weights.yaml", {"language_model": [0.0]})
    raw = {"source_language": "de", "target_language": "en"}
    prepared = edited(data / "scores", tmp_path / "prepared", "model.yaml", {"preprocessing": raw})
    bound = tmp_path / "bound"
    shutil.copytree(data / "perceptron", bound)
    n_pairs = len(decoder_of(bound).model.tables.phrases.ln_scores)
    save_pair_features(bound, [], np.zeros(n_pairs + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    same = tmp_path / "same"
    shutil.copytree(data / "perceptron", same)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    output = tmp_path / "out"
    for given, message in (
        ({"model": "perceptron", "features": same}, "both have features of rule_id"),
        (
            {"features": "model"},
            "has no sparse features; expected one of train-maxforce, train-ranking or tune --method online",
        ),
        ({"features": bound}, "has features of single phrase pairs, which belong to its own phrase table"),
        ({"model": unweighed}, "weigh 0 and 0.5; expected weights above 0"),
        ({"model": prepared}, "trained on text that was preprocessed differently"),
        ({"output": data / "perceptron"}, "is the input model"),
        ({"output": tmp_path / "mine"}, "exists and is not a model"),
        ({"model": "nothing"}, "nothing"),
    ):
        assert join(data, **{"output": output} | given) == 2
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
        assert not output.exists()
