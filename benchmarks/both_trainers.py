"""What the perceptron and expected BLEU learn from the same data, together: BLEU on development and test sets.

    python benchmarks/both_trainers.py DATA --output DIRECTORY [--corpus NAME ...] [--seed N ...] [--tables]

Both begin with the same tuned model, that of maxforce.py and expected_bleu_methods.py, which may share DIRECTORY. The
perceptron learns from all pairs, with configs/maxforce-small.yaml. Its sparse features are put beside what expected
BLEU learned, whose weights are multiplied to the size that the perceptron's model has, since the steps of corpus-level
MIRA are meant for weights of one size; and everything is tuned by it. What is in DIRECTORY is not made again.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from expected_bleu_methods import Work, make_tuned, read_texts
from expected_bleu_methods import learn as learn_expected_bleu
from kept_runs import parser_of, write
from maxforce import CORPORA, SMALL, TINY, TINY_TUNE, file_of, score_before, scores
from measure import table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from decoder.config import Weights
from decoder.features.templates import GROUPS
from decoder.translator import Decoder
from lm.config import parse_config, save_config
from lm.files import read_lines
from lm.progress import show_progress
from training.evaluation import EvaluationOptions, evaluate
from training.maxforce.config import MaxforceConfig
from training.maxforce.maxforce_model import train_maxforce
from training.tuning.config import TuneConfig
from training.tuning.tune_model import tune_model

EXPECTED_BLEU = {"multi30k": "adagrad", "ted": "rprop-all"}  # runs; Multi30k learns as much from features (a) alone
KINDS = {"expected BLEU": "", "perceptron": "perceptron_", "both": "both_"}


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA)
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
            for seed in given.seed:
                make(work, seed)
        print_table(work)


def make(work: Work, seed: int) -> None:
    """The perceptron's model and the one with both, and what they are worth, unless that is there."""
    path = work.output / f"{work.corpus}.both.{seed}.json"
    if path.exists():
        return
    more: dict[str, Any] = {"threads": work.given.threads, "seed": seed}
    tune = SMALL["tune"] | {"seeds": [seed]}
    if work.given.tiny:
        more, tune = more | TINY, tune | TINY_TUNE
    config = parse_config(SMALL | more | {"tune": tune}, MaxforceConfig, "settings")
    perceptron, joined, tuned = (path.with_suffix(f".{name}") for name in ("perceptron", "joined", "tuned"))
    development = work.texts.sets["dev"]
    progress = train_maxforce(work.tuned, work.texts.training, development, perceptron, config)
    join(work.path("model"), perceptron, joined)
    settings = tune | {"iterations": tune["iterations"] if work.given.tiny else 5, "threads": work.given.threads}
    tune_model(joined, development, tuned, parse_config(settings, TuneConfig, "settings"))
    found: dict[str, Any] = {"curve": [epoch.score for epoch in progress.epochs]}
    for kind, model in zip(KINDS.values(), (work.path("model"), perceptron, tuned)):
        found |= scores(model, work.texts, path, kind)
    write(path, found)


def join(expected_bleu: Path, perceptron: Path, output: Path) -> None:
    """The first model with the sparse features of the second, both with weights of the second's size."""
    if output.exists():
        shutil.rmtree(output)
    shutil.copytree(expected_bleu, output)
    shutil.copytree(perceptron / "sparse", output / "sparse")
    shutil.copyfile(perceptron / "templates.yaml", output / "templates.yaml")
    weights, others = (Decoder.load(model).model.weights for model in (expected_bleu, perceptron))
    factor = others.language_model[0] / weights.language_model[0]
    update = {name: scaled(value, factor) for name, value in weights if name != "unknown_word_penalty"}
    (output / "weights.yaml").unlink()
    groups = {name: getattr(others, name) for name in GROUPS}
    save_config(Weights.model_validate(weights.model_dump() | update | groups), output / "weights.yaml")


def scaled(value: Any, factor: float) -> Any:
    """A weight, several, or none, times a factor."""
    if isinstance(value, list):
        return [factor * one for one in value]
    return None if value is None else factor * value


def print_table(work: Work) -> None:
    """A row for each model."""
    tuned = file_of(work.output, work.corpus, "tuned")
    if not tuned.exists():
        return
    before = json.loads(tuned.read_text())
    rows = [["", "dev", "test", "p"], ["tuned", f"{before['dev']:.2f}", f"{before['test']:.2f}", ""]]
    for seed in work.given.seed:
        path = work.output / f"{work.corpus}.both.{seed}.json"
        if path.exists():
            found = json.loads(path.read_text())
            print(f"{work.corpus}, seed {seed}, perceptron: " + ", ".join(f"{one:.2f}" for one in found["curve"]))
            for name, kind in KINDS.items():
                scored = [f"{found[f'{kind}{one}']:.2f}" for one in ("dev", "test")]
                p_value = significance(work, tuned, path.with_suffix(f".{kind}test"))
                rows.append([f"{name}, seed {seed}" if kind else name, *scored, p_value])
    rows = [row for i, row in enumerate(rows) if row not in rows[:i]]  # expected BLEU has no seed
    print(f"\n### {work.corpus}\n\n{table(rows)}", flush=True)


def significance(work: Work, before: Path, after: Path) -> str:
    """p of a paired bootstrap on the test set."""
    systems = {str(path): list(read_lines(path)) for path in (before.with_suffix(".test"), after)}
    references = [list(read_lines(path)) for path in work.texts.sets["test"].references]
    options = EvaluationOptions(tokenize="none", paired="bootstrap")
    return f"{evaluate(systems, references, options).results['BLEU'][1].p_value:.3f}"


if __name__ == "__main__":
    main()
