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
        for name in ("phrasebeam", "lm", "decoder", "training", "server", "configs"):
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

    def list(self, name, old, new):
        """Name the new thing in a list, which is no place that one has to look into."""
        touched = {*self.touched}
        self.replace(name, old, new)
        self.touched = touched

    def append(self, name, text):
        """Add to the end of a file."""
        self.write(name, (self.folder / name).read_text() + text)

    def run(self, *arguments, text=""):
        """What the command prints, given `text` on standard input."""
        return self.python("-m", "phrasebeam", *map(str, arguments), text=text)

    def python(self, *arguments, text=""):
        """What Python prints."""
        assert len(self.touched) <= MOST_FILES
        variables = os.environ | {"PYTHONPATH": str(self.folder), "NUMBA_DISABLE_JIT": "1"}
        command = [sys.executable, "-P", *arguments]
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
    kernels, first = "decoder/sparse/template_kernels.py", "    if sparse.active[INDEX.rule_id]:\n"
    asked = "    if sparse.active[INDEX.last_word] and size > 0:\n"
    word = "np.int64(target_class(sparse, sentence.synthetic, np.int64(words[size - 1]), WORD))"
    fired = f"{asked}        fire(fired, INDEX.last_word, combine(START, {word}), ONE)\n"
    copy.replace(kernels, first, fired + first)
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
    """In each trainer; it keeps a column of its own."""
    rules = "training/online/update_rules.py"
    copy.replace(
        rules,
        'RuleName = Literal["perceptron", ',
        """class SignColumns(NamedTuple):
    fired: Annotated[np.ndarray, array(np.int64, "N", fill=1)]


class Signs(UpdateRule):
    columns: ClassVar[type] = SignColumns

    def step(self, learned, directions, batch):
        for one in directions:
            signs = self.settings.rates.dense * np.sign(one.dense)
            slots = learned.slots_of(one.keys)
            learned.columns_of(SignColumns)[1].fired[slots] += 1
            learned.add(signs, one.keys, 0.1 * np.sign(one.values), one.groups)


RuleName = Literal["signs", "perceptron", """,
    )
    copy.replace(rules, '    "adagrad": AdaGrad,\n', '    "adagrad": AdaGrad,\n    "signs": Signs,\n')
    quick = {"rule": "signs", "templates": {"rule_id": True}}
    online = {"method": "online", "iterations": 1, "nbest": 5, "online": quick | {"rate": 0.125}}
    lists = {"iterations": 1, "nbest": 5, "sentences": 10, "tune": None, "search": {"max_phrase_length": 1}}
    tuned(copy, data, tmp_path / "online", online)
    copy.run(*training(data, "train-maxforce", tmp_path / "maxforce", PERCEPTRON | {"rule": "signs"}))
    copy.run(*training(data, "train-ranking", tmp_path / "ranking", lists | quick))
    for shard in ("online/tuning/seed-1", "maxforce/maxforce/seed-1", "ranking/ranking"):
        with np.load(tmp_path / shard / "shard-0.npz") as arrays:
            values, fired = arrays["values"], arrays["sparse_fired"]
        assert values.size and np.allclose(values / 0.1, np.round(values / 0.1))
        assert (fired > np.abs(values / 0.1)).all()


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
    methods = "training/tuning/methods/registry.py"
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
        "phrasebeam/api/count_pairs.py",
        '"""count_pairs: the size of a phrase table."""\n\n'
        "from phrasebeam.api.arguments import Model\n"
        "from phrasebeam.base.options import described\n"
        "from phrasebeam.decoder.model.model import open_model\n\n\n"
        "@described()\n"
        "def count_pairs(model: Model) -> int:\n"
        '    """Count the phrase pairs of a model."""\n'
        "    return int(open_model(model).tables.phrases.joint_counts.size)\n",
    )
    line = "from .api.cluster import cluster as cluster\n"
    copy.list("phrasebeam/__init__.pyi", line, line + "from .api.count_pairs import count_pairs as count_pairs\n")
    copy.list("phrasebeam/cli.py", '"check-model"', '"check-model", "count-pairs"')
    assert int(copy.run("count-pairs", "--model", data / "model")) > 0
    assert "Model directory" in copy.run("count-pairs", "--help")


