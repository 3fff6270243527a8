"""Methods of tune at equal processor time: BLEU on development and test set within a number of seconds.

    python -m benchmarks.experiments.equal_time DATA --output DIRECTORY [--corpus NAME ...] [--method NAME ...]
        [--seed N ...] [--tables]

Dense weights, one thread, cube pruning. Each method has its default settings, and n-best lists of the size in its
paper. The iteration that is best on the development set within the time counts. Models made with DATA's alignments,
and a file for each run, are kept in DIRECTORY: existing files are not made again, and --tables only prints existing
results.
"""

import csv
import json
import shutil
import time
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.corpora import CORPORA
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.tuning import corpus_files, spread, train_model
from benchmarks.measure import table
from phrasebeam.base.config import load_config, parse_config
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.development_set import read_development
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.tune_model import tune_model

BUDGETS = 30, 60, 120  # seconds
ITERATIONS = 12
METHODS: dict[str, dict[str, Any]] = {
    "mert": {"nbest": 100},
    "pro": {"nbest": 100},
    "mira-batch": {"nbest": 100},
    "mira-corpus": {"nbest": 100},
    "online": {"nbest": 200, "online": {"patience": ITERATIONS, "delay": 0}},
}
SEARCH = {"algorithm": "cube", "pop_limit": 200, "stack": 200}


def main() -> None:
    parser = parser_of(__doc__, corpus=CORPORA, method=METHODS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1, 2, 3])
    given = parser.parse_args()
    for seed in [] if given.tables else given.seed:
        for corpus in given.corpus:
            for method in given.method:
                path = given.output / f"time.{corpus}.{method}.{seed}.json"
                if not path.exists():
                    write(path, run(corpus, method, seed, given.data, given.output))
    print_table(given.output)


def run(corpus: str, method: str, seed: int, data: Path, output: Path) -> dict[str, Any]:
    """Scores of the best iteration within each time budget."""
    files, model = corpus_files(corpus, data, output, has_masks=False), output / f"{corpus}-7"
    train_model(files, "dense", model)
    dev, test = (BitextFiles(files[f"{name}_source"], [files[f"{name}_target"]]) for name in ("dev", "test"))
    settings = METHODS[method] | {"method": method, "seeds": [seed], "threads": 1, "search": SEARCH}
    settings |= {"iterations": ITERATIONS}
    work = output / "time.model"
    seconds, scores = tuned(model, dev, work, settings)
    found: dict[str, Any] = {"corpus": corpus, "method": method, "seed": seed, "seconds": seconds, "scores": scores}
    config = parse_config(settings, TuneConfig, "settings")
    test_set = read_development(test, config)
    for budget in BUDGETS:
        within = sum(one <= budget for one in seconds)
        best = max(range(within), key=lambda i: scores[i], default=0)
        if method == "online" and best > 0:
            tuned(model, dev, work, settings | {"iterations": best})
        decoder = Decoder.load(model, config.search, weights_of(work, method, seed, best, model))
        found[f"dev {budget}"] = scores[best]
        found[f"test {budget}"] = test_set.reported(test_set.score(decoder).score)
    print({name: value for name, value in found.items() if name != "seconds"}, flush=True)
    return found


def tuned(model: Path, dev: BitextFiles, work: Path, settings: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Tune; return the processor seconds until the weights of each iteration were scored, and their scores.

    Iteration 0 has the model's own weights. For online tuning, the seconds of an epoch are wall time; they are scaled
    so that their sum is the processor time of the whole run.
    """
    shutil.rmtree(work, ignore_errors=True)
    begin = time.process_time()
    tune_model(model, dev, work, parse_config(settings, TuneConfig, "settings"))
    total, seed = time.process_time() - begin, settings["seeds"][0]
    path = work / "tuning" / (f"seed-{seed}" if settings["method"] == "online" else "") / "curve.csv"
    with open(path) as file:
        rows = list(csv.DictReader(file))
    if settings["method"] == "online":
        parts = [float(row["seconds"]) + float(row["development_seconds"]) for row in rows]
        parts = [part * total / sum(parts) for part in parts]
    else:  # a row has the score of the weights before its optimization, from its decoding
        decoding, optimizing = ([float(row[f"{name}_seconds"]) for row in rows] for name in ("decode", "optimize"))
        parts = [after + before for after, before in zip(decoding, [0.0, *optimizing])]
    return list(accumulate(parts)), [round(float(row["score"]), 2) for row in rows]


def weights_of(work: Path, method: str, seed: int, best: int, model: Path) -> Weights:
    """The weights of an iteration; for online tuning those that the last model has, which are the best."""
    if best == 0:
        return load_config(model / "weights.yaml", Weights)
    if method == "online":
        return load_config(work / "weights.yaml", Weights)
    runs = [path for path in (work / "tuning").iterdir() if path.is_dir()]
    return load_config(runs[0] / f"weights.{best:02}.yaml", Weights)


def print_table(output: Path) -> None:
    """Print BLEU by method and seconds, with means and deviations over seeds."""
    found = [json.loads(path.read_text()) for path in sorted(output.glob("time.*.json"))]
    rows = [["corpus", "method", "seeds", *(f"{name} {budget} s" for budget in BUDGETS for name in ("dev", "test"))]]
    for corpus in CORPORA:
        for method in METHODS:
            runs = [one for one in found if (one["corpus"], one["method"]) == (corpus, method)]
            if runs:
                cells = [spread([one[f"{n} {budget}"] for one in runs]) for budget in BUDGETS for n in ("dev", "test")]
                rows.append([corpus, method, str(len(runs)), *cells])
    print(table(rows))


if __name__ == "__main__":
    main()
