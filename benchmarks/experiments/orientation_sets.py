"""Features by orientation in maximum expected BLEU, of phrase pairs (d) and of their first and last words (e): BLEU.

    python -m benchmarks.experiments.orientation_sets DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tables]

All begin with the stage `tune` of a recipe run in DIRECTORY/CORPUS.run, which is made unless it is there. Lists and a
file for each run are kept in DIRECTORY, too: what is there is not made again. The best iteration, by BLEU on the
development set after a short tuning, and the tuned model itself are then tuned with each seed.
"""

import argparse
from pathlib import Path
from typing import Any

import phrasebeam
from benchmarks.corpora import CORPORA, development_of, prepare
from benchmarks.experiments.expected_bleu import (
    BASELINE,
    CHOOSING,
    SEARCH,
    SEEDS,
    Texts,
    Work,
    learn,
    print_table,
    tune,
)
from benchmarks.experiments.kept_runs import parser_of
from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.progress import show_progress
from phrasebeam.training.common.development_set import DevelopmentData
from phrasebeam.training.common.training_data import TrainingData
from phrasebeam.training.recipe.recipe import Recipe

RUNS = {BASELINE: [], "a": ["a"], "a-d": ["a", "d"], "a-e": ["a", "e"], "e": ["e"], "a-d-e": ["a", "d", "e"]}
ITERATIONS = 20
LIMITS = {"tanaka": 10}  # of distortion, where it is not the default
HIERARCHICAL = ("tanaka",)  # others have the reordering of words, as by default
TUNE = {"kind": "tune", "settings": {"add": {"related_words": True}, "method": "mert", "nbest": 100}}


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    given = parser.parse_args()
    given.tiny = False
    for corpus in given.corpus:
        if not given.tables:
            show_progress()
            measure(corpus, given)
        print_table(corpus, given, RUNS)


def measure(corpus: str, given: argparse.Namespace) -> None:
    """All runs on a corpus."""
    texts, search = prepared(corpus, given), search_of(corpus)
    for run in given.run:
        work = Work(corpus, run, texts, given.output, given)
        own: dict[str, Any] = {"iterations": given.iterations, "search": search, "tune": CHOOSING | {"search": search}}
        own["tune"].pop("seeds"), own["tune"].pop("threads")
        learn(work, own | {"features": RUNS[run] or None})
        for seed in given.seed:
            tune(work, seed, settings={"search": search})


def search_of(corpus: str) -> dict[str, Any]:
    """The settings of all searches."""
    return SEARCH | ({"distortion_limit": LIMITS[corpus]} if corpus in LIMITS else {})


def prepared(corpus: str, given: argparse.Namespace) -> Texts:
    """The texts of a recipe run, which is made unless it is there; training data are those that it learns from."""
    split, run = given.output / f"{corpus}.data", given.output / f"{corpus}.run"
    split.mkdir(parents=True, exist_ok=True)
    files = prepare(given.data / corpus, CORPORA[corpus], split)
    source, reference = development_of(given.data / corpus, CORPORA[corpus])
    if not run.exists():
        recipe = split / "recipe.yaml"
        save_config(recipe_of(corpus), recipe)
        texts = files.source, files.target, source, reference
        phrasebeam.train(*texts, run, recipe=str(recipe), alignment=files.alignment, threads=given.threads)
    tuned = given.output / f"{corpus}.tuned"  # where the other scripts have it
    if not tuned.exists():
        tuned.symlink_to((run / "recipe" / "stages" / "tune").resolve())
    development, test = (
        DevelopmentData(source, [reference]),
        DevelopmentData(files.test_source, [files.test_target]),
    )
    return Texts(learned_from(run / "recipe" / "data", TrainingData(*files[:3])), {"dev": development, "test": test})


def learned_from(directory: Path, training: TrainingData) -> TrainingData:
    """The training data of a recipe run without twins."""
    own = [directory / f"training.{name}" for name in ("source", "target", "alignment")]
    twins = directory / "twins"
    files = own if own[0].exists() else [training.source, training.target, training.alignment]
    return TrainingData(*files, left_out=twins if twins.exists() else None)


def recipe_of(corpus: str) -> Recipe:
    """The stages before learning, as in the recipe `standard`."""
    settings: dict[str, Any] = {"phrases": {"smoothing": "kneser-ney"}}
    if corpus in HIERARCHICAL:
        settings["reordering"] = {"orientation": "hier"}
    build = {"kind": "train-model", "word_classes": 100, "settings": settings, "search": search_of(corpus)}
    return parse_config({"held_out": 0, "stages": [build, TUNE]}, Recipe, "recipe")


if __name__ == "__main__":
    main()
