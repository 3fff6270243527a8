"""All tuning methods as in Tan et al. (2013, Tables 1, 2 and 4): BLEU on development and test sets, updates, seconds.

    python -m benchmarks.experiments.tuning DATA --output DIRECTORY [--corpus NAME ...] [--method NAME ...]
        [--as-paper] [--tables]

Models made with DATA's alignments, and a file for each run, are kept in DIRECTORY: existing files are not made again,
and --tables only prints existing results. The most informative runs come first. C is chosen by BLEU on the development
set of the first corpus, with the first seed; other corpora and seeds then use that C. --as-paper: lists, C, iterations
and gains of configs/tan2013-c-mira.yaml, which are those of the paper, in place of shorter ones.
"""

import argparse
import json
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.corpora import CORPORA, MeasuredCorpus, development_of, prepare, unmasked
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.measure import PHRASEBEAM, ROOT, run, table
from phrasebeam.base.config import parse_config
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.registry import Method
from phrasebeam.training.tuning.tune_model import tune_model

GRIDS: dict[Method, list[float]] = {
    "mira-corpus": [0.1, 0.01, 0.001, 1.0, 10.0],
    "mira-batch": [0.01, 0.1, 0.001, 0.0001],
    "mert": [],
    "mira-chiang": [0.01, 0.1, 0.001, 0.0001],
    "pro": [],
}
PAPER: dict[str, Any] = yaml.safe_load((ROOT / "configs" / "tan2013-c-mira.yaml").read_text())
LONGEST = {"dense": 7, "groups": 10}  # words of a phrase; 10 as in the paper, with 220 group features
FIRST = "multi30k"
SEEDS = 1, 2, 3
SETTINGS = {
    "iterations": 8,
    "nbest": 100,
    "threads": 1,
    "search": {"algorithm": "cube", "pop_limit": 200, "stack": 200},
}


