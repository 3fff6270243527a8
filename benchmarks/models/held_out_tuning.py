"""Tuning on training sentences held out of the model, in addition to or in place of half of the development set.

    python -m benchmarks.models.held_out_tuning DATA --output DIRECTORY [--corpus NAME ...] [--splits 3] [--tables]

2,000 random training pairs (of 5 to 40 source words) are left out of the model. Dense weights are tuned on one half of
the development set, on the held-out pairs, or on both, and scored on the other half; then the halves are drawn again.
Tuning is by corpus-level MIRA, as in the recipes. Models made with DATA's alignments, and a file for each run, are kept
in DIRECTORY: existing files are not made again, and --tables only prints existing results.
"""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpora import CORPORA
from benchmarks.experiments.expected_bleu import SEARCH
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.tuning import corpus_files, spread, train_model
from benchmarks.measure import table
from phrasebeam.base.config import parse_config
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

HELD_OUT = 2000
SHORTEST, LONGEST = 5, 40  # source words
SETTINGS = {
    "method": "mira-corpus",
    "iterations": 5,
    "nbest": 100,
    "mira_corpus": {"epochs": 100},
    "threads": 1,
    "search": SEARCH,
}
WAYS = {"half of dev": (1, 0), "500 held out": (0, 500), "2000 held out": (0, HELD_OUT), "both": (1, HELD_OUT)}
Pairs = list[tuple[str, str]]


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA)
    parser.add_argument("--splits", type=int, default=3)
    given = parser.parse_args()
    for corpus in [] if given.tables else given.corpus:
        make_all(corpus, given)
    print_table(given)


def make_all(corpus: str, given: argparse.Namespace) -> None:
    """Make the model without the held-out pairs, and tune it in each way on each split."""
    files = corpus_files(corpus, given.data, given.output, has_masks=False)
    directory = given.output / f"{corpus}.data"
    held_out = hold_out(files, directory)
    model = given.output / f"{corpus}-held-out"
    train_model(files, "dense", model)
    dev = pairs_of(files["dev_source"], files["dev_target"])
    for split in range(given.splits):
        order = np.random.default_rng(split).permutation(len(dev))
        seen, others = ([dev[i] for i in half] for half in np.array_split(order, 2))
        for way, (has_half, size) in WAYS.items():
            path = file_of(given.output, corpus, way, split)
            if not path.exists():
                tuned_on = seen * has_half + held_out[:size]
                sets = (written(pairs, directory / name) for name, pairs in (("tuned", tuned_on), ("other", others)))
                write(path, {"other half": score(model, *sets, path.with_suffix(".tuned"))})


def file_of(output: Path, corpus: str, way: str, split: int) -> Path:
    return output / f"held-out.{corpus}.{way.replace(' ', '-')}.{split}.json"


def pairs_of(source: Path, target: Path) -> Pairs:
    """The sentence pairs of two files."""
    return list(zip(read_lines(source), read_lines(target), strict=True))


def hold_out(files: dict[str, Path], directory: Path) -> Pairs:
    """Take pairs out of the training data and return them; `files` then names files with the other pairs."""
    sides = "source", "target", "alignment"
    lines = list(zip(*(list(read_lines(files[side])) for side in sides), strict=True))
    order = np.random.default_rng(1).permutation(len(lines)).tolist()
    chosen = [i for i in order if SHORTEST <= len(lines[i][0].split()) <= LONGEST][:HELD_OUT]
    rest = [lines[i] for i in sorted({*order} - {*chosen})]
    for side, texts in zip(sides, zip(*rest)):
        files[side] = directory / f"rest.{side}"
        write_lines(files[side], texts)
    return [(lines[i][0], lines[i][1]) for i in chosen]


def written(pairs: Pairs, path: Path) -> BitextFiles:
    """Write pairs to two files."""
    files = [path.with_suffix(f".{side}") for side in ("source", "target")]
    for file, texts in zip(files, zip(*pairs)):
        write_lines(file, texts)
    return BitextFiles(files[0], [files[1]])


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write a text file, atomically."""
    with atomic_file(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def score(model: Path, tuned_on: BitextFiles, others: BitextFiles, output: Path) -> float:
    """Tune on one set; return BLEU of the other sentences with the tuned weights."""
    config = parse_config(SETTINGS, TuneConfig, "settings")
    shutil.rmtree(output, ignore_errors=True)
    tune_model(model, tuned_on, output, config)
    read = read_development(others, config)
    found = read.reported(read.score(Decoder.load(output, config.search)).score)
    shutil.rmtree(output)
    return found


def print_table(given: argparse.Namespace) -> None:
    """Print BLEU of the other half for each way of tuning, with means and deviations over splits."""
    rows = [["corpus", "tuned on", "splits", "other half"]]
    for corpus in given.corpus:
        for way in WAYS:
            paths = [file_of(given.output, corpus, way, split) for split in range(given.splits)]
            found = [json.loads(path.read_text())["other half"] for path in paths if path.exists()]
            if found:
                rows.append([corpus, way, f"{len(found)}", spread(found)])
    print(table(rows))


if __name__ == "__main__":
    main()
