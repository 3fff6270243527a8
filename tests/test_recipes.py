"""The recipes of ARCHITECTURE.md, each followed in a copy of the package: the new thing is there, by at most two files.

Nothing is compiled here: the data are small, and other kernels would take longer to compile than to run uncompiled.
"""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml

from tests import ROOT
from tests.training.maxforce.maxforce_toy import make_data

MOST_FILES = 2


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recipes")
    make_data(directory)
    return directory


class Copy:
    """A copy of the package in which additions are tried."""

    def __init__(self, folder):
        self.folder, self.touched = folder, set()
        for name in ("phrasebeam", "lm", "decoder", "training", "configs"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)

    def write(self, name, text):
        """A new file."""
        (self.folder / name).write_text(text)
        self.touched.add(name)

    def replace(self, name, old, new):
        """Change a place of a file that occurs once."""
        text = (self.folder / name).read_text()
        assert text.count(old) == 1, (name, old, text.count(old))
        (self.folder / name).write_text(text.replace(old, new))
        self.touched.add(name)

    def append(self, name, text):
        """Add to the end of a file."""
        self.write(name, (self.folder / name).read_text() + text)

    def run(self, *arguments, text=""):
        """What the command prints, given `text` on standard input."""
        assert len(self.touched) <= MOST_FILES
        variables = os.environ | {"PYTHONPATH": str(self.folder), "NUMBA_DISABLE_JIT": "1"}
        command = [sys.executable, "-P", "-m", "phrasebeam", *map(str, arguments)]
        done = subprocess.run(
            command, env=variables, cwd=self.folder, capture_output=True, text=True, check=False, input=text
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "copy")


def training(data, command, output, settings):
    """The arguments of a trainer."""
    config = output.parent / "settings.yaml"
    config.write_text(yaml.safe_dump(settings))
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target", "model": "model"}
    given = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    return [command, *given, "--output", output, "--config", config]


PERCEPTRON = {
    "templates": {"rule_id": True},
    "rates": {"rule_id": 1.0},
    "iterations": 1,
    "sentences": 10,
    "threads": 1,
    "search": {"stack": 5, "max_phrase_length": 1},
}


def tuned(copy, data, output, settings):
    """The arguments of tune, with settings; one iteration."""
    config = output.parent / "tune.yaml"
    config.write_text(yaml.safe_dump({"iterations": 1, "nbest": 5, "mira_batch": {"epochs": 2}} | settings))
    dev = ("--source", data / "dev.source", "--reference", data / "dev.target")
    return copy.run("tune", "--model", data / "model", *dev, "--config", config, "--output", output)


def test_a_dense_feature_of_phrase_pairs(copy, data, tmp_path):
    pair = "decoder/features/pair.py"
    last = '    DenseFeature("unique_rule", "1 for each phrase pair that was extracted once", needs_counts=True),\n'
    copy.replace(pair, last, last + '    DenseFeature("target_longer", "1 where the target side has more words"),\n')
    index = 'UNIQUE_RULE = np.int64(names_of(PAIR_FEATURES).index("unique_rule"))\n'
    copy.replace(
        pair, index, index + index.replace("UNIQUE_RULE", "TARGET_LONGER").replace("unique_rule", "target_longer")
    )
    value = "    if feature == TARGET_LONGER:\n        return 1.0 if target_length > source_length else 0.0\n"
    copy.replace(pair, "    return np.nan\n", value + "    return np.nan\n")
    tuned(copy, data, tmp_path / "out", {"add": {"target_longer": True}})
    weights = yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    assert isinstance(weights["target_longer"], float)
    lists = ("--nbest", 1, "--nbest-output", "-")
    fields = copy.run("translate", "--model", tmp_path / "out", *lists, text="a k\n").split(" ||| ")
    longer = sum(len(phrase.split()) > 1 for phrase in fields[1:2])
    assert f"target_longer= {longer}" in fields[2].replace("TargetLonger", "target_longer")


