"""Variants of maximum expected BLEU training as in Wuebker et al. (2015, Table 2): BLEU on development and test sets.

    python -m benchmarks.experiments.expected_bleu DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--tables]

Models made with DATA's alignments, n-best lists, and a file for each run are kept in DIRECTORY: existing files are not
made again, and --tables only prints existing results. All runs learn from the same tuned model. The best iteration is
the one with the best BLEU on the development set after a short tuning (with the weights of the tuned model itself, no
iteration would beat it there). The model of that iteration and the tuned model, which is the baseline, are then tuned
with each seed. For TED, pairs with masked words are left out: they repeat other pairs, so that leave-one-out would
leave nothing out.
"""

import argparse
import json
import shutil
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpora import CORPORA, development_of, head, prepare, unmasked
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
from phrasebeam.training.expected_bleu.expected_bleu_model import WORK, ExpectedBleuIteration, train_expected_bleu
from phrasebeam.training.metrics.evaluation import EvaluationOptions, bleu, evaluate_texts
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

SEEDS = 1, 2, 3
BUILDING: dict[str, Any] = {"reordering": {"orientation": "hier"}}
SEARCH = {"algorithm": "cube", "pop_limit": 200, "stack": 200}
TUNING: dict[str, Any] = {"method": "mert", "iterations": 6, "nbest": 100, "threads": 1, "search": SEARCH}
TUNING |= {"mert": {"restarts": 6}}
CHOOSING: dict[str, Any] = TUNING | {"iterations": 3, "mert": {"restarts": 3}, "seeds": SEEDS[:1]}
LEARNING: dict[str, Any] = {"lm_folds": 5, "score_every": 8, "search": SEARCH, "tune": CHOOSING}
LEARNING |= {"tau": 1e-6, "features": ["a"]}
TINY_PAIRS, TINY_SET = 300, 50
TINY_TUNING, TINY_LEARNING = {"iterations": 2, "mert": {"restarts": 1}}, {"iterations": 4}
BASELINE = "baseline"
RUNS: dict[str, dict[str, Any]] = {
    BASELINE: {},
    "rprop-all": {"optimizer": "rprop", "features": ["a", "b", "c", "d"]},
    "rprop": {"optimizer": "rprop"},
    "rprop-abc": {"optimizer": "rprop", "features": ["a", "b", "c"]},
    "adagrad": {"optimizer": "adagrad"},
    "gt": {"optimizer": "gt"},
    "sgd": {"optimizer": "sgd"},
    "rprop-nothing-left-out": {"optimizer": "rprop", "leave_one_out": None},
}


class Texts(NamedTuple):
    """The data files of one corpus."""

    training: BitextFiles
    sets: dict[str, BitextFiles]  # the keys are dev and test


class Work(NamedTuple):
    """One run on one corpus."""

    corpus: str
    run: str
    texts: Texts
    output: Path
    given: argparse.Namespace

    def path(self, *names: object) -> Path:
        return self.output / ".".join(map(str, [self.corpus, self.run, *names]))

    @property
    def tuned(self) -> Path:
        """The model that all runs start from."""
        return self.output / f"{self.corpus}.tuned"


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--tiny", action="store_true", help="a few sentences and iterations, to see that it runs")
    parser.add_argument("--threads", type=int, default=2, help="of making lists and of learning")
    given = parser.parse_args()
    if not given.tables:
        show_progress()
        for corpus in given.corpus:
            texts = read_texts(corpus, given)
            work = [Work(corpus, run, texts, given.output, given) for run in given.run]
            make_tuned(work[0])
            for one in work:
                learn(one)
            for seed in given.seed:
                for one in work:
                    tune(one, seed)
    for corpus in given.corpus:
        print_table(corpus, given)


