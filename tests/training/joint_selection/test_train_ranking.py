"""train-ranking on a toy task: what it learns, the same bits for any number of workers and after kills, errors."""

import signal
from pathlib import Path

import numpy as np
import pytest
import yaml

from phrasebeam.base.config import load_config, parse_config
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.cli import main
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.ranking.list_objective import ListObjective
from tests.decoder.models import assert_sound
from tests.training.common.curves import read_curve
from tests.training.joint_selection.ranking_toy import RANKING
from tests.training.maxforce.maxforce_toy import Killed, make_data, weights_of
from tests.training.online.killing import die_after_each_save, kill_at

ROOT = Path(__file__).resolve().parents[3]
QUICK = RANKING | {"shards": 3, "iterations": 2, "checkpoint": 7, "threads": 1, "workers": 1}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("ranking")
    make_data(directory)
    (directory / "ranking").write_text(yaml.safe_dump(QUICK))
    (directory / "train.tasks").write_text("".join(f"{'news' if i % 3 else 'talks'}\n" for i in range(60)))
    return directory


def learn(data, output, tasks=None, **more):
    corpus = BitextFiles(data / "train.source", [data / "train.target"], data / "train.alignment")
    development = BitextFiles(data / "dev.source", [data / "dev.target"])
    config = RankingConfig.model_validate(QUICK | more)
    return train_ranking(data / "model", corpus, development, output, config, tasks)


def options(data, output, *more):
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target", "model": "model", "config": "ranking"}
    given = [part for name, file in files.items() for part in (f"--{name}", str(data / file))]
    return ["train-ranking", *given, "--output", str(output), *more]


@pytest.mark.parametrize("algorithm", [1, 2, 3, 4])
def test_learns_what_only_sparse_features_tell(data, tmp_path, algorithm):
    progress = learn(data, tmp_path / "out", algorithm=algorithm, shards=0 if algorithm == 1 else 3, iterations=4)
    scores = [epoch.score for epoch in progress.iterations]
    assert max(scores) > scores[0]
    assert [float(row["score"]) for row in read_curve(tmp_path / "out" / "ranking")] == scores
    assert progress.iterations[-1].example_score > progress.iterations[1].example_score
    kept = np.load(tmp_path / "out" / "sparse" / "keys.npy").size
    assert 0 < kept <= QUICK["keep"] if algorithm == 4 else kept > QUICK["keep"]
    assert Decoder.load(tmp_path / "out").translate("a k").text.startswith("A m")


def test_begins_with_zero_where_it_is_told(data, tmp_path):
    progress = learn(data, tmp_path / "out", start="zero", iterations=1, keep_dense=False, fixed=[])
    assert progress.iterations[0].score < learn(data, tmp_path / "model", iterations=1).iterations[0].score
    with pytest.raises(ConfigError, match="nothing can be learned; give templates"):
        learn(data, tmp_path / "nothing", templates=None)


def test_writes_the_largest_weights(data, tmp_path):
    """The epochs learn all weights in any case, so that the weights of the first epoch are the same."""
    found = []
    for name, most in (("all", 1000), ("some", 30)):
        progress = learn(data, tmp_path / name, algorithm=1, shards=0, iterations=1, most_features=most)
        sparse = tmp_path / name / "sparse"
        found.append(dict(zip(np.load(sparse / "keys.npy").tolist(), np.load(sparse / "values.npy").tolist())))
        assert progress.iterations[1].features == len(found[-1])
    every, some = found
    assert len(every) > len(some) == 30
    assert some == dict(sorted(every.items(), key=lambda one: (-abs(one[1]), one[0]))[:30])


def test_workers_and_threads_do_not_change_a_bit(data, tmp_path):
    for workers in (1, 3):
        learn(data, tmp_path / f"{workers}", workers=workers, threads=workers)
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "3")


@pytest.mark.parametrize("algorithm", [2, 4])
def test_every_checkpoint_can_be_the_last(data, tmp_path, monkeypatch, algorithm):
    learn(data, tmp_path / "whole", algorithm=algorithm)
    saved = die_after_each_save(monkeypatch)
    for _ in range(100):
        try:
            learn(data, tmp_path / "killed", algorithm=algorithm)
            break
        except Killed:
            pass
    assert len(saved) > 8
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


@pytest.mark.needs_jit
def test_a_killed_training_goes_on_to_the_same_weights(data, tmp_path):
    arguments = options(data, tmp_path / "killed", "--iterations", "3")
    assert kill_at(tmp_path / "killed" / "ranking" / "shard-1.npz", arguments) == -signal.SIGKILL
    assert main(arguments) == 0
    assert main(options(data, tmp_path / "whole", "--iterations", "3")) == 0
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


def test_a_shard_that_fails_ends_the_training(data, tmp_path, monkeypatch):
    outcome = ListObjective.outcome

    def fail_at_last(objective, example, snapshot, epoch):
        if example == 7:
            raise ValueError("no such example")
        return outcome(objective, example, snapshot, epoch)

    monkeypatch.setattr(ListObjective, "outcome", fail_at_last)
    with pytest.raises(ValueError, match="no such example"):
        learn(data, tmp_path / "out", workers=2)
    monkeypatch.undo()
    learn(data, tmp_path / "out", workers=2)  # goes on with the shards that are complete
    learn(data, tmp_path / "whole")
    assert weights_of(tmp_path / "out") == weights_of(tmp_path / "whole")