REPEATED_WORDS = '''"""Repeated words: how many target words are the same as the word before them."""

import numpy as np

from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.stateful_feature import StatefulFeature, target_span
from phrasebeam.kernels.jit import inlined_kernel


@inlined_kernel
def _n_repeated(words, first, end, last):
    count = 0
    for i in range(first, end):
        count += words[i] == last
        last = np.int64(words[i])
    return count


@inlined_kernel
def _score(space, step, column, is_monotone):
    first, end = target_span(space.options, step.option)
    last = space.histories.columns[step.history, column]
    return space.weights.repeated_words * _n_repeated(space.options.words, first, end, last)


@inlined_kernel
def _follow(space, step, column):
    first, end = target_span(space.options, step.option)
    last = space.histories.columns[step.history, column]
    space.histories.row[column] = np.int64(space.options.words[end - 1]) if first < end else last
    return True


@inlined_kernel
def _add_value(tables, sentence, space, phrase, features):
    first, words = phrase.position, space.words
    last = np.int64(words[first - 1]) if first > 0 else np.int64(-1)
    features[space.places.repeated_words] += _n_repeated(words, first, first + phrase.size, last)


REPEATED_WORDS = StatefulFeature(
    "repeated_words",
    DenseFeature("repeated_words", "number of target words that are the same as the one before"),
    _add_value,
    n_columns=1,  # the last target word, -1 at the start
    score=_score,
    follow=_follow,
)
'''


def test_a_dense_feature_with_history(copy, data, tmp_path):
    copy.write("decoder/features/repeated_words.py", REPEATED_WORDS)
    stateful = "decoder/features/stateful.py"
    last = "from phrasebeam.decoder.features.sparse_history import SPARSE_HISTORY\n"
    new = last.replace("sparse_history", "repeated_words").replace("SPARSE_HISTORY", "REPEATED_WORDS")
    copy.replace(stateful, last, new + last)
    copy.replace(stateful, "SPARSE_HISTORY, OPERATIONS)", "SPARSE_HISTORY, OPERATIONS, REPEATED_WORDS)")
    tuned(copy, data, tmp_path / "out", {"add": {"repeated_words": True}})
    path = tmp_path / "out" / "weights.yaml"
    weights = yaml.safe_load(path.read_text())
    assert isinstance(weights["repeated_words"], float)
    weights["repeated_words"] = -0.7
    path.write_text(yaml.safe_dump(weights))
    model, line = ("--model", tmp_path / "out"), "a a a k a a b\n"
    for algorithm in ("stack", "cube"):
        lists = ("--nbest", 20, "--nbest-output", "-", "--algorithm", algorithm)
        found = copy.run("translate", *model, *lists, text=line).splitlines()
        assert len({check_repeated_words(entry, weights) for entry in found}) > 1
    _, text, _, score = found[0].split(" ||| ")
    (tmp_path / "source").write_text(line)
    (tmp_path / "target").write_text(f"{text}\n")
    files = ("--source", tmp_path / "source", "--reference", tmp_path / "target", "--output", tmp_path / "forced")
    copy.run("forced-decode", *model, *files)
    forced = yaml.safe_load((tmp_path / "forced").read_text())
    assert forced["score"] >= float(score) - 1e-4
    assert forced["score"] == pytest.approx(dot(weights, forced["features"]), abs=1e-4)


def dot(weights, features):
    """The score by the weights and values of features, by their names."""
    return sum(float(np.sum(np.multiply(weights[name], value))) for name, value in features.items())


def check_repeated_words(entry, weights):
    """The value of the feature in an entry of an n-best list, which is as the text says, and the score as all say."""
    _, text, values, score = entry.split(" ||| ")
    words, features, name = text.split(), {}, ""
    for part in values.split():
        name = part.removesuffix("=") if part.endswith("=") else name
        if not part.endswith("="):
            features.setdefault(name, []).append(float(part))
    assert features["repeated_words"] == [sum(map(str.__eq__, words, words[1:]))]
    assert float(score) == pytest.approx(dot(weights, features), abs=1e-3)
    return features["repeated_words"][0]


