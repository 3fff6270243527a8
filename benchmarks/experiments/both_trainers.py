"""The perceptron and expected BLEU trained on the same data, and joined: BLEU on development and test sets.

    python -m benchmarks.experiments.both_trainers DATA --output DIRECTORY [--corpus NAME ...] [--seed N ...] [--tables]

Both start from the same tuned model, that of maxforce.py and expected_bleu.py, which may share DIRECTORY. The
perceptron learns from all pairs, with the defaults of train-maxforce. Its sparse features are joined with those of
expected BLEU, as by join-features, and everything is tuned by corpus-level MIRA. With several seeds, the mean of the
perceptron's weights is also scored, alone and joined with expected BLEU's features. Files that exist in DIRECTORY are
not made again.
"""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.experiments.expected_bleu import Work, bootstrapped, make_tuned, read_texts
from benchmarks.experiments.expected_bleu import learn as learn_expected_bleu
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.maxforce.learning import file_of, score_before, scores
from benchmarks.experiments.maxforce.runs import SMALL, TINY, TINY_TUNE
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.base.progress import show_progress
from phrasebeam.training.joining.joined_model import join_features
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.maxforce_model import train_maxforce
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

EXPECTED_BLEU = {  # the run for each corpus; on Multi30k features (a) alone do as well
    "multi30k": "adagrad",
    "ted": "rprop-all",
    "tanaka": "rprop-all",
}
TUNE: dict[str, Any] = SMALL["tune"] | {"iterations": 5}  # to tune everything together


def main() -> None:
    for work in works(parser_of(__doc__, corpus=EXPECTED_BLEU)):
        for seeds in kinds(work.given.seed) if not work.given.tables else ():
            make(work, seeds)
        print_table(work)


def works(parser: ArgumentParser) -> Iterator[Work]:
    """The work on each corpus; unless --tables is given, with its tuned model and that of expected BLEU made."""
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="of the perceptron, ranking and tuning")
    parser.add_argument("--tiny", action="store_true", help="a few sentences, to see that it runs")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    show_progress()
    for corpus in given.corpus:
        work = Work(corpus, EXPECTED_BLEU[corpus], read_texts(corpus, given), given.output, given)
        if not given.tables:
            make_tuned(work)
            score_before(work, work.tuned)
            learn_expected_bleu(work)
            if not alone(work).exists():
                write(alone(work), dict(scores(work.path("model"), work.texts, alone(work))))
        yield work


def kinds(seeds: list[int]) -> list[list[int]]:
    """Each seed alone; and all seeds together, if there are several."""
    return [[seed] for seed in seeds] + ([seeds] if len(seeds) > 1 else [])


def alone(work: Work) -> Path:
    return work.output / f"{work.corpus}.both.expected-bleu.json"


def file_of_seeds(work: Work, seeds: list[int]) -> Path:
    return work.output / f"{work.corpus}.both.{'-'.join(map(str, seeds))}.json"


def make(work: Work, seeds: list[int]) -> None:
    """Make the perceptron's model and the joined one, and score them, unless that has been done."""
    path = file_of_seeds(work, seeds)
    if path.exists():
        return
    tiny, tune = (TINY, TINY_TUNE) if work.given.tiny else ({}, {})
    more: dict[str, Any] = {"threads": work.given.threads, "seeds": seeds, "tune": SMALL["tune"] | tune}
    config = parse_config(SMALL | tiny | more, MaxforceConfig, "settings")
    perceptron = work.output / f"{work.corpus}.both.perceptron"  # keeps the weights of each seed, for their mean
    trained = train_maxforce(work.tuned, work.texts.training, work.texts.sets["dev"], perceptron, config)
    curves = {seed: [epoch.score for epoch in progress.iterations] for seed, progress in trained.progress.items()}
    found = scores(perceptron, work.texts, path, "perceptron_")
    joined = path.with_suffix(".joined")
    join_features(work.path("model"), perceptron, joined)
    both = path.with_suffix(".tuned")
    settings = TUNE | {"seeds": seeds[:1], "threads": work.given.threads} | tune
    tune_model(joined, work.texts.sets["dev"], both, parse_config(settings, TuneConfig, "settings"))
    write(path, {"curves": curves} | found | scores(both, work.texts, path, "both_"))


def print_table(work: Work) -> None:
    """Print a row for each model."""
    if not alone(work).exists():
        return
    before = file_of(work.output, work.corpus, "tuned")
    rows = [["", "dev", "test", "p"], row(work, "tuned", before), row(work, "expected BLEU", alone(work))]
    for seeds in kinds(work.given.seed):
        path = file_of_seeds(work, seeds)
        if path.exists():
            if len(seeds) == 1:
                curve = json.loads(path.read_text())["curves"][str(seeds[0])]
                print(f"{work.corpus}, seed {seeds[0]}, perceptron: " + ", ".join(f"{one:.2f}" for one in curve))
            what = "seed" if len(seeds) == 1 else "mean of seeds"
            rows += rows_of(work, f"{what} {', '.join(map(str, seeds))}", path)
    print(f"\n### {work.corpus}\n\n{table(rows)}", flush=True)


def rows_of(work: Work, what: str, path: Path) -> list[list[str]]:
    return [row(work, f"{name}, {what}", path, f"{name}_") for name in ("perceptron", "both")]


def row(work: Work, name: str, path: Path, kind: str = "") -> list[str]:
    """BLEU on both sets, and the significance of the test set's difference to the tuned model."""
    found, before = json.loads(path.read_text()), file_of(work.output, work.corpus, "tuned")
    texts = before.with_suffix(".test"), path.with_suffix(f".{kind}test")
    p_value = bootstrapped(*texts, work.texts) if path != before else ""
    return [name, *(f"{found[f'{kind}{one}']:.2f}" for one in ("dev", "test")), p_value]


if __name__ == "__main__":
    main()
