"""Online tuning as in Green et al. (2013, Tables 2 and 3): dense and sparse features, BLEU+1, regularization.

    python -m benchmarks.experiments.online_tuning DATA --output DIRECTORY [--corpus NAME ...]
        [--run NAME ...] [--seed N ...] [--tags DIRECTORY] [--tables]

Models made with DATA's alignments, and a file for each run, are kept in DIRECTORY: existing files are not made again,
and --tables only prints existing results. Dense weights are tuned on the development set, whose score chooses the
epoch, as in the experiment with the other methods (tuning.py). With sparse features, two thirds of the development set
are tuned on, and every third sentence is held out to choose the epoch. Runs on training data choose the epoch by the
whole development set.

"hierarchical" runs have models with hierarchical reordering, as in the paper. Runs with tags need --tags: a directory
that has, for each CORPUS, a folder with the development and test source text, in files named as DATA's, with tokens
word|TAG and tags of the STTS.
"""

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.corpora import CORPORA
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.tuning import corpus_files, spread, train_model
from benchmarks.measure import PHRASEBEAM, table
from benchmarks.measure import run as run_command
from phrasebeam.base.config import parse_config
from phrasebeam.base.files import write_lines
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_model import OnlineData
from phrasebeam.training.tuning.tune_model import tune_model

RICH = {
    "rule_id": True,
    "phrase_alignment": True,
    "rule_reordering": True,
    "source_deletion": True,
}
# Dense features that all runs with sparse features have; "dense and added" measures their gain without sparse features.
ADDED = {"bitext_count": True, "unique_rule": True, "target_idf": True, "source_idf": True, "early_distortion": True}
STRENGTHS = {"strengths": {"rule_reordering": 10.0, "class_reordering": 10.0}}
CLASSES, BITS = 100, 6  # word classes of each side, and the length of the prefix of their paths that is used
TAGS = {"kind": "tags", "budget": 3, "content": ["N", "ADJ", "V", "ADV"]}
ON_TRAINING = {"leave_one_out": "drop", "lm_folds": 5, "sentences": 10000}
RUNS: dict[str, dict[str, Any]] = {
    "dense": {},
    "dense, Lin & Och": {"online": {"sentence_bleu": "lin-och"}},
    "dense and added": {"add": ADDED},
    "dense and added, Lin & Och": {"online": {"sentence_bleu": "lin-och"}, "add": ADDED},
    "sparse": {"online": {"templates": RICH, **STRENGTHS}, "add": ADDED},
    "sparse, Lin & Och": {"online": {"templates": RICH, "sentence_bleu": "lin-och", **STRENGTHS}, "add": ADDED},
    "sparse, all weights regularized": {"online": {"templates": RICH, "truncate": "all", **STRENGTHS}, "add": ADDED},
    "dense and added, hierarchical": {"add": ADDED},
    "sparse, hierarchical, all weights regularized": {
        "online": {"templates": RICH, "truncate": "all", **STRENGTHS},
        "add": ADDED,
    },
    "sparse, not regularized": {"online": {"templates": RICH, "strength": 0.0}, "add": ADDED},
    "sparse, averaged weights": {"online": {"templates": RICH, "average": True, **STRENGTHS}, "add": ADDED},
    "sparse, word classes": {"online": {"templates": RICH | {"class_reordering": True}, **STRENGTHS}, "add": ADDED},
    "sparse, part-of-speech tags": {
        "online": {"templates": RICH | {"class_reordering": True}, **STRENGTHS},
        "add": ADDED,
    },
    "sparse, training data": {"online": {"templates": RICH, **STRENGTHS, **ON_TRAINING}, "add": ADDED},
}
PLAIN = {"patience": 10, "delay": 0, "average": False, "strengths": {}, "templates": None, "lm_folds": 0}
COMMON = {
    "method": "online",
    "iterations": 10,
    "nbest": 200,
    "sparse": "weights",
    "threads": 1,
    "search": {"algorithm": "cube", "pop_limit": 200, "stack": 200},
}


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--tags", type=Path, help="tagged source text, for the runs with tags")
    given = parser.parse_args()
    for seed in [] if given.tables else given.seed:
        for corpus in given.corpus:
            for run in (run for run in given.run if given.tags or "tags" not in run):
                path = result_path(given.output, corpus, run, seed)
                if not path.exists():
                    write(path, tune(corpus, run, seed, given))
    print_table(given.output)


def result_path(output: Path, corpus: str, run: str, seed: int) -> Path:
    """The file of a run's numbers; its translations of the test set are beside it, in a file that ends in `.test`."""
    return output / f"online.{corpus}.{run.replace(', ', '.').replace(' ', '-')}.{seed}.json"


