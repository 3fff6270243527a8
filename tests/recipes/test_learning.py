"""Recipes of ARCHITECTURE.md: metrics, updates, optimizers, tuning methods."""

import numpy as np
import yaml

from tests.recipes.package_copy import PERCEPTRON, training, tuned


def test_a_metric(copy, data, tmp_path):
    definitions = "training/metrics/definitions.py"
    copy.replace(
        definitions,
        "_BUILT_IN: dict[str, MetricDefinition] = {\n",
        '_BUILT_IN: dict[str, MetricDefinition] = {\n    "bleu-13a": MetricDefinition(\n'
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
    copy.replace(updates, '    {"early": early, ', '    {"first": first, "early": early, ')
    copy.run(*training(data, "train-maxforce", tmp_path / "out", PERCEPTRON | {"update": "first"}))
    assert yaml.safe_load((tmp_path / "out" / "model.yaml").read_text())["settings"]["maxforce"]["update"] == "first"


def test_an_update_rule(copy, data, tmp_path):
    """In each trainer; it keeps a column of its own."""
    rules = "training/online/update_rules.py"
    copy.replace(
        rules,
        "RULES: dict[str, ",
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


RULES: dict[str, """,
    )
    copy.replace(rules, '    {"perceptron": Perceptron, ', '    {"signs": Signs, "perceptron": Perceptron, ')
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
    copy.replace("training/expected_bleu/config.py", '"adagrad", "sgd", "gt", ', '"adagrad", "sgd", "signs", "gt", ')
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