def test_tasks_are_shards(data, tmp_path):
    shared = learn(data, tmp_path / "shared", data / "train.tasks", shards=0)
    own = learn(data, tmp_path / "own", data / "train.tasks", shards=0, task_weights="own")
    assert shared.iterations[1].score == own.iterations[1].score  # the first epoch begins with the same weights
    assert weights_of(tmp_path / "shared") != weights_of(tmp_path / "own")
    tasks = tmp_path / "own" / "ranking" / "tasks"
    assert sorted(path.name for path in tasks.iterdir()) == ["news", "talks"]
    values = [np.load(path / "sparse" / "values.npy").tolist() for path in sorted(tasks.iterdir())]
    assert values[0] != values[1]
    assert all(Decoder.load(path).translate("a k").text.startswith("A m") for path in tasks.iterdir())
    assert not (tmp_path / "shared" / "ranking" / "tasks").exists()
    for path in (tmp_path / "own", *tasks.iterdir()):
        assert_sound(path)
    gain = "after iteration"
    assert gain in (tmp_path / "own" / "README.md").read_text(encoding="utf-8")
    assert not any(gain in (path / "README.md").read_text(encoding="utf-8") for path in tasks.iterdir())


def test_models_of_tasks_have_the_scales_that_were_chosen(data, tmp_path):
    """What is fixed or tuned is that of the mixed weights."""
    learn(data, tmp_path / "own", data / "train.tasks", shards=0, task_weights="own", scales=[0.5, 0.25])
    tasks = sorted((tmp_path / "own" / "ranking" / "tasks").iterdir())
    weights = [load_config(path / "weights.yaml", Weights) for path in (tmp_path / "own", *tasks)]
    assert {one.rule_id for one in weights} == {weights[0].rule_id} and weights[0].rule_id in (0.5, 0.25)


def test_the_command_shows_epochs(data, tmp_path, capsys):
    arguments = options(data, tmp_path / "out", "--algorithm", "3", "--shards", "2", "--workers", "2", "--seed", "5")
    assert main([*arguments, "--iterations", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["iteration", "score", "chrF++", "training", "updates", "features", "sentences/s"]
    assert len(lines) == 3
    assert main(["explain", "--model", str(tmp_path / "out"), "--top", "3"]) == 0
    assert "rule_id" in capsys.readouterr().out


def test_who_learned_nothing_says_so(data, tmp_path, capsys):
    progress = learn(data, tmp_path / "out", rate=1e-12, iterations=1)
    assert progress.best == 0
    assert main(["explain", "--model", str(tmp_path / "out")]) == 0
    assert "no sparse feature has a weight" in capsys.readouterr().err
    arguments = [f"--model={data / 'model'}", f"--features={tmp_path / 'out'}", f"--output={tmp_path / 'both'}"]
    assert main(["join-features", *arguments]) == 0
    assert "so they would have no effect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings_given", "message"),
    [
        ({"algorithm": 1, "shards": 2}, "algorithm 1 has one shard; give algorithm 2, 3 or 4"),
        ({"algorithm": 3, "task_weights": "own"}, "algorithm 3 does not support; give 4"),
        ({"rates": {"no": 1}}, "'no' is not a feature"),
        ({"algorithm": 5}, "algorithm"),
        ({"tune": {"seeds": [1, 2]}}, r"tune\.seeds has no effect in training"),
        ({"tune": {"method": "online"}}, r"tune\.method is online"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings_given, message):
    with pytest.raises(ConfigError, match=message):
        parse_config(settings_given, RankingConfig, "options")


def test_data_that_do_not_fit_are_refused(data, tmp_path, capsys):
    (tmp_path / "few").write_text("news\n")
    with pytest.raises(Exception, match="1 lines, expected a label for each of 60 sentence pairs"):
        learn(data, tmp_path / "out", tmp_path / "few", shards=0)
    labels = [*(data / "train.tasks").read_text(encoding="utf-8").splitlines(), "news"]
    for name, given, message in (
        ("more", labels, "61 lines, expected a label for each of 60"),
        ("empty", [labels[0], "", *labels[2:-1]], "empty:2: an empty line"),
        ("long", [labels[0], *labels[1:59], "語" * 45], "long:60: .* is too long for the name of a directory"),
    ):
        (tmp_path / name).write_text("\n".join(given), encoding="utf-8")
        with pytest.raises(FormatError, match=message):
            learn(data, tmp_path / f"out-{name}", tmp_path / name, shards=0, task_weights="own")
    with pytest.raises(ConfigError, match="task_weights is own, but there are no tasks; give --tasks"):
        learn(data, tmp_path / "none", task_weights="own")
    with pytest.raises(ConfigError, match="each task is a shard"):
        learn(data, tmp_path / "one", data / "train.tasks", shards=0, algorithm=1)
    with pytest.raises(ConfigError, match="no sentence pair of 1 to 1 source words"):
        learn(data, tmp_path / "short", max_words=1)


def test_configurations_are_settings():
    paper = load_config(ROOT / "configs" / "simianer2012-joint-selection.yaml", RankingConfig)
    assert (paper.algorithm, paper.rate, paper.start, paper.average) == (4, 1e-4, "zero", "epochs")
    written = yaml.safe_load((ROOT / "configs" / "simianer2012-joint-selection.yaml").read_text(encoding="utf-8"))
    assert {*RankingConfig.model_fields} == {*written}
