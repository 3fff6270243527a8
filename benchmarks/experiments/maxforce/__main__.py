"""The max-violation perceptron as in Yu et al. (2013, Table 4, Figures 8 to 10 and 12): BLEU on both sets.

    python -m benchmarks.experiments.maxforce DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--figures] [--search ours paper] [--prefixes NAME] [--nuisances] [--all-pairs] [--tables]

Models, and a file for each run, are kept in DIRECTORY: existing files are not made again, and --tables only prints
existing results. The models and the tuned models are those of expected_bleu.py, which may share the directory. Each run
learns from the first pairs of the training data, or from all if its name says so. Its settings are the defaults of
train-maxforce, except for what its name says. The weights are scored as they are after each iteration; those of the
last iteration are scored on both sets as they are ("alone"), and after scaling and tuning as in expected_bleu.py. Runs
that are "scaled" score each iteration with the best of several scales of sparse features, while dense weights stay as
they were; they also score the best model on both sets. A row of the table has the scores of all seeds; its other
columns are for the first seed.

--figures: the runs of these figures and of Table 4, with 13 iterations. Existing results are written to files in
DIRECTORY, one for each figure, with a row for each seed (figures.py). --search paper: all runs use the search of the
paper, with beam 30 and without future cost; the dense weights are first tuned for it, and the learned model is then
also tuned for our search. --tuned-by: the method of that first tuning; it decides how large weights are compared with
the steps of learning. --prefixes and --nuisances: settings of train-maxforce for all runs.
"""

import json
from argparse import Namespace
from collections.abc import Sequence
from itertools import product
from typing import Any, get_args

from benchmarks.experiments.kept_runs import parser_of
from benchmarks.experiments.maxforce.figures import write_figures
from benchmarks.experiments.maxforce.learning import MERT, file_of, make_runs, variant, variant_of_start, with_search
from benchmarks.experiments.maxforce.runs import FIGURES, PEAK, RUNS, SEARCHES, SENTENCES
from benchmarks.measure import table
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.forced.forced_settings import Prefixes


def main() -> None:
    parser = parser_of(__doc__, corpus=SENTENCES, run=RUNS)
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="of the order of sentences, and of tuning")
    parser.add_argument("--figures", action="store_true", help="the runs of the paper's figures, and files of them")
    parser.add_argument("--search", nargs="+", choices=SEARCHES, default=["ours"])
    parser.add_argument("--tuned-by", choices=[MERT, "mira-batch"], default=MERT, help="weights before, --search paper")
    parser.add_argument("--prefixes", choices=get_args(Prefixes), default="longest", help="of all runs")
    parser.add_argument("--nuisances", action="store_true", help="penalties are learned, and replaced by tuned ones")
    parser.add_argument("--iterations", type=int, default=PEAK, help="of the runs of figures")
    parser.add_argument("--all-pairs", action="store_true", help="all runs learn from all training pairs")
    parser.add_argument("--tiny", action="store_true", help="a few sentences, to see that it runs")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    given.run = list(FIGURES) if given.figures else given.run
    if not given.tables:
        show_progress()
        for corpus, search in product(given.corpus, given.search):
            make_runs(corpus, with_search(given, search))
    for corpus, search in product(given.corpus, given.search):
        print_table(corpus, with_search(given, search))
    if given.figures:
        write_figures(given)


def print_table(corpus: str, given: Namespace) -> None:
    """Print a row for each run."""
    found = []
    for name in ["default", "tuned", *RUNS]:
        found.append(found_of(corpus, name, given))
    if any(found):
        heading = [
            "",
            "sparse features",
            "dev by iteration",
            "dev, test alone",
            "dev, tuned",
            "test, tuned",
            "scales",
            "invalid",
        ]
        heading += ["covered", "sentences/s", "dev and test, tuned for our search", "scaled alone"]
        title = f"{corpus}{variant(given).replace('.', ', ')}"
        print(f"\n### {title}\n\n{table([heading, *map(row, filter(None, found))])}", flush=True)


def found_of(corpus: str, name: str, given: Namespace) -> list[dict[str, Any]]:
    """The numbers of a run for each of its seeds, if they exist."""
    kind = variant_of_start(given) if name in ("default", "tuned") else variant(given)
    paths = [file_of(given.output, corpus, name + kind, seed) for seed in sorted({1, *given.seed})]
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def row(seeds: Sequence[dict[str, Any]]) -> list[str]:
    """The cells for a run, from its numbers for each seed."""
    found = seeds[0]
    if "epochs" not in found:
        return [found["run"], "", "", "", f"{found['dev']:.2f}", f"{found['test']:.2f}", "", "", "", "", "", ""]
    epochs = found["epochs"]
    curve = ", ".join(f"{epoch['score']:.2f}" for epoch in epochs[1:])
    after = [
        ", ".join(f"{one[f'tuned_{name}']:.2f}" for one in seeds if "tuned_dev" in one) for name in ("dev", "test")
    ]
    names = "updates", "invalid", "place", "examples", "seconds"
    updates, invalid, place, examples, seconds = (sum(one[name] for one in epochs) for name in names)
    shares = [f"{100 * invalid / max(updates, 1):.1f}%", f"{100 * place / max(updates, 1):.0f}%"]
    scales = ", ".join(f"{value:.2f}" for value in found.get("scales", {}).values())
    speed = f"{examples / max(seconds, 1e-9):.0f}"
    alone, usual, written = (
        ", ".join(f"{one[f'{kind}_dev']:.2f} {one[f'{kind}_test']:.2f}" for one in seeds if f"{kind}_dev" in one)
        for kind in ("alone", "usual", "written")
    )
    return [found["run"], f"{epochs[-1]['features']:,}", curve, alone, *after, scales, *shares, speed, usual, written]


if __name__ == "__main__":
    main()
