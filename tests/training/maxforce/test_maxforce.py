"""The command train-maxforce: weights that translate better, and are the same when killed, and for more threads."""

import signal
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.cli import main
from phrasebeam.decoder.forced import forced_workspace
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_weights import fill_weights, new_sparse_weights, used
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.maxforce.config import MaxforceConfig, is_learned
from phrasebeam.training.maxforce.maxforce_model import train_maxforce
from phrasebeam.training.maxforce.updates import UPDATES
from phrasebeam.training.online.learned_weights import LearnedWeights
from phrasebeam.training.online.training import OnlineTraining
from tests import ROOT
from tests.decoder.models import assert_sound
from tests.naive.phrase_templates import PHRASE_GROUPS
from tests.training.common.curves import read_curve
from tests.training.maxforce.maxforce_toy import QUICK, RUN, Killed, learn, learned_with, make_data, options, weights_of
from tests.training.online.killing import die_after_each_save, kill_at


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("maxforce")
    make_data(directory)
    return directory


def learned(output):
    """The weights at the end, best or not."""
    return {name: a.tolist() for name, a in np.load(output / RUN / "shard-0.npz").items() if name != "progress"}


@pytest.mark.parametrize("update", sorted(UPDATES))
def test_learns_what_only_sparse_features_tell(data, tmp_path, update):
    progress = learn(data, tmp_path / "out", update=update, iterations=6, patience=6)
    scores = [epoch.score for epoch in progress.iterations]
    assert max(scores) > scores[0]
    if update == "max_violation":
        assert max(scores) == 100.0
        assert sum(epoch.updates for epoch in progress.iterations) > 0
        assert sum(epoch.invalid for epoch in progress.iterations) == 0
        assert Decoder.load(tmp_path / "out").translate("a k c k").text == "A m p C m q"
        (tmp_path / "out" / RUN / "curve.png").unlink()  # as where matplotlib was not installed
        learn(data, tmp_path / "out", update=update, iterations=6, patience=6)
    rows = read_curve(tmp_path / "out" / RUN)
    assert [float(row["score"]) for row in rows] == scores
    assert [row["invalid_ratio"] != "" for row in rows] == [row["updates"] != "0" for row in rows]


def test_what_is_not_sparse_is_tuned_before_weights_are_scored(data, tmp_path):
    timid = {"rates": {"word_edges": 1e-3}, "iterations": 1}
    tune = {"method": "mert", "iterations": 3, "nbest": 10}
    progress, plain = (
        learn(data, tmp_path / name, tune=how, **timid) for name, how in (("out", tune), ("plain", None))
    )
    assert learned(tmp_path / "plain")["values"] == learned(tmp_path / "out")["values"]
    gains = [one.score - other.score for one, other in zip(progress.iterations, plain.iterations, strict=True)]
    assert gains[0] >= 0
    assert gains[1] > 0
    best = Decoder.load(tmp_path / "out", parse_config(QUICK["search"], SearchSettings, "settings"))
    assert best.model.weights.target_context_edges != best.model.weights.target_edges
    source, target = ((data / f"dev.{name}").read_text().splitlines() for name in ("source", "target"))
    translated = [translation.text for translation in best.translate_all(source)]
    score = sacrebleu.corpus_bleu(translated, [target], tokenize="none").score
    assert score == pytest.approx(progress.iterations[1].score)
    assert not any((tmp_path / "out" / RUN / "tuning").iterdir())


def test_scales_of_groups_are_those_with_the_best_score(data, tmp_path):
    timid = {"rates": {"word_edges": 1e-3}, "iterations": 1}
    factors = [1e4, 2.0, 1e-4]
    alone = [learn(data, tmp_path / f"{one}", scales=[one], **timid).iterations[1].score for one in factors]
    assert len(set(alone)) == len(factors)
    best = max(alone)
    for name, tried in (("out", factors), ("turned", factors[::-1])):
        assert learn(data, tmp_path / name, scales=tried, **timid).iterations[1].score == best
        weights = Decoder.load(tmp_path / name).model.weights
        assert weights.rule_id == weights.source_target_edges == weights.context_edges == factors[alone.index(best)]


def test_translations_keep_their_length(tmp_path):
    make_data(tmp_path, other="m")  # before learning k is always `m p`
    source = (tmp_path / "dev.source").read_text().splitlines()
    words = {}
    for keeps in (False, True):
        progress = learn(tmp_path, tmp_path / f"{keeps}", keep_length=keeps)
        words[keeps] = [one.development_words for one in progress.iterations]
        written = Decoder.load(tmp_path / f"{keeps}", SearchSettings(**QUICK["search"])).translate_all(source)
        assert sum(len(one.text.split()) for one in written) == words[keeps][progress.best]
    assert words[True][0] == words[False][0]
    assert words[False][2] < words[True][2] <= words[True][0]


