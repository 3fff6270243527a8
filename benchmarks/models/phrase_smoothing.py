"""Smoothing of phrase probabilities, and language models over word classes: BLEU on development and test sets.

    python -m benchmarks.models.phrase_smoothing DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tables]

Models are built with DATA's alignments, and tuned by MERT with each seed, starting from the default weights; they
translate both sets. A file for each run is kept in DIRECTORY and not made again. For TED, pairs with masked words are
left out.
"""

import argparse
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.experiments.expected_bleu import BUILDING, SEEDS, Texts, Work, read, read_texts, spread, tune
from benchmarks.experiments.kept_runs import parser_of
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.base.progress import show_progress
from phrasebeam.training.clustering.bigrams import read_bigrams
from phrasebeam.training.clustering.word_classes import write_classes as write_word_classes
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model

KN, GT, NONE = ({"smoothing": name} for name in ("kneser-ney", "good-turing", "none"))
RUNS: dict[str, tuple[dict[str, str], int, int]] = {  # settings of phrases, number of word classes, order of their LM
    "none": (NONE, 0, 0),
    "kneser-ney": (KN, 0, 0),
    "good-turing": (GT, 0, 0),
    "kneser-ney, 100 classes, order 5": (KN, 100, 5),
    "kneser-ney, 100 classes, order 7": (KN, 100, 7),
    "kneser-ney, 200 classes, order 6": (KN, 200, 6),
    "good-turing, 100 classes, order 7": (GT, 100, 7),
}


def main() -> None:
    given = arguments(__doc__, RUNS)
    if not given.tables:
        show_progress()
        for corpus in given.corpus:
            texts = read_texts(corpus, given)
            for seed in given.seed:
                for run in given.run:
                    work = Work(corpus, file_name(run), texts, given.output, given)
                    build(work, RUNS[run])
                    tune(work, seed)
    for corpus in given.corpus:
        print_table(corpus, given)


def arguments(description: str | None, runs: Iterable[str]) -> argparse.Namespace:
    parser = parser_of(description, corpus=("multi30k", "ted", "tanaka"), run=runs)
    parser.add_argument("--seed", nargs="+", type=int, default=list(SEEDS[:2]))
    parser.add_argument("--tiny", action="store_true", help="a few sentences and iterations, to see that it runs")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def file_name(run: str) -> str:
    return run.replace(",", "").replace(" ", "-")


def build(work: Work, settings: tuple[dict[str, str], int, int]) -> None:
    """Build the model of a run, unless it exists."""
    model, (phrases, n_classes, order) = work.path("model"), settings
    if (model / "model.yaml").exists():
        return
    shutil.rmtree(model, ignore_errors=True)
    options: dict[str, Any] = BUILDING | {"phrases": phrases, "threads": work.given.threads}
    if n_classes:
        classes = work.output / f"{work.corpus}.{n_classes}.classes"
        write_classes(work.texts, n_classes, classes)
        options["language_models"] = [{"classes": str(classes), "order": order}]
    training = work.texts.training
    config = parse_config(options, TrainModelConfig, "settings")
    train_model(training.source, training.target, model, config, training.alignment)


def write_classes(texts: Texts, n_classes: int, path: Path) -> None:
    """Write Brown classes of the target words of the training data, unless they exist."""
    if not path.exists():
        bigrams = read_bigrams([texts.training.target], 1)
        write_word_classes(path, bigrams, n_classes)


def print_table(corpus: str, given: argparse.Namespace, runs: Iterable[str] = RUNS) -> None:
    """Print a row for each run, with means over seeds and deviations in brackets."""
    rows = [["", "seeds", "dev", "test"]]
    for run in runs:
        files = [given.output / f"{corpus}.{file_name(run)}.{seed}.json" for seed in given.seed]
        found = [one for file in files if (one := read(file))]
        if found:
            rows.append([run, str(len(found)), *(spread([one[part] for one in found]) for part in ("dev", "test"))])
    print(f"\n### {corpus}\n\n{table(rows)}", flush=True)


if __name__ == "__main__":
    main()
