"""Features by orientation in maximum expected BLEU, of phrase pairs (d) and of their first and last words (e): BLEU.

    python -m benchmarks.models.orientation_sets DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tables]

All begin with the stage `tune` of a recipe run in DIRECTORY/CORPUS.run, which is made unless it is there. Lists and a
file for each run are kept in DIRECTORY, too: what is there is not made again. The model of the last iteration, and that
all begin with, the baseline, are then tuned with each seed; no iteration is chosen.
"""

import argparse
from pathlib import Path
from typing import Any

import phrasebeam
from benchmarks.corpora import CORPORA, development_of, prepare
from benchmarks.experiments.expected_bleu import (
    BASELINE,
    LEARNING,
    SEARCH,
    SEEDS,
    TUNING,
    Texts,
    Work,
    print_table,
    say,
    tune,
)
from benchmarks.experiments.kept_runs import parser_of
from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.progress import show_progress
from phrasebeam.training.common.derived_model import DerivedModel
from phrasebeam.training.common.development_set import DevelopmentData
from phrasebeam.training.common.settings import settings_with_effect
from phrasebeam.training.common.training_data import TrainingData, data_files
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.expected_bleu_model import WORK, ExpectedBleuTraining
from phrasebeam.training.expected_bleu.learners import new_learner
from phrasebeam.training.expected_bleu.list_store import ListStore
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
    parser.add_argument("--tuning-iterations", type=int, default=TUNING["iterations"], help="of MERT, after learning")
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
        if run != BASELINE and not (work.path("model") / "model.yaml").exists():
            learn(work, settings_of(corpus, run, given))
        for seed in given.seed:
            tune(work, seed, settings={"search": search, "iterations": given.tuning_iterations})


def learn(work: Work, config: ExpectedBleuConfig) -> None:
    """The model of the last iteration, as train_expected_bleu makes it of the best one."""
    training, store = begun(work, config)
    learner = new_learner(training.derived.opened, store, config, training.word_groups())
    progress = training.learn(learner)
    training.write(training.derived, learner, config.iterations)
    store.close()
    first, last = (progress.iterations[i].expected_bleu for i in (0, -1))
    size = f"{learner.start().size:,} parameters"
    say(work.corpus, work.run, f"{size}, expected BLEU {first:.4f} -> {last:.4f}")


def begun(work: Work, config: ExpectedBleuConfig) -> tuple[ExpectedBleuTraining, ListStore]:
    """The training of a run, begun, and the lists of the corpus."""
    corpus, development = work.texts.training.aligned(work.tuned, config), work.texts.sets["dev"]
    derived = DerivedModel.begin(work.tuned, work.path("model"), WORK, data_files(corpus, development))
    training = ExpectedBleuTraining(derived, config, corpus, development.read(config))
    derived.begin_work("train-expected-bleu", settings_with_effect(config), is_forced=False)
    return training, training.lists(work.output / f"{work.corpus}.lists.penalty")


def settings_of(corpus: str, run: str, given: argparse.Namespace) -> ExpectedBleuConfig:
    """The settings of learning of a run."""
    own: dict[str, Any] = {"iterations": given.iterations, "search": search_of(corpus), "tune": None}
    own |= {"features": RUNS[run], "threads": given.threads}
    return parse_config(LEARNING | own, ExpectedBleuConfig, "settings")


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
    """The training data of a recipe run without twins, aligned as its model keeps it."""
    own = directory / "training.source", directory / "training.target"
    source, target = own if own[0].exists() else (training.source, training.target)
    twins = directory / "twins"
    return TrainingData(source, target, None, left_out=twins if twins.exists() else None)


def recipe_of(corpus: str) -> Recipe:
    """The stages before learning, as in the recipe `standard`."""
    settings: dict[str, Any] = {"phrases": {"smoothing": "kneser-ney"}}
    if corpus in HIERARCHICAL:
        settings["reordering"] = {"orientation": "hier"}
    build = {"kind": "train-model", "word_classes": 100, "settings": settings, "search": search_of(corpus)}
    return parse_config({"held_out": 0, "stages": [build, TUNE]}, Recipe, "recipe")


if __name__ == "__main__":
    main()