def read_texts(corpus: str, given: argparse.Namespace) -> Texts:
    """The files of a corpus; training files that differ from DATA's are written to the output directory."""
    directory = given.output / f"{corpus}.data"
    split = directory / "split"
    split.mkdir(parents=True, exist_ok=True)
    files = prepare(given.data / corpus, CORPORA[corpus], split)
    training = unmasked(files, directory, TINY_PAIRS if given.tiny else None)
    development = development_of(given.data / corpus, CORPORA[corpus])
    sets = {}
    for name, paths in ("dev", development), ("test", [files.test_source, files.test_target]):
        source, target = (head(path, TINY_SET, directory) for path in paths) if given.tiny else paths
        sets[name] = BitextFiles(source, [target])
    return Texts(training, sets)


def make_model(work: Work) -> Path:
    """The model of the training data with default weights; it is made unless it exists."""
    model, training = work.output / f"{work.corpus}.model", work.texts.training
    if not (model / "model.yaml").exists():
        shutil.rmtree(model, ignore_errors=True)
        config = parse_config(BUILDING | {"threads": work.given.threads}, TrainModelConfig, "settings")
        train_model(training.source, training.target, model, config, training.alignment)
    return model


def make_tuned(work: Work) -> None:
    """Tune the model of the training data with the first seed, unless that has been done."""
    model, texts = make_model(work), work.texts
    if not (work.tuned / "model.yaml").exists():
        config = parse_config(tuning(work.given) | {"seeds": SEEDS[:1]}, TuneConfig, "settings")
        result = tune_model(model, texts.sets["dev"], work.tuned, config)[0]
        spent = f"{result.decode_seconds:.0f} s of decoding"
        say(work.corpus, "tuned", f"dev {result.before:.2f} -> {result.score:.2f}, {spent}")


def tuning(given: argparse.Namespace) -> dict[str, Any]:
    """The settings of tuning."""
    return TUNING | (TINY_TUNING if given.tiny else {})


def learn(work: Work) -> None:
    """Train the run's model, keep its best iteration and write its numbers, unless that has been done."""
    if work.run == BASELINE or work.path("json").exists():
        return
    given, model = work.given, work.path("model")
    more = {"threads": given.threads} | (TINY_LEARNING if given.tiny else {})
    config = parse_config(LEARNING | RUNS[work.run] | more, ExpectedBleuConfig, "settings")
    lists = work.output / f"{work.corpus}.lists.{config.leave_one_out or 'nothing left out'}".replace(" ", "-")
    progress = train_expected_bleu(work.tuned, work.texts.training, work.texts.sets["dev"], model, config, lists)
    best, first = (progress.iterations[number] for number in (progress.best, 0))
    parameters = np.load(model / WORK / "iterations" / "000.npy", mmap_mode="r").size
    shutil.copyfile(model / WORK / "curve.csv", work.path("csv"))
    numbers = {"run": work.run, "corpus": work.corpus, "parameters": parameters, "best": progress.best}
    scores = {"dev_before": first.score, "dev_fixed": best.score, "seconds": seconds(progress.iterations)}
    expected = {"expected_before": first.expected_bleu, "expected_best": best.expected_bleu}
    write(work.path("json"), numbers | scores | expected)
    shutil.rmtree(model / WORK)
    scored = f"dev {first.score:.2f} -> {best.score:.2f}"
    say(work.corpus, work.run, f"{parameters:,} parameters, {scored} at {progress.best}")


def seconds(iterations: list[ExpectedBleuIteration]) -> float:
    return sum(one.seconds for one in iterations)