def test_a_sparse_template(copy, data, tmp_path):
    templates = "decoder/sparse/templates.py"
    group = '    SparseGroup("rule_id", "the phrase pair", "rule", lambda context: [context.rule], rate=1.0),\n'
    names = "lambda context: [context.target[-1]] if context.target else []"
    new = f'    SparseGroup("last_word", "the last target word", "rule", {names}, rate=1.0),\n'
    copy.replace(templates, group, group + new)
    index = 'RULE_ID = np.int64(GROUPS.index("rule_id"))\n'
    copy.replace(templates, index, index + index.replace("RULE_ID", "LAST_WORD").replace("rule_id", "last_word"))
    first = "    if sparse.active[RULE_ID]:\n"
    asked = "    if sparse.active[LAST_WORD] and size > 0:\n"
    word = "np.int64(target_class(sparse, sentence.synthetic, np.int64(words[size - 1]), WORD))"
    copy.replace(templates, first, f"{asked}        fire(fired, LAST_WORD, combine(START, {word}), ONE)\n{first}")
    settings = PERCEPTRON | {"templates": {"last_word": True}, "rates": {"last_word": 1.0}}
    copy.run(*training(data, "train-maxforce", tmp_path / "out", settings | {"update": "local"}))
    assert "last_word" in yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())
    with np.load(tmp_path / "out" / "maxforce" / "seed-1" / "shard-0.npz") as checkpoint:
        assert checkpoint["keys"].size > 0
    fields = copy.run("translate", "--model", tmp_path / "out", "--nbest", 1, "--nbest-output", "-", text="a k\n")
    assert "last_word= " in fields


def test_a_metric(copy, data, tmp_path):
    definitions = "training/metrics/definitions.py"
    copy.replace(definitions, 'Literal["bleu", ', 'Literal["bleu", "bleu-13a", ')
    copy.replace(
        definitions,
        "METRICS: dict[str, MetricDefinition] = {\n",
        'METRICS: dict[str, MetricDefinition] = {\n    "bleu-13a": MetricDefinition(\n'
        '        lambda options, references: BLEU(tokenize="13a", force=True, references=references),\n'
        "        BLEU_KIND,\n        n_statistics=10,\n    ),\n",
    )
    tuned(copy, data, tmp_path / "out", {"metric": "bleu-13a"})
    files = ("--hypothesis", data / "dev.target", "--reference", data / "dev.target")
    assert "100.0" in copy.run("evaluate", *files, "--metric", "bleu-13a")


def test_an_update_strategy(copy, data, tmp_path):
    updates = "training/maxforce/updates.py"
    copy.replace(
        updates,
        "\nUPDATES:",
        '\ndef first(bins: Bins, phrase_limit: int) -> Update | None:\n    """The first bin with a violation."""\n'
        "    violated = np.flatnonzero(bins.bad >= bins.good)\n"
        "    return Update(int(violated[0])) if violated.size else None\n\n\nUPDATES:",
    )
    copy.replace(updates, 'Strategy = Literal["early", ', 'Strategy = Literal["first", "early", ')
    copy.replace(updates, '    "early": early,\n', '    "first": first,\n    "early": early,\n')
    copy.run(*training(data, "train-maxforce", tmp_path / "out", PERCEPTRON | {"update": "first"}))
    assert yaml.safe_load((tmp_path / "out" / "model.yaml").read_text())["settings"]["maxforce"]["update"] == "first"


def test_an_update_rule(copy, data, tmp_path):
    rules = "training/online/update_rules.py"
    copy.replace(
        rules,
        'RuleName = Literal["perceptron", ',
        """@dataclass(frozen=True)
class Signs:
    is_adaptive: ClassVar[bool] = False
    settings: RuleSettings

    def step(self, learned, directions, batch):
        for one in directions:
            signs = self.settings.rates.dense * np.sign(one.dense)
            learned.add(signs, one.keys, 0.1 * np.sign(one.values), one.groups)

    def settle(self, learned):
        pass


RuleName = Literal["signs", "perceptron", """,
    )
    copy.replace(rules, '    "adagrad": AdaGrad,\n', '    "adagrad": AdaGrad,\n    "signs": Signs,\n')
    online = {"rule": "signs", "rate": 0.125, "templates": {"rule_id": True}}
    config = tmp_path / "config"
    config.write_text(yaml.safe_dump({"method": "online", "iterations": 1, "nbest": 5, "online": online}))
    files = ("--source", data / "dev.source", "--reference", data / "dev.target")
    copy.run("tune", "--model", data / "model", *files, "--output", tmp_path / "out", "--config", config)
    values = np.load(tmp_path / "out" / "tuning" / "seed-1" / "shard-0.npz")["values"]
    assert values.size and np.allclose(values / 0.1, np.round(values / 0.1))


