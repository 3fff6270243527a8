"""Distributed ranking as in Simianer et al. (2012, Table 2): algorithms, features, learning on dev and training data.

    python -m benchmarks.experiments.ranking DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--sentences N] [--without-twins] [--epochs N] [--shards N] [--pairs decoded|sequential] [--seed N ...]
        [--tables]

Models made with DATA's alignments, and a file for each run, are kept in DIRECTORY: existing files are not made again,
and --tables only prints existing results. The development set chooses the epoch; runs "on dev" also learn from it. Runs
of the small configuration start from weights tuned by MERT.
"""

import argparse
import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import CORPORA
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.tuning import corpus_files, spread, train_model
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.recipe_texts.recipe_data import TwinSettings
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model
from phrasebeam.training.twins.twins import twins_of_files

FEATURES: dict[str, dict[str, bool]] = {
    "dense": {},
    "id": {"rule_id": True},
    "bigrams": {"source_bigrams": True},
    "shape": {"rule_shape": True},
    "all": {"rule_id": True, "source_bigrams": True, "rule_shape": True},
}
KEEP = 1000, 5000, 20000, 100_000  # numbers of features that algorithm 4 keeps
SEARCH = {"algorithm": "cube", "pop_limit": 200, "stack": 200}
PAPER = {
    "fixed": ["unknown_word_penalty"],
    "rate": 1e-4,
    "start": "zero",
    "average": "epochs",
    "sentence_bleu": "liang",
    "keep_dense": False,
    "templates": None,
    "scales": [1.0],
    "tune": None,
    "search": SEARCH,
}
OF_SENTENCES = {"average": "sentences"}
MARGIN = {"margin": 1.0, "rate": 1e-5}
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    ", mean of sentences": OF_SENTENCES,
    ", margin": OF_SENTENCES | MARGIN,
}
FROM_TUNED = RankingConfig().model_dump(mode="json")
ADAGRAD = {"rule": "adagrad", "rate": 0.001}  # a small step compared with dense weights of 0.1 to 1
ON_DEV = {"leave_one_out": None, "lm_folds": 0}
ON_TRAINING = {"leave_one_out": "drop", "lm_folds": 5}


def _rows() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """(data, features, settings) of each run, by name."""
    rows: dict[str, tuple[str, str, dict[str, Any]]] = {}
    for variant, changed in VARIANTS.items():
        settings = PAPER | changed
        for kind in ("dense", "all"):
            rows[f"1 on dev, {kind}{variant}"] = ("dev", kind, settings | ON_DEV | {"algorithm": 1})
        for algorithm, kind in product((1, 2, 3), FEATURES):
            rows[f"{algorithm}, {kind}{variant}"] = ("train", kind, settings | ON_TRAINING | {"algorithm": algorithm})
        for kind, keep in product(("id", "bigrams", "all"), KEEP):
            of_4 = {"algorithm": 4, "keep": keep}
            rows[f"4, {kind}, {keep} kept{variant}"] = ("train", kind, settings | ON_TRAINING | of_4)
    for algorithm in (1, 2, 3, 4):
        rows[f"small, {algorithm}"] = ("train", "tuned", FROM_TUNED | {"algorithm": algorithm})
    rows["small, 1, no margin"] = ("train", "tuned", FROM_TUNED | {"margin": 0.0, "rate": 0.01})
    rows["small, 1, expected"] = ("train", "tuned", FROM_TUNED | {"loss": "expected", "rate": 0.1})
    rows["small, 1, adagrad, expected"] = ("train", "tuned", FROM_TUNED | ADAGRAD | {"loss": "expected"})
    return rows


RUNS = _rows()
GIVEN = "sentences", "without_twins", "epochs", "shards", "pairs"  # options of the command line
KEYS = "corpus", *GIVEN, "run"  # equal in runs that differ only in their seeds


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--sentences", type=int, default=0, help="of the training data; 0: all")
    parser.add_argument("--without-twins", action="store_true", help="nothing is learned from pairs that have a twin")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--pairs", choices=["decoded", "sequential"], default="decoded")
    parser.add_argument("--shards", type=int, default=0, help="of training data; 0: of 1000 sentences each")
    given = parser.parse_args()
    for seed in [] if given.tables else given.seed:
        for corpus in given.corpus:
            for run in given.run:
                path = given.output / f"ranking.{name_of(corpus, run, seed, given)}.json"
                if not path.exists():
                    write(path, train(corpus, run, seed, given))
    print_table(given.output)