def test_a_stage_of_a_recipe(copy, data, tmp_path):
    """One without a section of settings, which changes a weight."""
    copy.write(
        "training/recipe/penalty_stage.py",
        '''"""A stage that chooses the word penalty."""

from typing import Literal

from phrasebeam.decoder.model.model import open_model
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.recipe.stage import RecipeStage, scores_of, translated, write_changed


class PenaltyStage(RecipeStage):
    """The word penalty that is best on the development data."""

    kind: Literal["word-penalty"]
    tried: list[float]

    def decodings(self, sentences):
        return len(self.tried) * sentences["development"]

    def run(self, work):
        model, scores = open_model(work.model), {}
        for penalty in self.tried:
            weights = model.weights.model_copy(update={"word_penalty": penalty})
            decoder = Decoder(model, weights=weights)
            scores[penalty] = scores_of(translated(decoder, work.tuning, work.threads), work.tuning).bleu, weights
        best = max(scores, key=lambda penalty: scores[penalty][0])
        write_changed(work.model, work.output, Making("word-penalty", {"word_penalty": best}), scores[best][1])
''',
    )
    recipe = "training/recipe/recipe.py"
    line = "from phrasebeam.training.recipe.recipe_data import TwinSettings\n"
    copy.replace(recipe, line, "from phrasebeam.training.recipe.penalty_stage import PenaltyStage\n" + line)
    copy.replace(recipe, "    BuildStage | TuneStage", "    PenaltyStage | BuildStage | TuneStage")
    build = {"language_model": {"order": 2}, "phrases": {"max_length": 2}}
    stages = [{"kind": "train-model", "settings": build}, {"kind": "word-penalty", "tried": [9.0, -9.0]}]
    given = tmp_path / "recipe.yaml"
    given.write_text(yaml.safe_dump({"held_out": 0, "twins": {"left_out_of": "nothing"}, "stages": stages}))
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target"}
    options = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    table = copy.run("train", *options, "--recipe", given, "--threads", 1, "--output", tmp_path / "out")
    assert "word-penalty" in table
    made = tmp_path / "out" / "recipe" / "stages" / "word-penalty"
    assert yaml.safe_load((made / "weights.yaml").read_text())["word_penalty"] in (9.0, -9.0)
    copy.run("check-model", made)


def test_an_endpoint(copy, data):
    copy.write(
        "server/routes/unknown.py",
        '''"""GET /v1/unknown: which words a model does not know."""

from fastapi import APIRouter

from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["models"])


@router.get("/v1/unknown")
async def unknown(text: str, service: Serving) -> list[str]:
    """The words of a text that the model has never seen."""
    words, vocabulary = text.split(), service.models.get(None).decoder.model.source
    return [word for word, one in zip(words, vocabulary.ids(words).tolist()) if one < 0]
''',
    )
    app = "server/app.py"
    copy.replace(app, "    translate,\n)\n", "    translate,\n    unknown,\n)\n")
    copy.replace(app, "models, metrics, moses_rpc))", "models, metrics, moses_rpc, unknown))")
    script = (
        "import pathlib, sys; from fastapi.testclient import TestClient; from phrasebeam.server.app import create_app\n"
        "app = create_app({'toy': pathlib.Path(sys.argv[1])})\n"
        "with TestClient(app, base_url='http://localhost') as client: print(client.get('/v1/unknown?text=a+zz').text)"
    )
    assert copy.python("-c", script, str(data / "model")) == '["zz"]\n'


def test_a_score_of_phrase_pairs(copy, data, tmp_path):
    scoring = "training/model_building/piece_scoring.py"
    line = "    ln_scores[:, 2] = np.log(joint_counts"
    copy.replace(scoring, line, "    ln_scores[:, 4] = np.log(joint_counts)\n" + line)
    copy.replace("training/model_building/config.py", "N_SCORES = 4 ", "N_SCORES = 5 ")
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    given = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    copy.run("train-model", *given, "--threads", 1, "--output", tmp_path / "model")
    scores = np.load(tmp_path / "model" / "phrases" / "ln_scores.npy")
    counts = np.load(tmp_path / "model" / "phrases" / "joint_counts.npy")
    assert scores.shape[1] == 5 and np.allclose(scores[:, 4], np.log(counts))
    settings = {"iterations": 1, "nbest": 5, "sentences": 10, "tune": None, "templates": {"rule_id": True}}
    learned = training(data, "train-ranking", tmp_path / "out", settings)  # leaves a sentence pair out
    learned[learned.index("--model") + 1] = tmp_path / "model"
    copy.run(*learned)
    assert len(yaml.safe_load((tmp_path / "out" / "weights.yaml").read_text())["translation"]) == 5
    lists = ("--nbest", 1, "--nbest-output", "-")
    assert copy.run("translate", "--model", tmp_path / "out", *lists, text="a k\n")
    copy.run("check-model", tmp_path / "out")