def test_an_optimizer(copy, data, tmp_path):
    copy.replace(
        "training/expected_bleu/optimizers.py",
        "\nOPTIMIZERS:",
        "\ndef signs(weights: np.ndarray, gradient: np.ndarray, state: State, steps: Steps) -> None:\n"
        '    """Steps of one size along the sign of the gradient."""\n'
        "    weights += steps.rprop.initial_step * np.sign(gradient)\n\n\nOPTIMIZERS:",
    )
    copy.replace("training/expected_bleu/optimizers.py", '"sgd": sgd}', '"sgd": sgd, "signs": signs}')
    copy.replace("training/expected_bleu/config.py", '"adagrad", "sgd", "gt"]', '"adagrad", "sgd", "signs", "gt"]')
    settings = {"optimizer": "signs", "iterations": 1, "sentences": 10, "nbest": 5, "threads": 1}
    copy.run(*training(data, "train-expected-bleu", tmp_path / "out", settings | {"search": PERCEPTRON["search"]}))
    assert (tmp_path / "out" / "phrases" / "ln_scores.npy").exists()


def test_a_tuning_method(copy, data, tmp_path):
    copy.write(
        "training/tuning/methods/walk.py",
        '"""A random walk, kept where it is better."""\n\n'
        "import numpy as np\nfrom pydantic import Field\n\n"
        "from phrasebeam.base.config import Section\n"
        "from phrasebeam.training.tuning.methods.problem import Optimum, Problem\n\n\n"
        'class Walk(Section):\n    """A random walk."""\n\n    steps: int = Field(10, ge=1, description="tried")\n\n\n'
        "def walk(problem: Problem, settings: Walk) -> Optimum:\n"
        '    """The best of some steps from the start."""\n'
        "    tried = [problem.start]\n"
        "    for _ in range(settings.steps):\n"
        "        tried.append(problem.start + problem.tunable * problem.rng.normal(0, 0.1, problem.start.size))\n"
        "    best = int(np.argmax([problem.score_of(weights) for weights in tried]))\n"
        "    return Optimum(tried[best], settings.steps, best)\n",
    )
    methods = "training/tuning/methods/methods.py"
    copy.replace(methods, '    "mert": mert,\n', '    "mert": mert,\n    "walk": walk,\n')
    copy.replace(methods, 'Literal["mert", ', 'Literal["mert", "walk", ')
    copy.replace(methods, "    mert: Mert = Mert()\n", "    mert: Mert = Mert()\n    walk: Walk = Walk()\n")
    copy.replace(
        methods,
        "methods.problem import Optimum, Problem\n",
        "methods.problem import Optimum, Problem\nfrom phrasebeam.training.tuning.methods.walk import Walk, walk\n",
    )
    assert "seed-1" in tuned(copy, data, tmp_path / "out", {"method": "walk", "walk": {"steps": 3}})


def test_a_command(copy, data):
    copy.write(
        "decoder/model/pairs_command.py",
        '"""The command `count-pairs`."""\n\n'
        "from pathlib import Path\nfrom typing import Annotated\n\nimport typer\n\n"
        "from phrasebeam.decoder.model.model import open_model\n\n\n"
        'def count_pairs(model: Annotated[Path, typer.Option(help="Model directory.")]) -> None:\n'
        '    """Print how many phrase pairs a model has."""\n'
        "    print(open_model(model).tables.phrases.joint_counts.size)\n",
    )
    line = '        "check-model": ('
    new = '        "count-pairs": ("phrasebeam.decoder.model.pairs_command", "count_pairs"),\n'
    copy.replace("phrasebeam/cli.py", line, new + line)
    assert int(copy.run("count-pairs", "--model", data / "model")) > 0