def name_of(corpus: str, run: str, seed: int, given: argparse.Namespace) -> str:
    """The name of a run's files."""
    size = f"{given.sentences}{'.no-twins' * given.without_twins}.{given.shards}.{given.epochs}"
    return f"{corpus}.{size}.{given.pairs}.{run.replace(', ', '.').replace(' ', '-')}.{seed}"


def tuned_model(corpus: str, files: dict[str, Path], output: Path) -> Path:
    """The corpus' model with weights tuned by MERT; it is made unless it exists."""
    model, tuned = output / f"{corpus}-7", output / f"{corpus}-7.mert"
    train_model(files, "dense", model)
    if not tuned.exists():
        config = parse_config({"method": "mert", "iterations": 30, "search": SEARCH}, TuneConfig, "settings")
        tune_model(model, BitextFiles(files["dev_source"], [files["dev_target"]]), tuned, config)
    return tuned


def learned_from(learns_from: str, corpus: str, files: dict[str, Path], given: argparse.Namespace) -> BitextFiles:
    """The sentence pairs that a run learns from.

    Without twins: repeated or almost equal pairs are left out, since leave-one-out cannot hide a pair from its twin.
    """
    if learns_from == "dev":
        return BitextFiles(files["dev_source"], [files["dev_target"]], None)
    left_out = None
    if given.without_twins:
        left_out = given.output / f"{corpus}.data" / "twins"
        twins = twins_of_files(files["source"], files["target"], TwinSettings().share)
        left_out.write_text("".join(f"{line}\n" for line in np.flatnonzero(twins.involved) + 1))
    return BitextFiles(files["source"], [files["target"]], files["alignment"], left_out)


def train(corpus: str, run: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """The result of one run."""
    output, (learns_from, kind, settings) = given.output, RUNS[run]
    files = corpus_files(corpus, given.data, output, has_masks=False)
    model = output / f"{corpus}-7"
    train_model(files, "dense", model)
    if kind == "tuned":
        model = tuned_model(corpus, files, output)
    settings = settings | {"pairs": given.pairs, "seed": seed, "threads": 1, "workers": 1, "iterations": given.epochs}
    if learns_from == "train":
        settings["sentences"] = given.sentences
        settings["shards"] = given.shards if settings["algorithm"] > 1 else 0
    if FEATURES.get(kind):
        settings["templates"] = FEATURES[kind]
    config = parse_config(settings, RankingConfig, "settings")
    text = learned_from(learns_from, corpus, files, given)
    dev, test = (BitextFiles(files[f"{name}_source"], [files[f"{name}_target"]]) for name in ("dev", "test"))
    learned = output / f"ranking.{name_of(corpus, run, seed, given)}.model"
    progress = train_ranking(model, text, dev, learned, config, is_forced=True)
    test_set, best = read_development(test, config), progress.iterations[progress.best]
    found = test_set.score(Decoder.load(learned, config.search))
    learned.with_suffix(".test").write_text("".join(f"{text}\n" for text in found.texts))
    length = 100 * found.n_words / len(files["test_target"].read_text().split())
    shutil.rmtree(learned)
    scores = [round(one.score, 2) for one in progress.iterations]
    speed = max(one.speed for one in progress.iterations)
    features = max(one.features for one in progress.iterations)
    print(f"{corpus}, {run}, {seed}: {scores}, test {found.score:.2f}, {length:.1f} %, {speed:.0f}/s", flush=True)
    of_run = {name: getattr(given, name) for name in GIVEN}
    of_run |= {"corpus": corpus, "run": run, "seed": seed, "best": progress.best, "dev": best.score}
    return of_run | {"test": found.score, "length": length, "features": features, "scores": scores, "speed": speed}


def print_table(output: Path) -> None:
    """Print BLEU by run, with means and deviations over seeds."""
    found = [json.loads(path.read_text()) for path in sorted(output.glob("ranking.*.json"))]
    rows = [[*KEYS, "seeds", "dev", "test", "length, %", "best epoch", "sparse features"]]
    for key in dict.fromkeys(tuple(one[name] for name in KEYS) for one in found):
        runs = [one for one in found if tuple(one[name] for name in KEYS) == key]
        cells = (spread([one[name] for one in runs]) for name in ("dev", "test", "length", "best", "features"))
        rows.append([*map(str, key), f"{len(runs)}", *cells])
    print(table(rows))


if __name__ == "__main__":
    main()