class Job(NamedTuple):
    """One run."""

    corpus: str
    features: str
    method: Method
    c: float | None
    seed: int
    as_paper: bool = False

    @property
    def name(self) -> str:
        parts = [self.corpus, self.features, self.method, f"{self.c or 0:g}".replace(".", "_"), f"{self.seed}"]
        return ".".join(parts + ["as-paper"] * self.as_paper)


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, features=LONGEST, method=GRIDS)
    parser.add_argument("--seed", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--as-paper", action="store_true", help="lists, C, iterations and gains of the paper")
    given = parser.parse_args()
    if not given.tables:
        for job in jobs(given):
            if not (given.output / f"{job.name}.json").exists():
                tune(job, given.data, given.output)
    print_tables(given.output, given.as_paper)


def grid(method: Method, as_paper: bool) -> list[float | None]:
    """The values of C to try for a method; [None] if it has no C."""
    return [*(PAPER["c"] if as_paper and GRIDS[method] else GRIDS[method])] or [None]


def jobs(given: argparse.Namespace) -> Iterator[Job]:
    """All runs; those on the first corpus with every C come first, since later ones depend on their results."""
    features, seeds, as_paper = given.features, given.seed, given.as_paper
    wanted = [(corpus, kind, method) for corpus in given.corpus for kind in features for method in given.method]
    at_first, elsewhere = ([one for one in wanted if (one[0] == FIRST) == is_first] for is_first in (True, False))
    for begin, end in ((0, 1), (1, None)):
        for kind in features if SEEDS[0] in seeds else []:
            for corpus, _, method in (one for one in at_first if one[1] == kind):
                values = grid(method, as_paper)[begin:end]
                yield from (Job(corpus, kind, method, c, SEEDS[0], as_paper) for c in values)
    for seed in seeds:
        for corpus, kind, method in elsewhere if seed == SEEDS[0] else wanted:
            if seed == SEEDS[0] or method != "mira-corpus":  # it has no randomness
                yield Job(corpus, kind, method, best_c(given.output, kind, method, as_paper), seed, as_paper)


def results(output: Path) -> list[dict[str, Any]]:
    """The results of all runs that exist."""
    return [{"as_paper": False} | json.loads(path.read_text()) for path in sorted(output.glob("*.json"))]


def best_c(output: Path, features: str, method: str, as_paper: bool) -> float | None:
    wanted = {"corpus": FIRST, "features": features, "method": method, "seed": SEEDS[0], "as_paper": as_paper}
    found = [one for one in results(output) if wanted.items() <= one.items()]
    return max(found, key=lambda one: one["score"])["c"] if found else None


def corpus_files(name: str, data: Path, output: Path, has_masks: bool = True) -> dict[str, Path]:
    """The files of a corpus by purpose; a test set split off the training text is written to `output`.

    With `has_masks` False, training pairs with masked words are left out, as experiments on training data require.
    """
    corpus: MeasuredCorpus = CORPORA[name]
    directory = output / f"{name}.data"
    directory.mkdir(parents=True, exist_ok=True)
    train = prepare(data / name, corpus, directory)
    found = train._asdict() if has_masks else train._asdict() | unmasked(train, directory, None).by_name
    return found | dict(zip(("dev_source", "dev_target"), development_of(data / name, corpus)))


def train_model(files: dict[str, Path], features: str, model: Path, orientation: str = "word") -> None:
    """Train the model of the training text, with the given kind of reordering, unless it exists."""
    if not model.exists():
        config = model.with_suffix(".yaml")
        reordering = f"reordering:\n  orientation: {orientation}\n"
        config.write_text(f"phrases:\n  max_length: {LONGEST[features]}\n{reordering}")
        options = [f"--{name}={files[name]}" for name in ("source", "target", "alignment")]
        run([*PHRASEBEAM, "train-model", f"--config={config}", *options, f"--output={model}"])


def settings_of(job: Job) -> TuneConfig:
    """The settings of a run."""
    names = "iterations", "nbest", "mira_corpus", "mira_batch", "mira_chiang"
    settings: dict[str, Any] = SETTINGS | ({name: PAPER[name] for name in names} if job.as_paper else {})
    settings |= {"method": job.method, "seeds": [job.seed]}
    if job.features == "groups":
        settings["add"] = {"length_groups": LONGEST["groups"]}
        settings["mert"] = {"restarts": 4}
        settings["search"] = SETTINGS["search"] | {"max_phrase_length": LONGEST["groups"]}
    config = parse_config(settings, TuneConfig, "settings")
    return config if job.c is None else config.with_c(job.c)


def tune(job: Job, data: Path, output: Path) -> None:
    """Make one run, and write its file."""
    files, config = corpus_files(job.corpus, data, output), settings_of(job)
    model, tuned = output / f"{job.corpus}-{LONGEST[job.features]}", output / f"{job.name}.model"
    train_model(files, job.features, model)
    sets = [BitextFiles(files[f"{name}_source"], [files[f"{name}_target"]]) for name in ("dev", "test")]
    found = asdict(tune_model(model, sets[0], tuned, config, sets[1])[0])
    test = read_development(sets[1], config)
    score = test.score(Decoder.load(model, config.search)).score
    found |= job._asdict() | {"test_before": test.reported(score)}
    write(output / f"{job.name}.json", found)
    shutil.rmtree(tuned / "tuning")
    scores = (
        f"{found['before']:.2f} -> {found['score']:.2f}, test {found['test_before']:.2f} -> {found['test_score']:.2f}"
    )
    seconds = f"{found['optimize_seconds']:.0f} s + {found['decode_seconds']:.0f} s"
    print(f"{job.name}: {scores}, best iteration {found['best']}, {seconds}", flush=True)


def print_tables(output: Path, as_paper: bool) -> None:
    """Print BLEU with mean and deviation over the seeds, and then the cost of each run."""
    found = [one for one in results(output) if one["as_paper"] == as_paper]
    for corpus in CORPORA:
        for features in LONGEST:
            cell = [one for one in found if (one["corpus"], one["features"]) == (corpus, features)]
            if cell:
                print(f"\n### {corpus}, {features}\n\n{table([heading(), before(cell), *map(row, by_setting(cell))])}")


def by_setting(cell: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Groups of runs that differ only in their seeds."""
    keys = [(method, c) for method in GRIDS for c in grid(method, cell[0]["as_paper"])]
    groups = [[one for one in cell if (one["method"], one["c"]) == key] for key in keys]
    return [group for group in groups if group]


def heading() -> list[str]:
    return ["method", "C", "seeds", "dev", "test", "updates", "optimizing", "decoding"]


def before(cell: list[dict[str, Any]]) -> list[str]:
    return ["untuned", "", "", f"{cell[0]['before']:.2f}", f"{cell[0]['test_before']:.2f}", "", "", ""]


def row(runs: list[dict[str, Any]]) -> list[str]:
    """Means of runs, with the deviation of BLEU in brackets."""
    means = [statistics.fmean(one[name] for one in runs) for name in ("updates", "optimize_seconds", "decode_seconds")]
    c = "" if runs[0]["c"] is None else f"{runs[0]['c']:g}"
    scores = [spread([one[name] for one in runs]) for name in ("score", "test_score")]
    return [runs[0]["method"], c, str(len(runs)), *scores, f"{means[0]:,.0f}", f"{means[1]:.1f} s", f"{means[2]:.1f} s"]


def spread(values: list[float]) -> str:
    deviation = f" ({statistics.stdev(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{deviation}"


if __name__ == "__main__":
    main()