def tune(work: Work, seed: int, model: Path | None = None, settings: Mapping[str, Any] = {}) -> None:
    """Tune the weights of a run's model, or of `model`, and translate both sets, unless that has been done."""
    path = work.path(seed, "json")
    if path.exists():
        return
    tuned = work.path(seed, "model")
    model = model or (work.tuned if work.run == BASELINE else work.path("model"))
    config = parse_config(tuning(work.given) | {"seeds": [seed], **settings}, TuneConfig, "settings")
    result = tune_model(model, work.texts.sets["dev"], tuned, config)[0]
    found: dict[str, Any] = {"corpus": work.corpus, "run": work.run, "seed": seed, "best": result.best}
    found |= {"optimize_seconds": result.optimize_seconds, "decode_seconds": result.decode_seconds}
    found["weights"] = (tuned / "weights.yaml").read_text()
    decoder = Decoder.load(tuned, config.search)
    for name, data in work.texts.sets.items():
        texts = [one.text for one in decoder.translate_all(read_lines(data.source), work.given.threads)]
        with atomic_file(work.path(seed, name)) as file:
            file.write("".join(f"{text}\n" for text in texts).encode())
        found[name], found["signature"] = bleu(texts, list(read_lines(data.references[0])))
    write(path, found)
    shutil.rmtree(tuned)
    spent = f"{result.optimize_seconds:.0f} s + {result.decode_seconds:.0f} s"
    say(work.corpus, f"{work.run} seed {seed}", f"dev {found['dev']:.2f}, test {found['test']:.2f}, {spent}")


def say(corpus: str, what: str, text: str) -> None:
    print(f"{corpus} {what}: {text}", flush=True)


def print_table(corpus: str, given: argparse.Namespace) -> None:
    """Print a row for each run that was tuned; p is for its difference to the baseline on the test set."""
    tuned = {run: [read(given.output / f"{corpus}.{run}.{seed}.json") for seed in given.seed] for run in RUNS}
    found = {run: kept for run, some in tuned.items() if (kept := [one for one in some if one])}
    if not found:
        return
    heading = ["", "parameters", "iteration", "expected BLEU", "dev, chosen by", "seeds", "dev", "test", "p", "seconds"]
    rows = [heading, *(row(given, corpus, run, found) for run in found)]
    print(f"\n### {corpus}\n\n{table(rows)}\n\n{next(iter(found.values()))[0]['signature']}", flush=True)


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def row(given: argparse.Namespace, corpus: str, run: str, found: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Means over seeds, with standard deviations in brackets."""
    learned, cells = read(given.output / f"{corpus}.{run}.json"), [""] * 5
    if learned:
        cells = [f"{learned['parameters']:,}", str(learned["best"])]
        cells += [f"{learned['expected_before']:.4f} -> {learned['expected_best']:.4f}"]
        cells += [f"{learned['dev_before']:.2f} -> {learned['dev_fixed']:.2f}", f"{learned['seconds']:.0f}"]
    scores = [spread([one[name] for one in found[run]]) for name in ("dev", "test")]
    p_value = "" if run == BASELINE or BASELINE not in found else significance(given, corpus, run, found)
    return [run, *cells[:4], str(len(found[run])), *scores, p_value, cells[4]]


def spread(values: list[float]) -> str:
    deviation = f" ({statistics.stdev(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{deviation}"


def significance(given: argparse.Namespace, corpus: str, run: str, found: dict[str, list[dict[str, Any]]]) -> str:
    """p of a paired bootstrap on the test set, between the seeds with the median score on the development set."""
    paths = []
    for name in (BASELINE, run):
        median = sorted(found[name], key=lambda one: one["dev"])[(len(found[name]) - 1) // 2]
        paths.append(given.output / f"{corpus}.{name}.{median['seed']}.test")
    return bootstrapped(*paths, read_texts(corpus, given))


def bootstrapped(before: Path, after: Path, texts: Texts) -> str:
    """p of a paired bootstrap between two files of translations of the test set."""
    systems = {str(path): list(read_lines(path)) for path in (before, after)}
    if systems[str(before)] == systems[str(after)]:
        return "1"
    references = [list(read_lines(path)) for path in texts.sets["test"].references]
    results = evaluate_texts(systems, references, EvaluationOptions(tokenize="none", paired="bootstrap")).results[
        "BLEU"
    ]
    return f"{results[1].p_value:.3f}"


if __name__ == "__main__":
    main()