def test_nuisances_are_learned_and_not_written(data, tmp_path):
    rates = QUICK["rates"] | {"word_penalty": 0.1}
    for name, nuisance in (("nuisance", ["word_penalty"]), ("weight", [])):
        learn(data, tmp_path / name, rates=rates, nuisance=nuisance)
    assert learned(tmp_path / "nuisance") == learned(tmp_path / "weight")
    places = data / "model", tmp_path / "nuisance", tmp_path / "weight"
    before, nuisance, weight = (Decoder.load(place).model.weights.word_penalty for place in places)
    assert nuisance == before != weight


def test_word_edges_can_be_fixed_together_or_by_kind():
    groups = {"rule_id", "source_edges", "target_context_edges"}
    for fixed, learned_ones in (
        ([], groups),
        (["word_edges"], {"rule_id"}),
        (["source_edges"], groups - {"source_edges"}),
    ):
        config = parse_config(QUICK | {"fixed": fixed}, MaxforceConfig, "settings")
        assert {group for group in groups if is_learned(group, config)} == learned_ones


def test_threads_do_not_change_a_bit(data, tmp_path):
    for threads in (1, 2):
        learn(data, tmp_path / f"{threads}", threads=threads)
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "2")
    assert learned(tmp_path / "1") == learned(tmp_path / "2")


def test_every_checkpoint_can_be_the_last(data, tmp_path, monkeypatch):
    learn(data, tmp_path / "whole")
    saved = die_after_each_save(monkeypatch)
    for _ in range(100):
        try:
            learn(data, tmp_path / "killed")
            break
        except Killed:
            # What came behind the checkpoint is not of it.
            assert (tmp_path / "killed" / RUN / "updates-0").exists() or len(saved) == 1
            with open(tmp_path / "killed" / RUN / "updates-0", "ab") as file:
                file.write(b"more")
            assert (tmp_path / "killed" / RUN / "curve.csv").exists()  # as far as it has come
    assert len(saved) > 5
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")
    assert learned(tmp_path / "killed") == learned(tmp_path / "whole")


@pytest.mark.needs_jit
def test_a_killed_training_goes_on_to_the_same_weights(data, tmp_path):
    arguments = options(data, tmp_path / "killed", "--iterations", "3")
    assert kill_at(tmp_path / "killed" / RUN / "checkpoint.npz", arguments) == -signal.SIGKILL
    assert main(arguments) == 0
    assert main(options(data, tmp_path / "whole", "--iterations", "3")) == 0
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


