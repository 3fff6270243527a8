"""The command tune: models that translate better, runs that go on when killed, and what is refused."""

import collections
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib import import_module

import numpy as np
import pytest
import yaml

from phrasebeam.base.config import load_config
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.cli import main
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.sparse_files import save_templates
from phrasebeam.decoder.sparse.sparse_weights import add_weights, new_sparse_weights, save_sparse_weights, used
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.metrics.metric import make_metric
from phrasebeam.training.nbest.nbest_store import NbestStore
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.run_state import TuningProgress, TuningRun
from phrasebeam.training.tuning.tune import RunSettings, Tuner
from phrasebeam.training.tuning.tune_model import tune_model
from tests import ROOT
from tests.decoder.models import assert_sound, random_toy
from tests.training.common.curves import read_curve

METHODS = ["mert", "pro", "mira-chiang", "mira-batch", "mira-corpus"]
SOURCES = ["a b c", "b d a a", "x", "c b", "a b d", "d d c a", "b", ""] * 2
QUICK = {
    "nbest": 20,
    "iterations": 3,
    "mert": {"restarts": 1, "directions": 1},
    "mira_batch": {"epochs": 3},
    "mira_chiang": {"epochs": 3},
    "mira_corpus": {"epochs": 10, "c": 0.1},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A toy model, and references that are not what it translates by its own weights, but in its lists."""
    directory = tmp_path_factory.mktemp("tune")
    model = random_toy(directory / "model", 7, most=3).directory
    decoder = Decoder.load(model)
    lists = [decoder.nbest(line, 20, distinct=True) for line in SOURCES]
    (directory / "source").write_text("".join(f"{line}\n" for line in SOURCES))
    (directory / "reference").write_text("".join(f"{nbest[len(nbest) // 2].text}\n" for nbest in lists))
    (directory / "config").write_text(yaml.safe_dump(QUICK))
    return directory


def test_the_weight_of_lattices_is_tuned_on_lattices(data, tmp_path, capsys):
    shutil.copytree(data / "model", tmp_path / "model")
    weights = yaml.safe_load((tmp_path / "model" / "weights.yaml").read_text()) | {"input_score": 0.1}
    (tmp_path / "model" / "weights.yaml").write_text(yaml.safe_dump(weights))
    nodes = [[[(word, 0.2, 1), ("d", 0.8, 1)] for word in line.split()] for line in SOURCES]
    (tmp_path / "source").write_text("".join(f"{tuple(map(tuple, arcs))}\n" for arcs in nodes))
    (tmp_path / "config").write_text(yaml.safe_dump(QUICK | {"source_format": "plf"}))
    given = ["--model", "model", "--source", "source", "--config", "config", "--output", "out"]
    given = [part if part.startswith("--") else str(tmp_path / part) for part in given]
    assert main(["tune", *given, "--reference", str(data / "reference")]) == 0
    capsys.readouterr()
    assert_sound(tmp_path / "out")
    assert open_model(tmp_path / "out").weights.input_score not in (None, [0.1])
    assert main(["tune", *given, "--reference", str(data / "reference"), "--method", "online"]) == 2
    assert "method online reads only text" in capsys.readouterr().err


def corpus_of(data):
    return BitextFiles(data / "source", [data / "reference"])


def options(data, output, *more):
    names = ("model", "source", "reference", "config")
    given = [part for name in names for part in (f"--{name}", str(data / name))]
    return ["tune", *given, "--output", str(output), *more]


@pytest.mark.parametrize("method", METHODS)
def test_tuned_models_are_models(data, tmp_path, capsys, method):
    test = ("--test-source", str(data / "source"), "--test-reference", str(data / "reference"))
    assert main(options(data, tmp_path / "out", "--method", method, *test)) == 0
    name, before, tuned, chrfpp, tested, test_chrfpp, _, best, *_ = capsys.readouterr().out.splitlines()[1].split()
    assert (name, tested, test_chrfpp) == ("seed-1", tuned, chrfpp)
    assert float(tuned) >= float(before)
    assert_sound(tmp_path / "out")
    decoder = Decoder.load(tmp_path / "out")
    texts = [decoder.translate(line).text for line in SOURCES]
    assert main(["evaluate", "--hypothesis", str(write(tmp_path, texts)), "--reference", str(data / "reference")]) == 0
    description = decoder.model.description
    assert description.settings["tuned_from"] == "toy"
    assert set(description.data) == {"tune source", "tune reference 1"}
    rows = read_curve(tmp_path / "out" / "tuning")
    assert [row["iteration"] for row in rows] == [str(i) for i in range(len(rows))]
    assert rows[0]["list_score"] == "" != rows[1]["list_score"]
    assert float(rows[0]["score"]) == pytest.approx(float(before), abs=0.005)
    assert float(rows[int(best)]["score"]) == pytest.approx(float(tuned), abs=0.005)
    assert max(float(row["score"]) for row in rows) == pytest.approx(float(tuned), abs=0.005)


def test_a_hint_where_tuning_cannot_help(data, tmp_path, capsys):
    reference = write(tmp_path, ["of other sentences"] * len(SOURCES))
    assert main([*options(data, tmp_path / "out", "--iterations", "1"), "--reference", str(reference)]) == 0
    assert "phrasebeam: BLEU is " not in capsys.readouterr().err  # the closer reference counts
    arguments = options(data, tmp_path / "other", "--iterations", "1")
    arguments[arguments.index("--reference") + 1] = str(reference)
    assert main(arguments) == 0
    assert capsys.readouterr().err.endswith(
        "are source and target in the right direction, line by line, and tokenized and cased alike?\n"
    )


def test_seconds_are_those_of_the_clock(data, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "process_time", lambda: 0.0)
    main(options(data, tmp_path / "tuned", "--method", "mert", "--nbest", "4", "--iterations", "1"))
    assert all(iteration.decode_seconds > 0 for iteration in progress_of(tmp_path / "tuned").iterations)


def write(directory, lines):
    path = directory / "lines"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def progress_of(output):
    return load_config(output / "tuning" / "seed-1" / "run.yaml", TuningProgress)


def comparable(output):
    """Everything of a run but how long it took."""
    seconds = ("decode_seconds", "optimize_seconds")
    iterations = [iteration.model_dump(exclude=set(seconds)) for iteration in progress_of(output).iterations]
    weights = [path.read_text() for path in sorted((output / "tuning" / "seed-1").glob("weights.*"))]
    return iterations, weights, (output / "weights.yaml").read_text(), (output / "model.yaml").read_text()


@pytest.mark.needs_jit
def test_a_killed_run_goes_on_to_the_same_weights(data, tmp_path):
    arguments = options(data, tmp_path / "killed", "--method", "mert", "--nbest", "4")
    script = "import sys; from phrasebeam.cli import main; sys.exit(main())"
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL)
    path = tmp_path / "killed" / "tuning" / "seed-1" / "run.yaml"
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and progress_of(tmp_path / "killed").iterations:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.01)
    assert process.returncode == -signal.SIGKILL
    n_done = len(progress_of(tmp_path / "killed").iterations)
    assert n_done >= 1
    assert main(arguments) == 0
    assert main(options(data, tmp_path / "whole", "--method", "mert", "--nbest", "4")) == 0
    assert comparable(tmp_path / "killed") == comparable(tmp_path / "whole")


def test_every_iteration_can_be_the_last_before_a_crash(data, tmp_path):
    config = TuneConfig(**QUICK, method="mira-corpus").model_copy(update={"nbest": 3})
    corpus = corpus_of(data)
    tune_model(data / "model", corpus, tmp_path / "whole", config)
    n_iterations = len(progress_of(tmp_path / "whole").iterations)
    assert n_iterations > 1
    for n in range(1, n_iterations):
        part = tmp_path / f"{n}"
        tune_model(data / "model", corpus, part, config.model_copy(update={"iterations": n}))
        assert len(progress_of(part).iterations) == n + 1  # the last scores only
        tune_model(data / "model", corpus, part, config)
        assert comparable(part)[:3] == comparable(tmp_path / "whole")[:3]


def test_threads_do_not_matter(data, tmp_path):
    for threads in (1, 3):
        config = TuneConfig(**QUICK, method="mert", threads=threads)
        tune_model(data / "model", corpus_of(data), tmp_path / f"{threads}", config)
    assert comparable(tmp_path / "1") == comparable(tmp_path / "3")


def test_several_runs(data, tmp_path, capsys):
    arguments = options(data, tmp_path / "out", "--seed", "1", "2", "--c", "0.1", "1", "--iterations", "1")
    assert main(arguments) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    names = [f"seed-{seed}-c-{c}" for seed in (1, 2) for c in ("0.1", "1")]
    assert [line[0] for line in lines[1:]] == [*names, *["mean", "deviation"] * 2]
    tuned = [float(line[2]) for line in lines[1:5]]
    for i in range(2):  # by C, over the seeds
        assert float(lines[5 + 2 * i][-2]) == pytest.approx((tuned[i] + tuned[2 + i]) / 2, abs=0.011)
        assert float(lines[6 + 2 * i][-2]) == pytest.approx(abs(tuned[i] - tuned[2 + i]) / 2**0.5, abs=0.011)
    weights = Decoder.load(tmp_path / "out").weights
    best = names[tuned.index(max(tuned))]
    assert weights.distortion in [
        yaml.safe_load(path.read_text())["distortion"]
        for path in (tmp_path / "out" / "tuning" / best).glob("weights.*.yaml")
    ]


def test_features_can_be_added(data, tmp_path):
    config = TuneConfig(**QUICK, add={"length_groups": 2, "early_distortion": True})
    tune_model(data / "model", corpus_of(data), tmp_path / "out", config)
    weights = yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    assert len(weights["length_groups"]) == 12
    assert weights["unknown_word_penalty"] == Decoder.load(data / "model").weights.unknown_word_penalty


@pytest.fixture(scope="module")
def sparse_data(data, tmp_path_factory):
    """The same with sparse features: one group with a scale and some weights, one that has no scale yet."""
    directory = tmp_path_factory.mktemp("sparse")
    shutil.copytree(data / "model", directory / "model")
    for name in ("source", "reference", "config"):
        shutil.copyfile(data / name, directory / name)
    save_templates(directory / "model", Templates(rule_id=True, rule_bigram=True))
    weights = yaml.safe_load((directory / "model" / "weights.yaml").read_text())
    (directory / "model" / "weights.yaml").write_text(yaml.safe_dump(weights | {"rule_id": 0.5}))
    (table,) = Decoder.load(directory / "model").nbest_tables(SOURCES[:1], 20, sparse=True)
    keys = np.unique(table.sparse.keys)
    table = new_sparse_weights(keys.size)
    add_weights(table, keys, np.linspace(-0.1, 0.1, keys.size))
    save_sparse_weights(table, directory / "model" / "sparse")
    return directory


def sparse_config(method, **more):
    return TuneConfig(**QUICK, pro={"interpolation": 1.0}, method=method, sparse="weights").model_copy(update=more)


def test_lists_with_sparse_features_score_as_in_the_search(sparse_data, tmp_path):
    corpus = corpus_of(sparse_data)
    tune_model(sparse_data / "model", corpus, tmp_path / "out", sparse_config("mira-batch", iterations=2))
    config = sparse_config("mira-batch")
    settings = RunSettings("seed-1", 1, config)
    run = TuningRun(tmp_path / "out" / "tuning" / "seed-1", progress_of(tmp_path / "out").signature)
    tuner = Tuner(open_model(sparse_data / "model"), read_development(corpus, config), settings, run)
    for number in (2, 1):  # with tuned weights, and with those of the model; a store forgets what it is not asked for
        decoder = tuner.decoder(number - 1)
        store = NbestStore(run.nbest, len(SOURCES), len(decoder.features.names()), tuner.metric.n_statistics, number)
        problem = tuner.problem(number, store, decoder)
        best = problem.scores(problem.start)[problem.best(problem.scores(problem.start))]
        searched = [decoder.translate(line).score for line in SOURCES]
        np.testing.assert_allclose(best, searched, atol=1e-4)
        assert problem.start.size > store.n_dense > problem.tunable[: store.n_dense].sum() + 2
        store.close()


@pytest.mark.parametrize("method", ["mira-chiang", "mira-batch", "pro"])
def test_sparse_weights_can_be_tuned(sparse_data, tmp_path, method):
    before = Decoder.load(sparse_data / "model")
    (result,) = tune_model(
        sparse_data / "model",
        corpus_of(sparse_data),
        tmp_path / "out",
        sparse_config(method),
        corpus_of(sparse_data),
    )
    assert result.score > result.before
    assert result.test_score == result.score
    decoder = Decoder.load(tmp_path / "out")
    texts = [decoder.translate(line).text for line in SOURCES]
    metric = make_metric("bleu", [(sparse_data / "reference").read_text().splitlines()])
    assert metric.corpus_score(metric.statistics(np.arange(len(texts)), texts)) * 100 == pytest.approx(result.score)
    weights = yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    assert (weights["rule_id"], weights["rule_bigram"]) == (0.5, 1.0)
    (old_keys, old_values), (keys, values) = (used(one.model.tables.sparse.weights) for one in (before, decoder))
    assert keys.size > old_keys.size  # bigrams have weights now
    assert not np.isin(old_values, values).all()
    unchanged = Decoder.load(sparse_data / "model").model.tables.sparse.weights
    assert used(unchanged)[1].tolist() == old_values.tolist()  # though the models share files


def test_only_the_most_frequent_sparse_features_get_weights(sparse_data, tmp_path):
    config = sparse_config("pro", iterations=1, most_sparse=5)
    tune_model(sparse_data / "model", corpus_of(sparse_data), tmp_path / "out", config)
    decoder = Decoder.load(sparse_data / "model")
    holders = collections.Counter()  # hypotheses that have a feature
    for table in decoder.nbest_tables(SOURCES, config.nbest, config.distinct, sparse=True):
        holders.update(table.sparse.keys.tolist())
    least = sorted(holders.values(), reverse=True)[4]
    decoders = decoder, Decoder.load(tmp_path / "out")
    before, after = (dict(zip(*map(np.ndarray.tolist, used(one.model.tables.sparse.weights)))) for one in decoders)
    changed = {key for key in holders if before.get(key, 0) != after.get(key, 0)}
    assert 1 <= len(changed) <= 5
    assert all(holders[key] >= least for key in changed)


def test_scales_of_groups_are_dense_weights(sparse_data, tmp_path):
    config = TuneConfig(**QUICK, method="mira-batch")
    tune_model(
        sparse_data / "model",
        corpus_of(sparse_data),
        tmp_path / "out",
        config,
    )
    weights = yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    assert weights["rule_id"] != 0.5
    assert "rule_bigram" not in weights


def test_sparse_weights_that_cannot_be_tuned(data, sparse_data, tmp_path):
    with pytest.raises(ConfigError, match="no sparse features"):
        tune_model(
            data / "model",
            corpus_of(data),
            tmp_path / "out",
            sparse_config("pro"),
        )
    model = tmp_path / "model"
    shutil.copytree(sparse_data / "model", model)
    weights = yaml.safe_load((model / "weights.yaml").read_text())
    (model / "weights.yaml").write_text(yaml.safe_dump(weights | {"rule_id": 0.0}))
    with pytest.raises(ConfigError, match="scale of rule_id is 0"):
        tune_model(model, corpus_of(data), tmp_path / "out", sparse_config("pro"))


def test_mistakes(data, tmp_path):
    source, reference = data / "source", data / "reference"
    config = TuneConfig(**QUICK).model_copy(update={"iterations": 1})
    with pytest.raises(FormatError, match="expected the same number"):
        tune_model(data / "model", BitextFiles(source, [reference, data / "config"]), tmp_path / "out", config)
    with pytest.raises(ConfigError, match="not a model"):
        tune_model(data / "model", BitextFiles(source, [reference]), data, config)
    with pytest.raises(ConfigError, match="is the input model"):
        tune_model(data / "model", BitextFiles(source, [reference]), data / "model", config)
    tune_model(data / "model", BitextFiles(source, [reference]), tmp_path / "out", config)
    other, corpus = config.model_copy(update={"nbest": 7}), BitextFiles(source, [reference])
    with pytest.raises(ConfigError, match="out: a run of tune: nbest was 20, is 7; give --force"):
        tune_model(data / "model", corpus, tmp_path / "out", other)
    tune_model(data / "model", corpus, tmp_path / "out", other, is_forced=True)
    assert_sound(tmp_path / "out")


def test_the_tuned_model_carries_the_search_that_it_was_tuned_with(data, tmp_path):
    model = shutil.copytree(data / "model", tmp_path / "model")
    (model / "search.yaml").write_text("search: {stack: 7}\nmbr: {size: 3}\n")
    config = TuneConfig(**QUICK, method="pro").model_copy(update={"iterations": 1})
    tune_model(model, corpus_of(data), tmp_path / "as-before", config)
    assert (tmp_path / "as-before" / "search.yaml").read_text() == (model / "search.yaml").read_text()
    settings = yaml.safe_load((tmp_path / "as-before" / "tuning" / "work.yaml").read_text())["settings"]
    assert settings["search"]["stack"] == 7
    cube = SearchSettings(algorithm="cube", stack=9)
    tune_model(model, corpus_of(data), tmp_path / "cube", config.model_copy(update={"search": cube}))
    assert Decoder.load(tmp_path / "cube").search_settings == cube
    assert ModelSearch.of(tmp_path / "cube").mbr == MbrSettings(size=3)
    assert_sound(tmp_path / "cube")
    assert "2. `tune`" not in (tmp_path / "cube" / "README.md").read_text()  # the toy does not say how it was made
    assert "1. `tune` (version" in (tmp_path / "cube" / "README.md").read_text()


def test_nothing_gained_is_said(data, tmp_path, capsys):
    names = [name for name, value in Decoder.load(data / "model").model.weights.model_dump().items() if value]
    (tmp_path / "config").write_text(yaml.safe_dump(QUICK | {"fixed": names, "iterations": 1, "method": "mira-corpus"}))
    files = ["--source", data / "source", "--reference", data / "reference", "--config", tmp_path / "config"]
    arguments = [str(word) for word in ["tune", "--model", data / "model", *files, "--output", tmp_path / "out"]]
    for more, status in (([], 0), (["--require-gain"], 3)):
        assert main([*arguments, *more]) == status
        last = capsys.readouterr().out.splitlines()[-1]
        assert last.startswith("nothing gained: the best bleu, "), last


def test_config_files():
    written = yaml.safe_load((ROOT / "configs" / "tune.yaml").read_text(encoding="utf-8"))
    assert written == TuneConfig().model_dump(mode="json")
    tan = load_config(ROOT / "configs" / "tan2013-c-mira.yaml", TuneConfig)
    assert (tan.method, tan.mira_corpus.epochs, tan.add.length_groups) == ("mira-corpus", 400, 10)


@pytest.mark.needs_jit
def test_kernels_are_compiled_once(data, tmp_path):
    rooms = ("tuning", "tuning/methods", "metrics", "nbest")
    paths = [path for room in rooms for path in (ROOT / "training" / room).glob("*.py")]
    modules = [f"phrasebeam.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}" for path in paths]
    for method in METHODS:
        config = TuneConfig(**QUICK, method=method).model_copy(update={"iterations": 1})
        tune_model(data / "model", corpus_of(data), tmp_path / method, config)
    n_compiled = 0
    for module in map(import_module, modules):
        for name, value in vars(module).items():
            signatures = getattr(value, "signatures", ())
            n_compiled += len(signatures)
            assert len(signatures) <= 1, "\n".join([name, *signatures])
    assert n_compiled > 10
