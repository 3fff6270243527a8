"""The command train-expected-bleu: scores that translate better, the same when killed, and for more threads."""

import random
import shutil
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.cli import main
from phrasebeam.decoder.model.description import accept_files, open_description, save_description
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.tables.score_codes import quantize_scores
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.expected_bleu import expected_bleu_model
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.expected_bleu_model import WORK, train_expected_bleu
from phrasebeam.training.expected_bleu.features import condensed, find_features
from phrasebeam.training.expected_bleu.list_store import ListStore
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from tests import ROOT
from tests.decoder.models import assert_sound
from tests.naive import expected_bleu as naive
from tests.training.common.curves import read_curve

QUICK = {
    "features": ["a"],
    "tau": 1e-8,
    "score_every": 1,
    "tune": None,
    "lm_folds": 0,
    "nbest": 20,
    "iterations": 8,
    "steps": {"rprop": {"initial_step": 0.1}},
    "search": {"stack": 20, "max_phrase_length": 1, "distortion_limit": 0},
    "threads": 1,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Words whose right translation neither translation scores, which weigh nothing, nor language model prefer."""
    directory = tmp_path_factory.mktemp("expected_bleu")
    rng = random.Random(1)
    for name, size, share in (("train", 40, 0.7), ("dev", 6, 1.0)):
        source = [[rng.choice("abcd") for _ in range(rng.randint(3, 5))] for _ in range(size)]
        target = [[w.upper() if rng.random() < share else "z" for w in words] for words in source]
        points = [[f"{i}-{i}" for i in range(len(words))] for words in source]
        for kind, lines in (("source", source), ("target", target), ("alignment", points)):
            (directory / f"{name}.{kind}").write_text("".join(f"{' '.join(line)}\n" for line in lines))
    config = TrainModelConfig.model_validate(
        {
            "phrases": {"max_length": 3},
            "language_model": {"order": 2},
            "weights": {"translation": [0.0] * 4},
            "threads": 1,
        }
    )
    files = directory / "train.source", directory / "train.target"
    train_model(*files, directory / "model", config, directory / "train.alignment")
    (directory / "config").write_text(yaml.safe_dump(QUICK))
    return directory


def learn(data, output, lists=None, model=None, **more):
    corpus = BitextFiles(data / "train.source", [data / "train.target"], data / "train.alignment")
    development = BitextFiles(data / "dev.source", [data / "dev.target"])
    config = ExpectedBleuConfig.model_validate(QUICK | more)
    return train_expected_bleu(model or data / "model", corpus, development, output, config, lists)


def options(data, output, *more):
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target", "model": "model", "config": "config"}
    given = [part for name, file in files.items() for part in (f"--{name}", str(data / file))]
    return ["train-expected-bleu", *given, "--output", str(output), *more]


def learned(output):
    """All that a model learned, and the way there."""
    numbers = sorted((output / WORK / "iterations").iterdir())
    arrays = [np.load(path).tolist() for path in (*numbers, output / "phrases" / "ln_scores.npy")]
    return arrays, (output / "weights.yaml").read_text()


def worth(progress):
    """All iterations, without the time that they took."""
    return [(one.objective, one.expected_bleu, one.score) for one in progress.iterations]


@pytest.fixture(scope="module")
def lists(data):
    """Lists that were made once."""
    learn(data, data / "first", data / "lists", iterations=1)
    return data / "lists"


@pytest.mark.parametrize("features", [["a"], ["b"], ["d"], ["a", "b", "c", "d"]])
def test_learns_what_the_model_does_not_tell(data, lists, tmp_path, features):
    progress = learn(data, tmp_path / "out", lists, features=features)
    first, best = progress.iterations[0], progress.iterations[progress.best]
    assert best.score > first.score + 10
    assert best.expected_bleu > first.expected_bleu
    objectives = [one.objective for one in progress.iterations]
    assert np.mean(np.diff(objectives) > 0) > 0.8
    decoder = Decoder.load(tmp_path / "out", load_config(data / "config", ExpectedBleuConfig).search)
    assert decoder.translate("a b c d").text == "A B C D"
    n_scores = {"a": 1, "b": 1, "c": 2, "d": 0}
    assert len(decoder.model.weights.translation) == 4 + sum(n_scores[name] for name in features)
    assert len(decoder.model.weights.reordering) == 6 + 6 * ("d" in features)
    assert not (tmp_path / "out" / WORK / "lists").exists()
    assert [float(row["objective"]) for row in read_curve(tmp_path / "out" / WORK)] == objectives


def test_threads_do_not_change_a_bit(data, tmp_path):
    one, two = (learn(data, tmp_path / f"{threads}", threads=threads, lm_folds=2) for threads in (1, 2))
    assert worth(one) == worth(two)
    assert learned(tmp_path / "1") == learned(tmp_path / "2")


def test_scores_in_8_bits_are_refused(data, tmp_path):
    model = shutil.copytree(data / "model", tmp_path / "coded")
    loss = quantize_scores(model / "phrases")
    save_description(open_description(model).model_copy(update={"score_loss": loss}), model)
    with pytest.raises(ConfigError, match=r"coded: scores in 8 bits, .* train it with 32 \(phrases.score_bits\)"):
        learn(data, tmp_path / "out", model=model)
    assert not (tmp_path / "out").exists()


def test_growth_transformation_learns_the_channel_models(data, tmp_path):
    """Which must weigh something for that; their distributions keep their sums."""
    model = tmp_path / "weighed"
    shutil.copytree(data / "model", model)
    weights = yaml.safe_load((model / "weights.yaml").read_text())
    (model / "weights.yaml").write_text(yaml.safe_dump(weights | {"translation": [0.2, 0.0, 0.1, 0.0]}))
    corpus = BitextFiles(data / "train.source", [data / "train.target"], data / "train.alignment")
    development = BitextFiles(data / "dev.source", [data / "dev.target"])
    config = ExpectedBleuConfig.model_validate(QUICK | {"optimizer": "gt", "iterations": 12})
    progress = train_expected_bleu(model, corpus, development, tmp_path / "out", config)
    objectives = [one.objective for one in progress.iterations]
    assert max(objectives) > objectives[0] + 0.01
    before, after = (open_model(directory).tables.phrases for directory in (model, tmp_path / "out"))
    assert (before.ln_scores[:, [1, 3]] == after.ln_scores[:, [1, 3]]).all()
    assert (before.ln_scores[:, [0, 2]] != after.ln_scores[:, [0, 2]]).any() == (progress.best > 0)
    sources = np.repeat(np.arange(before.source_counts.size), np.diff(before.pair_offsets))
    start, end = (np.load(tmp_path / "out" / WORK / "iterations" / f"{i:03d}.npy") for i in (0, 12))
    p_start, p_end = (np.split(found, 2)[1] for found in (start, end))
    assert np.abs(p_end - p_start).max() > 0.01
    np.testing.assert_allclose(np.bincount(sources, p_end), np.bincount(sources, p_start), rtol=1e-5)


def test_the_best_is_chosen_after_tuning(data, lists, tmp_path):
    tune = {"method": "mert", "iterations": 2, "nbest": 10, "mert": {"restarts": 1}, "search": QUICK["search"]}
    more = {"iterations": 4, "score_every": 2}
    fixed = learn(data, tmp_path / "fixed", lists, **more)
    tuned = learn(data, tmp_path / "tuned", lists, tune=tune, **more)
    assert [one.score is not None for one in tuned.iterations] == [True, False, True, False, True]
    assert tuned.iterations[0].score > fixed.iterations[0].score
    best = tmp_path / "tuned" / WORK / "tuned" / f"{tuned.best:03d}.yaml"
    assert (tmp_path / "tuned" / "weights.yaml").read_bytes() == best.read_bytes()
    development = BitextFiles(data / "dev.source", [data / "dev.target"])
    config = ExpectedBleuConfig.model_validate(QUICK)
    score = read_development(development, config).score(Decoder.load(tmp_path / "tuned", config.search)).score
    assert score == pytest.approx(tuned.iterations[tuned.best].score)


class Killed(Exception):
    """In place of a signal."""


def test_every_commit_and_checkpoint_can_be_the_last(data, tmp_path, monkeypatch):
    whole = learn(data, tmp_path / "whole", iterations=3)
    monkeypatch.setattr("phrasebeam.training.expected_bleu.lists.LISTS_AT_ONCE", 15)
    n_saved = 0

    def and_die(function):
        def save(*args, **kwargs):
            nonlocal n_saved
            function(*args, **kwargs)
            n_saved += 1
            raise Killed

        return save

    monkeypatch.setattr(ListStore, "commit", and_die(ListStore.commit))
    monkeypatch.setattr(expected_bleu_model, "save_checkpoint", and_die(expected_bleu_model.save_checkpoint))
    for _ in range(40):
        try:
            killed = learn(data, tmp_path / "killed", iterations=3)
            break
        except Killed:
            lists = tmp_path / "killed" / WORK / "lists"
            with open(lists / "event.npy", "ab") as file:  # what came behind the commit is not of it
                file.write(b"more")
    assert n_saved == 4 + 4 + 4  # commits, iterations, scores
    assert worth(killed) == worth(whole)
    assert learned(tmp_path / "killed") == learned(tmp_path / "whole")


def test_a_tuning_whose_score_was_not_kept_begins_with_the_same_weights(data, lists, tmp_path, monkeypatch):
    tune = {"method": "mert", "iterations": 2, "nbest": 10, "mert": {"restarts": 1}, "search": QUICK["search"]}
    whole = learn(data, tmp_path / "whole", lists, iterations=1, tune=tune)
    save = expected_bleu_model.save_checkpoint

    def die_before_the_first_score(path, progress, arrays):
        if progress.iterations[0].score is not None:
            raise Killed
        save(path, progress, arrays)

    monkeypatch.setattr(expected_bleu_model, "save_checkpoint", die_before_the_first_score)
    with pytest.raises(Killed):
        learn(data, tmp_path / "killed", lists, iterations=1, tune=tune)
    monkeypatch.undo()
    assert worth(learn(data, tmp_path / "killed", lists, iterations=1, tune=tune)) == worth(whole)
    for name in ("000", "001"):
        tuned = [(tmp_path / run / WORK / "tuned" / f"{name}.yaml").read_text() for run in ("whole", "killed")]
        assert tuned[0] == tuned[1]


def test_more_iterations_go_on(data, lists, tmp_path):
    learn(data, tmp_path / "more", lists, iterations=2)
    more = learn(data, tmp_path / "more", lists, iterations=4)
    assert worth(more) == worth(learn(data, tmp_path / "at once", lists, iterations=4))
    assert learned(tmp_path / "more") == learned(tmp_path / "at once")


def test_parameters_of_another_size_are_refused(data, lists, tmp_path):
    learn(data, tmp_path / "out", lists, iterations=1)
    for path in (tmp_path / "out" / WORK / "iterations").iterdir():
        np.save(path, np.load(path)[1:])
    (tmp_path / "out" / "model.yaml").unlink()  # so that the model is written again
    with pytest.raises(FormatError, match=r"0\d\d.npy: float32 .*, expected"):
        learn(data, tmp_path / "out", lists, iterations=1)


SIGNALLING = np.array([0x7F80_0001], np.uint32).view(np.float32)  # a NaN of which a conversion warns


@pytest.mark.parametrize("number", [np.nan, -np.inf, 3e38, SIGNALLING])
def test_parameters_that_are_none_are_refused(data, lists, tmp_path, number):
    learn(data, tmp_path / "out", lists, iterations=1)
    for path in (tmp_path / "out" / WORK / "iterations").iterdir():
        np.save(path, np.full_like(np.load(path), number))
    (tmp_path / "out" / "model.yaml").unlink()  # so that the model is written again
    with pytest.raises(FormatError, match=r"0\d\d.npy: a number beyond"):
        learn(data, tmp_path / "out", lists, iterations=1)


def test_a_damaged_table_is_refused(data, lists, tmp_path):
    """The scores of all pairs are written, not only of those in lists."""
    shutil.copytree(data / "model", tmp_path / "model")
    path = tmp_path / "model" / "phrases" / "source_offsets.npy"
    offsets = np.load(path)
    offsets[-2] = 2**40
    np.save(path, offsets)
    accept_files(tmp_path / "model")
    with pytest.raises(ModelError, match=r"source_offsets.npy: 1099511627776 at \d+, expected"):
        learn(data, tmp_path / "out", lists, model=tmp_path / "model")


def test_the_command_says_how_it_went(data, lists, tmp_path, capsys):
    more = "--features", "a,b", "--optimizer", "adagrad", "--iterations", "1", "--lists", str(lists)
    assert main(options(data, tmp_path / "out", *more)) == 0
    assert_sound(tmp_path / "out")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["iteration", "score", "chrF++", "expected", "BLEU", "objective"]
    assert len(lines) == 3
    assert sum("*" in line for line in lines) == 1
    assert main(options(data, tmp_path / "out", *more, "--optimizer", "sgd")) == 2
    assert "give --force to delete it, or another --output" in capsys.readouterr().err
    assert main(options(data, tmp_path / "new", *more, "--leave-one-out", "drop")) == 2
    assert "lists.yaml: made with" in capsys.readouterr().err
    assert main(options(data, data / "model")) == 2
    assert "is the input model" in capsys.readouterr().err
    assert main(options(data, tmp_path / "new", "--features", "a,a")) == 2
    assert "one occurs twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"lm_folds": 1}, "lm_folds is 1"),
        ({"optimizer": "gt", "features": ["b"]}, "give a"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(more, message):
    with pytest.raises(ValueError, match=message):
        ExpectedBleuConfig.model_validate(more)


def test_training_without_sentences_is_refused(data, tmp_path):
    with pytest.raises(ConfigError, match="no sentence has 1 to 2 words"):
        learn(data, tmp_path / "out", max_words=2)


@pytest.mark.kernels
@given(st.data(), st.sampled_from([1, 2, 100]))
@settings(deadline=None, max_examples=20)
def test_features_are_those_of_the_paper(data, draws, at_once):
    model = open_model(data / "model")
    table = model.tables.phrases
    n_pairs = table.target_counts.size
    sets = draws.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
    pairs = np.array(draws.draw(st.lists(st.integers(0, n_pairs - 1), min_size=1, max_size=6, unique=True)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("phrasebeam.training.expected_bleu.features.PAIRS_AT_ONCE", at_once)
        features = find_features(table, pairs, sets)
    expected = [[one for name in sets for one in _features(table, pair, name)] for pair in range(n_pairs)]
    weights = np.random.default_rng(1).normal(size=features.size)
    known = {}
    for event, pair in enumerate(pairs.tolist()):
        spans = [design.feature[slice(*design.first[event : event + 2])] for design in features.designs]
        fired = np.concatenate(spans).tolist()
        assert sorted(Counter(fired).values()) == sorted(Counter(expected[pair]).values())
        for feature, name in zip(fired, expected[pair], strict=True):
            assert known.setdefault(name, feature) == feature
    assert len(set(known.values())) == len(known) == features.size
    scores = np.concatenate(list(condensed(table, features, weights)))
    sums = [sum(weights[known[one]] for one in found if one in known) for found in expected]
    np.testing.assert_allclose(scores.sum(axis=1), sums, atol=1e-5)


def _features(table, pair, name):
    source = int(np.searchsorted(table.pair_offsets, pair, side="right")) - 1
    words = table.source_words[slice(*table.source_offsets[source : source + 2])].tolist()
    target = table.target_words[slice(*table.target_offsets[pair : pair + 2])].tolist()
    return [(name, *one) for one in naive.features(words, target, name)]


def test_settings_of_the_paper_are_settings():
    config = load_config(ROOT / "configs" / "wuebker2015-rprop.yaml", ExpectedBleuConfig)
    assert (config.optimizer, config.iterations, config.nbest) == ("rprop", 40, 100)
    assert (config.score_every, config.tune and config.tune.method) == (1, "mert")  # Figure 1, step 6


@pytest.mark.needs_jit
def test_kernels_are_compiled_once(data, lists, tmp_path):
    learn(data, tmp_path / "out", lists, features=["a", "b", "c", "d"], iterations=1)
    n_compiled = 0
    for path in (ROOT / "training" / "expected_bleu").glob("*.py"):
        module = import_module(f"phrasebeam.training.expected_bleu.{path.stem}")
        for name, value in vars(module).items():
            signatures = getattr(value, "signatures", ())
            n_compiled += len(signatures)
            assert len(signatures) <= 1, (module, name, signatures)
    assert n_compiled > 5
