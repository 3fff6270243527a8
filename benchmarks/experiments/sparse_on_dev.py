"""Sparse features tuned on the development set as in Yu et al. (2013, Figure 11 and Table 5): MERT and PRO.

    python -m benchmarks.experiments.sparse_on_dev DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tiny] [--tables]

Runs start from default weights: MERT and PRO with dense weights; PRO with the 3,000 most frequent sparse features, and
with all of them. Sparse features are rule ids, and word edges over Brown classes only, as in the paper. PRO takes the
weights that it finds without averaging them with the previous ones. Models, and a file for each run, are kept in
DIRECTORY, which maxforce.py may share: existing files are not made again, and --tables only prints existing results.
"""

import argparse
import csv
import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.experiments.expected_bleu import BASELINE, SEARCH, Work, make_model, read_texts
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.maxforce.learning import with_classes
from benchmarks.experiments.maxforce.runs import EDGES, SENTENCES
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.base.files import atomic_directory
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.model.description import accept_files
from phrasebeam.decoder.sparse.sparse_weights import used
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.joining.template_union import save_with_classes
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

CLASS_EDGES = EDGES | {"levels": [{"kind": "classes", "budget": 3}, {"kind": "classes", "budget": 2, "prefix": 4}]}
MOST_FREQUENT = 3000
TO_THE_END: dict[str, Any] = {"method": "pro", "pro": {"interpolation": 1.0}}
RUNS: dict[str, dict[str, Any]] = {
    "MERT": {"method": "mert"},
    "PRO, dense": TO_THE_END,
    "PRO, 3000 sparse": TO_THE_END | {"sparse": "weights", "most_sparse": MOST_FREQUENT},
    "PRO, all sparse": TO_THE_END | {"sparse": "weights"},
}
COMMON: dict[str, Any] = {"iterations": 8, "nbest": 100, "min_new": 0.0, "search": SEARCH}
TINY = {"iterations": 2, "nbest": 10}


def main() -> None:
    parser = parser_of(__doc__, corpus=SENTENCES, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="of the pairs that PRO draws, and of MERT")
    parser.add_argument("--tiny", action="store_true", help="a few sentences, to see that it runs")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if not given.tables:
        show_progress()
        for corpus in given.corpus:
            work = Work(corpus, BASELINE, read_texts(corpus, given), given.output, given)
            make_model(work)
            for seed, run in product(given.seed, given.run):
                tune(work._replace(run=run), seed)
    print_table(given)


def file_of(work: Work, seed: int) -> Path:
    return work.output / f"{work.corpus}.on-dev.{work.run.replace(', ', '.').replace(' ', '-')}.{seed}.json"


def tune(work: Work, seed: int) -> None:
    """Make a run and write its scores, unless they exist."""
    path, given = file_of(work, seed), work.given
    if path.exists():
        return
    settings = COMMON | RUNS[work.run] | {"seeds": [seed], "threads": given.threads}
    config = parse_config(settings | (TINY if given.tiny else {}), TuneConfig, "settings")
    model, tuned = work.output / f"{work.corpus}.model", path.with_suffix(".tuned")
    if config.learns_sparse:
        model = with_sparse_features(work, model)
    shutil.rmtree(tuned, ignore_errors=True)
    result = tune_model(model, work.texts.sets["dev"], tuned, config, work.texts.sets["test"])[0]
    with open(tuned / "tuning" / "curve.csv") as file:
        scores = [round(float(row["score"]), 2) for row in csv.DictReader(file)]
    keys = used(Decoder.load(tuned).model.tables.sparse.weights)[0]
    found = {"corpus": work.corpus, "run": work.run, "seed": seed, "scores": scores, "sparse_features": keys.size}
    write(path, found | {"dev": result.score, "test": result.test_score})
    shutil.rmtree(tuned)


def with_sparse_features(work: Work, model: Path) -> Path:
    """The model with templates of sparse features, none of which has a weight yet; it is made unless it exists."""
    output = work.output / f"{work.corpus}.on-dev.model"
    if output.exists():
        return output
    templates = parse_config(with_classes(work, CLASS_EDGES), Templates, "templates")
    with atomic_directory(output) as beside:
        shutil.copytree(model, beside, dirs_exist_ok=True)
        save_with_classes(templates, beside)
        accept_files(beside)
    return output


def print_table(given: argparse.Namespace) -> None:
    """Print BLEU on the development set by iteration (0: before tuning), and on both sets with the best weights."""
    paths = sorted(given.output.glob("*.on-dev.*.json"))
    found = [json.loads(path.read_text()) for path in paths]
    rows = [["corpus", "run", "seed", "dev by iteration", "dev", "test", "sparse features"]]
    for one in sorted(found, key=lambda one: (one["corpus"], list(RUNS).index(one["run"]), one["seed"])):
        curve, sizes = ", ".join(f"{score:.2f}" for score in one["scores"]), f"{one['sparse_features']:,}"
        rows.append(
            [one["corpus"], one["run"], str(one["seed"]), curve, f"{one['dev']:.2f}", f"{one['test']:.2f}", sizes]
        )
    print(table(rows), flush=True)


if __name__ == "__main__":
    main()
