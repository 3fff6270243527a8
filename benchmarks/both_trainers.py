"""What the perceptron and expected BLEU learn from the same data, together: BLEU on development and test sets.

    python benchmarks/both_trainers.py DATA --output DIRECTORY [--corpus NAME ...] [--seed N ...] [--tables]

Both begin with the same tuned model, that of maxforce.py and expected_bleu_methods.py, which may share DIRECTORY. The
perceptron learns from all pairs, with configs/maxforce-small.yaml. Its sparse features are put beside what expected
BLEU learned, whose weights are multiplied to the size that the perceptron's model has, since the steps of corpus-level
MIRA are meant for weights of one size; and everything is tuned by it. Of several seeds, the average of the perceptron's
weights is tuned, too, alone and beside expected BLEU's features. What is in DIRECTORY is not made again.
"""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from expected_bleu_methods import Work, bootstrapped, make_tuned, read_texts
from expected_bleu_methods import learn as learn_expected_bleu
from kept_runs import parser_of, write
from maxforce import SMALL, TINY, TINY_TUNE, file_of, score_before, scores
from measure import table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from decoder.config import Weights
from decoder.features.sparse_weights import (
    add_weights,
    new_sparse_weights,
    open_sparse_weights,
    save_sparse_weights,
    used,
)
from decoder.features.templates import GROUPS
from decoder.translator import Decoder
from lm.config import load_config, parse_config, save_config
from lm.progress import show_progress
from training.maxforce.config import MaxforceConfig
from training.maxforce.maxforce_model import WORK, train_maxforce
from training.tuning.config import TuneConfig
from training.tuning.tune_model import tune_model

EXPECTED_BLEU = {  # runs; Multi30k learns as much from features (a) alone
    "multi30k": "adagrad",
    "ted": "rprop-all",
    "tanaka": "rprop-all",
}
TUNE: dict[str, Any] = SMALL["tune"] | {"iterations": 5}  # of everything


def main() -> None:
    parser = parser_of(__doc__, corpus=EXPECTED_BLEU)
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="of the perceptron, and of tuning")
    parser.add_argument("--tiny", action="store_true", help="a few sentences, to see that it runs")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    show_progress()
    for corpus in given.corpus:
        work = Work(corpus, EXPECTED_BLEU[corpus], read_texts(corpus, given), given.output, given)
        if not given.tables:
            make_tuned(work)
            score_before(work)
            learn_expected_bleu(work)
            if not alone(work).exists():
                write(alone(work), dict(scores(work.path("model"), work.texts, alone(work))))
            for seed in given.seed:
                make(work, seed)
            if len(given.seed) > 1:
                make_average(work)
        print_table(work)


def alone(work: Work) -> Path:
    """Of the numbers of expected BLEU."""
    return work.output / f"{work.corpus}.both.expected-bleu.json"


def file_of_seeds(work: Work, *seeds: int) -> Path:
    """Of the numbers of the perceptron and of both; of several seeds, of their average."""
    return work.output / f"{work.corpus}.both.{'-'.join(map(str, seeds))}.json"


def make(work: Work, seed: int) -> None:
    """The perceptron's model and the one with both, and what they are worth, unless that is there."""
    path = file_of_seeds(work, seed)
    if path.exists():
        return
    more: dict[str, Any] = {"threads": work.given.threads, "seed": seed}
    tiny = TINY if work.given.tiny else {}
    tune = {"tune": SMALL["tune"] | {"seeds": [seed]} | tiny_tune(work)}
    config = parse_config(SMALL | more | tiny | tune, MaxforceConfig, "settings")
    perceptron = path.with_suffix(".perceptron")
    progress = train_maxforce(work.tuned, work.texts.training, work.texts.sets["dev"], perceptron, config)
    curve = {"curve": [epoch.score for epoch in progress.epochs]}
    found = scores(perceptron, work.texts, path, "perceptron_")
    write(path, curve | found | score_joined(work, path, perceptron, seed))


def tiny_tune(work: Work) -> dict[str, Any]:
    """Settings of tuning that --tiny changes."""
    return TINY_TUNE if work.given.tiny else {}


def make_average(work: Work) -> None:
    """The same of the average of all seeds' perceptrons, which is tuned."""
    seeds = work.given.seed
    path = file_of_seeds(work, *seeds)
    if path.exists():
        return
    averaged = path.with_suffix(".averaged")
    average([file_of_seeds(work, seed).with_suffix(".perceptron") for seed in seeds], averaged)
    found = scores(tuned(work, averaged, path.with_suffix(".perceptron"), seeds[0]), work.texts, path, "perceptron_")
    write(path, found | score_joined(work, path, averaged, seeds[0]))