def test_explains_what_it_learned(data, tmp_path, capsys):
    learn(data, tmp_path / "out", lm_folds=2)
    assert_sound(tmp_path / "out")
    assert main(["explain", "--model", str(tmp_path / "out"), "--top", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[1] for line in lines]
    groups = {"rule_id", "target_edges", "source_context_edges", "target_context_edges", "rule_bigram"}
    assert {group for group in groups for name in names if name.startswith(group)} == groups
    for group in groups:
        weights = [abs(float(line.split()[0])) for line in lines if line.split()[1].startswith(group)]
        assert len(weights) <= 3
        assert weights == sorted(weights, reverse=True)
    assert main(["explain", "--model", str(tmp_path / "out"), "--top", "500", "--source", "a k"]) == 0
    text, _, *fired = capsys.readouterr().out.splitlines()
    assert text == "A m p"
    of_one = {line.split(" x ")[1] for line in fired}
    assert {"rule_id_k~m_p", "rule_bigram_a~A+k~m_p"} <= of_one
    assert any(name in of_one for name in names)


def test_names_and_groups_are_those_of_all_weights(data, tmp_path):
    learn(data, tmp_path / "out", names=10**6)
    keys = np.load(tmp_path / "out" / "sparse" / "keys.npy")
    named = [line.split("\t")[0] for line in (tmp_path / "out" / "sparse" / "names").read_text().splitlines()]
    assert sorted(named) == [f"{key:016x}" for key in keys.tolist()]


def test_names_of_phrases_have_the_alignments_of_the_model(data, tmp_path):
    templates = QUICK["templates"] | dict.fromkeys(PHRASE_GROUPS, True)
    rates = QUICK["rates"] | dict.fromkeys(PHRASE_GROUPS, 1.0)
    learn(data, tmp_path / "out", names=10**6, templates=templates, rates=rates)
    keys = np.load(tmp_path / "out" / "sparse" / "keys.npy")
    named = [line.split("\t") for line in (tmp_path / "out" / "sparse" / "names").read_text().splitlines()]
    assert sorted(key for key, _ in named) == [f"{key:016x}" for key in keys.tolist()]
    assert {"phrase_alignment_k~m_p", "target_bigrams_m_q"} <= {name for _, name in named}


def test_a_trained_model_can_be_trained_on(data, tmp_path):
    """With its own features and weights, where the settings have none."""
    learn(data, tmp_path / "first")
    corpus = BitextFiles(data / "train.source", [data / "train.target"], data / "train.alignment")
    config = MaxforceConfig.model_validate(QUICK | {"templates": None, "iterations": 1})
    development = BitextFiles(data / "dev.source", [data / "dev.target"])
    trained = train_maxforce(tmp_path / "first", corpus, development, tmp_path / "second", config)
    assert trained.progress[1].iterations[0].score == 100.0
    assert weights_of(tmp_path / "first")[0][0]
    assert Decoder.load(tmp_path / "second").translate("a k").text == "A m p"


STEPS = st.lists(
    st.tuples(st.floats(-2, 2), st.lists(st.tuples(st.integers(1, 60), st.floats(-2, 2)), max_size=30)), max_size=8
)


@pytest.mark.kernels
@given(STEPS, st.integers(0, 8))
@settings(deadline=None)
def test_the_average_is_that_of_all_steps(steps, n_before):
    """The weights after each step are averaged, also if all was written and read in between."""
    learned = LearnedWeights(np.ones(1), new_sparse_weights())
    weights, dense, after = dict.fromkeys(range(1, 61), 0.0), 1.0, []
    for number, (amount, sparse) in enumerate(steps):
        if number == n_before:
            learned = LearnedWeights.restored(dict(learned.arrays()))
        keys, amounts = (np.array([entry[i] for entry in sparse], dtype) for i, dtype in enumerate((np.uint64, float)))
        learned.add(np.array([amount]), keys, amounts, (keys % np.uint64(5)).astype(np.int64))
        learned.count_in_average()
        dense += amount
        for key, value in sparse:
            weights[key] += value
        after.append((dense, dict(weights)))
    average, table, _ = learned.average()
    n_steps = max(len(steps), 1)
    assert average[0] == pytest.approx(sum(d for d, _ in after) / n_steps if after else 1.0)
    found = np.zeros(len(weights))
    fill_weights(table, np.array(list(weights), np.uint64), found)
    expected = [sum(one[key] for _, one in after) / n_steps for key in weights]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)
    assert used(learned.sparse)[0].tolist() == sorted({key for _, sparse in steps for key, _ in sparse})
    slots = np.flatnonzero(learned.sparse.keys)
    assert (learned.columns.group[slots] == learned.sparse.keys[slots] % np.uint64(5)).all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"search": {"max_phrase_length": 1, "distortion_limit": 0}, "sentences": 1, "forcing": {"max_states": 1}},
            "no sentence pair has y-good",
        ),
    ],
)
def test_what_cannot_be_learned_from_is_refused(data, tmp_path, more, message):
    with pytest.raises(ConfigError, match=message):
        learn(data, tmp_path / "out", **more)


def test_other_settings_do_not_go_on(data, tmp_path, capsys):
    assert main(options(data, tmp_path / "out", "--iterations", "1")) == 0
    assert main(options(data, tmp_path / "out", "--iterations", "1", "--update", "local")) == 2
    assert "give --force to delete it, or another --output" in capsys.readouterr().err
    assert main(options(data, data / "model")) == 2
    assert "is the input model" in capsys.readouterr().err


def test_the_alignment_that_the_model_keeps_is_the_default(data, tmp_path, capsys):
    one = "--iterations", "1"
    assert main(options(data, tmp_path / "given", *one)) == 0
    assert main(without_alignment(options(data, tmp_path / "kept", *one))) == 0
    assert weights_of(tmp_path / "kept") == weights_of(tmp_path / "given")
    assert (tmp_path / "kept" / "alignment").read_bytes() == (data / "train.alignment").read_bytes()
    capsys.readouterr()
    (tmp_path / "other").write_text((data / "train.source").read_text().replace("a", "b", 1))
    given = [str(tmp_path / "other") if part.endswith("train.source") else part for part in options(data, "new")]
    assert main(without_alignment(given)) == 2
    assert "other and" in (message := capsys.readouterr().err) and message.endswith("; give --alignment\n")
    assert not Path("new").exists()