def tune(corpus: str, run: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """The result of one run."""
    output: Path = given.output
    path = result_path(output, corpus, run, seed)
    files, orientation = corpus_files(corpus, given.data, output, has_masks=False), "word"
    model = output / f"{corpus}-7"
    if "hierarchical" in run:
        orientation, model = "hier", output / f"{corpus}-7-hier"
    train_model(files, "dense", model, orientation)
    settings = COMMON | RUNS[run] | {"seeds": [seed]}
    settings["online"] = PLAIN | RUNS[run].get("online", {})
    if "classes" in run or "tags" in run:
        level = TAGS
        if "classes" in run:
            level = {"kind": "classes", "budget": 3, "prefix": BITS} | word_classes(files, output / f"{corpus}.data")
        levels = [{"kind": "word", "budget": 5}, level]
        settings["online"] |= {"templates": settings["online"]["templates"] | {"levels": levels}}
    if "tags" in run:
        files |= {side: given.tags / corpus / files[side].name for side in ("dev_source", "test_source")}
    config = parse_config(settings, TuneConfig, "settings")
    dev, test = (BitextFiles(files[f"{name}_source"], [files[f"{name}_target"]]) for name in ("dev", "test"))
    tuned_on, online = dev, None
    if "training data" in run:
        tuned_on = BitextFiles(files["source"], [files["target"]])
        online = OnlineData(files["alignment"], dev)
    elif "sparse" in run:
        tuned_on, held_out = split(dev, output / f"{corpus}.data")
        online = OnlineData(None, held_out)
    tuned = path.with_suffix(".model")
    shutil.rmtree(tuned, ignore_errors=True)
    found = asdict(tune_model(model, tuned_on, tuned, config, test, online)[0])
    curve = (tuned / "tuning" / f"seed-{seed}" / "curve.csv").read_text().splitlines()
    names = curve[0].split(",")
    features = [int(dict(zip(names, line.split(",")))["features"]) for line in curve[1:]]
    scores = [round(float(dict(zip(names, line.split(",")))["score"]), 2) for line in curve[1:]]
    decoder = Decoder.load(tuned, config.search)
    whole = read_development(dev, config, decoder.model.has_tags).score(decoder).score
    texts = read_development(test, config, decoder.model.has_tags).score(decoder).texts
    write_lines(path.with_suffix(".test"), texts)
    shutil.rmtree(tuned)
    found |= {
        "dev": whole,
        "corpus": corpus,
        "run": run,
        "seed": seed,
        "features": features[found["best"]],
        "scores": scores,
    }
    print(
        f"{corpus}, {run}, {seed}: {scores}, test {found['test_score']:.2f}, {found['features']} features", flush=True
    )
    return found


def word_classes(files: dict[str, Path], directory: Path) -> dict[str, str]:
    """Brown classes of the words of both sides; they are made unless they exist."""
    paths = {side: directory / f"{side}.classes" for side in ("source", "target")}
    for side, path in paths.items():
        if not path.exists():
            run_command([*PHRASEBEAM, "cluster", f"--text={files[side]}", f"--classes={CLASSES}", f"--output={path}"])
    return {side: str(path) for side, path in paths.items()}


def split(dev: BitextFiles, directory: Path) -> tuple[BitextFiles, BitextFiles]:
    """The development data in two parts: two thirds, and every third sentence."""
    parts = []
    for name, kept in (("tuned", (1, 2)), ("held-out", (0,))):
        paths = []
        for path in (dev.source, *dev.references):
            lines = path.read_bytes().splitlines(keepends=True)
            paths.append(directory / f"{name}.{path.name}")
            paths[-1].write_bytes(b"".join(line for i, line in enumerate(lines) if i % 3 in kept))
        parts.append(BitextFiles(paths[0], paths[1:]))
    return parts[0], parts[1]


def print_table(output: Path) -> None:
    """Print BLEU by run, with means and deviations over seeds."""
    found = [json.loads(path.read_text()) for path in sorted(output.glob("online.*.json"))]
    rows = [
        ["corpus", "features", "seeds", "dev", "held-out third", "test", "best epoch", "sparse features", "seconds"]
    ]
    for corpus in CORPORA:
        for run in RUNS:
            runs = [one for one in found if (one["corpus"], one["run"]) == (corpus, run)]
            if runs:
                names = "dev", "score", "test_score", "best", "features", "decode_seconds"
                rows.append([corpus, run, str(len(runs)), *(spread([one[name] for one in runs]) for name in names)])
    print(table(rows))


if __name__ == "__main__":
    main()