def score_joined(work: Work, path: Path, perceptron: Path, seed: int) -> dict[str, float]:
    """Of the perceptron's features beside expected BLEU's, tuned."""
    joined = path.with_suffix(".joined")
    join(work.path("model"), perceptron, joined)
    return scores(tuned(work, joined, path.with_suffix(".tuned"), seed), work.texts, path, "both_")


def tuned(work: Work, model: Path, output: Path, seed: int) -> Path:
    """`output`, which becomes `model` with tuned dense weights and scales of groups."""
    settings = TUNE | {"seeds": [seed], "threads": work.given.threads} | tiny_tune(work)
    tune_model(model, work.texts.sets["dev"], output, parse_config(settings, TuneConfig, "settings"))
    return output


def average(perceptrons: Sequence[Path], output: Path) -> None:
    """The first model with the means of all models' sparse weights and scales of groups."""
    replace_tree(perceptrons[0], output, WORK)
    kept = [used(open_sparse_weights(model / "sparse")) for model in perceptrons]
    means = new_sparse_weights(sum(keys.size for keys, _ in kept))
    for keys, values in kept:
        add_weights(means, keys, values / len(kept))
    save_sparse_weights(means, output / "sparse")
    weights = [load_config(model / "weights.yaml", Weights) for model in perceptrons]
    scales = {name: [getattr(one, name) for one in weights] for name in GROUPS}
    update = {name: sum(found) / len(found) for name, found in scales.items() if None not in found}
    save_config(weights[0].model_copy(update=update), output / "weights.yaml")


def join(expected_bleu: Path, perceptron: Path, output: Path) -> None:
    """The first model with the sparse features of the second, both with weights of the second's size."""
    replace_tree(expected_bleu, output)
    shutil.copytree(perceptron / "sparse", output / "sparse")
    shutil.copyfile(perceptron / "templates.yaml", output / "templates.yaml")
    weights, others = (Decoder.load(model).model.weights for model in (expected_bleu, perceptron))
    factor = others.language_model[0] / weights.language_model[0]
    update = {name: scaled(value, factor) for name, value in weights if name != "unknown_word_penalty"}
    groups = {name: getattr(others, name) for name in GROUPS}
    save_config(Weights.model_validate(weights.model_dump() | update | groups), output / "weights.yaml")


def replace_tree(model: Path, output: Path, *left_out: str) -> None:
    """Copy `model`, whatever is there."""
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(model, output, ignore=shutil.ignore_patterns(*left_out))


def scaled(value: Any, factor: float) -> Any:
    """A weight, several, or none, times a factor."""
    if isinstance(value, list):
        return [factor * one for one in value]
    return None if value is None else factor * value


def print_table(work: Work) -> None:
    """A row for each model."""
    if not alone(work).exists():
        return
    before = file_of(work.output, work.corpus, "tuned")
    rows = [["", "dev", "test", "p"], row(work, "tuned", before), row(work, "expected BLEU", alone(work))]
    for seed in work.given.seed:
        path = file_of_seeds(work, seed)
        if path.exists():
            curve = json.loads(path.read_text())["curve"]
            print(f"{work.corpus}, seed {seed}, perceptron: " + ", ".join(f"{one:.2f}" for one in curve))
            rows += rows_of(work, f"seed {seed}", path)
    if len(work.given.seed) > 1 and (path := file_of_seeds(work, *work.given.seed)).exists():
        rows += rows_of(work, "mean of seeds " + ", ".join(map(str, work.given.seed)), path)
    print(f"\n### {work.corpus}\n\n{table(rows)}", flush=True)


def rows_of(work: Work, what: str, path: Path) -> list[list[str]]:
    """Of the perceptron alone, and of both."""
    return [row(work, f"{name}, {what}", path, f"{name}_") for name in ("perceptron", "both")]


def row(work: Work, name: str, path: Path, kind: str = "") -> list[str]:
    """BLEU of both sets, and whether that of the test set differs from the tuned model's."""
    found, before = json.loads(path.read_text()), file_of(work.output, work.corpus, "tuned")
    texts = before.with_suffix(".test"), path.with_suffix(f".{kind}test")
    p_value = bootstrapped(*texts, work.texts) if path != before else ""
    return [name, *(f"{found[f'{kind}{one}']:.2f}" for one in ("dev", "test")), p_value]


if __name__ == "__main__":
    main()