def without_alignment(arguments):
    place = arguments.index("--alignment")
    return [*arguments[:place], *arguments[place + 2 :]]


def test_what_was_begun_with_other_settings_is_not_taken_up(data, tmp_path, monkeypatch):
    """Also where there is no checkpoint yet."""
    missing = {"levels": [{"kind": "classes", "budget": 1, "source": "no", "target": "no"}]}
    with pytest.raises(FileNotFoundError):
        learn(data, tmp_path / "out", templates=QUICK["templates"] | missing)

    def die(*_):
        raise Killed

    monkeypatch.setattr(OnlineTraining, "_last", die)
    with pytest.raises(Killed):  # nothing was there yet
        learn(data, tmp_path / "out")
    monkeypatch.undo()
    for more in (
        {"templates": {"rule_id": True}},
        {"gold_table_limit": 1},
        {"templates": {"rule_id": True}, "seeds": [2]},
    ):
        with pytest.raises(ConfigError, match=r"a run of train-maxforce: .* was .*, is .*; give --force"):
            learned_with(data, tmp_path / "out", **more)
    learn(data, tmp_path / "out")


def test_settings_of_the_paper_are_settings():
    config = load_config(ROOT / "configs" / "yu2013-maxforce.yaml", MaxforceConfig)
    assert (config.update, config.rates.rule_id, config.future_cost) == ("max_violation", 1.0, False)
    assert (config.tune, config.development_search, config.scales) == (None, None, [1.0])
    with pytest.raises(ConfigError, match=r"search\.algorithm is cube"):
        parse_config({"search": {"algorithm": "cube"}}, MaxforceConfig, "options")
    for settings_given, message in (
        ({"seeds": [1, 2, 1]}, r"seeds are \[1, 2, 1\]; give each once"),
        ({"seeds": [-1]}, r"seeds\.0: .* greater than or equal to 0, found -1"),
        ({"tune": {"seeds": [1, 2]}}, r"tune\.seeds has no effect in training; give it for training as a whole"),
        ({"tune": {"c": [0.1]}}, r"tune\.c has no effect in training"),
        ({"nuisance": ["word_penalty"]}, r"nuisance has word_penalty, which is not learned"),
        ({"nuisance": ["rule_id"]}, r"nuisance has 'rule_id'; give names of dense features"),
    ):
        with pytest.raises(ConfigError, match=message):
            parse_config(settings_given, MaxforceConfig, "options")


def test_lattices_that_are_too_large_once_scored_are_counted(data, tmp_path, monkeypatch, caplog):
    everything = learn(data, tmp_path / "everything", iterations=1).iterations[1]
    assert everything.too_large == 0
    monkeypatch.setattr(forced_workspace, "FIRST_NODES", 4)
    monkeypatch.setattr(forced_workspace, "MOST_NODES", 0)
    with caplog.at_level("INFO"):
        epoch = learn(data, tmp_path / "small", iterations=1).iterations[1]
    assert 0 < epoch.too_large < epoch.examples == everything.examples
    assert 0 < epoch.updates <= epoch.examples - epoch.too_large
    assert f"{epoch.too_large} too large; score" in caplog.text


@pytest.mark.needs_jit
def test_kernels_are_compiled_once(data, tmp_path):
    for update in UPDATES:
        learn(data, tmp_path / update, update=update, future_cost=True, iterations=1)
    n_compiled = 0
    for path in (ROOT / "training" / "maxforce").glob("*.py"):
        module = import_module(f"phrasebeam.training.maxforce.{path.stem}")
        for name, value in vars(module).items():
            signatures = getattr(value, "signatures", ())
            n_compiled += len(signatures)
            assert len(signatures) <= 1, (module, name, signatures)
    assert n_compiled >= 5


def test_the_command_learns_by_default(data, tmp_path, capsys):
    arguments = [word for word in options(data, tmp_path / "out") if word not in ("--config", str(data / "config"))]
    assert main([*arguments, "--iterations", "1", "--lm-folds", "2"]) == 0
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert int(last[-2]) > 10  # features
    description = open_model(tmp_path / "out").description
    assert [stage.command for stage in description.stages] == ["train-model", "train-maxforce"]
    assert description.stages[1].settings == {"iterations": 1, "lm_folds": 2}


def test_what_cannot_learn_is_refused(data, tmp_path):
    with pytest.raises(ConfigError, match="nothing can be learned; give templates, fix fewer, or give rates"):
        learn(data, tmp_path / "out", templates=None, rates={})
