"""phrasebeam compared with a Transformer trained on the same sentence pairs: quality, processor seconds and memory.

    python -m benchmarks.neural.compare DATA --output DIR [--runs multi30k.5000 ...] [--tables] [--plot FILE.png]

It writes the texts of each run to DIR/RUN, where `python -m benchmarks.neural.train DIR/RUN` trains the neural system;
it also trains phrasebeam there by its recipes, unless that has been done. The table of results is printed as CSV; p is
from a paired bootstrap against the neural system. Seconds are processor time, for training and for the test set.
"""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.measure import PHRASEBEAM, ROOT
from benchmarks.measure import run as measured
from benchmarks.neural.texts import RUNS, Run, prepare
from benchmarks.plot_option import add_plot_option
from phrasebeam import evaluate_texts
from phrasebeam.base.figures import write_figure
from phrasebeam.base.files import read_lines
from phrasebeam.training.metrics.evaluation import EvaluationOptions

COLUMNS = ["corpus", "pairs", "system", "BLEU", "p", "chrF++", "p of chrF++", "training s", "test s", "MB"]
NEURAL = "Transformer"
TUNED = "train-model, tune"  # the system of benchmarks.few_pairs.quality_by_pairs
STYLES = {NEURAL: "s--", "quick": "o-", "small": "^:", TUNED: ".-"}  # of the lines in the plot


def main() -> None:
    parser = parser_of(__doc__, runs=RUNS)
    add_plot_option(parser, "the test sets' scores")
    given = parser.parse_args()
    rows = list[dict[str, Any]]()
    for name in given.runs:
        directory = given.output / name
        if not given.tables:
            prepare(RUNS[name], given.data, directory)
            for recipe in recipes(RUNS[name]):
                phrase_based(RUNS[name], recipe, given.data, directory)
        rows += table_rows(RUNS[name], directory)
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    if given.plot:
        write_figure(given.plot, 11, 4.5, lambda figure: draw(figure, [*by_pairs(), *rows]))


def recipes(run: Run) -> list[str]:
    """The recipes of phrasebeam to compare; for raw text, which has no development data, `small`, which needs none."""
    return ["small"] if run.is_raw else ["quick", "small"]


def phrase_based(run: Run, recipe: str, data: Path, directory: Path) -> None:
    """Train by a recipe and translate the test set, each with one command and one thread."""
    if (directory / f"{recipe}.json").exists():
        return
    model, found = directory / recipe, directory / f"{recipe}.test"
    if run.is_raw:  # the recipe splits the whole text itself
        source, target = run.paths(data, "train")
        codes = [f"--{side}-language={code}" for side, code in zip(("source", "target"), run.languages)]
        options = ["--raw", *codes]
    else:
        source, target = (directory / f"train.{side}" for side in ("source", "target"))
        options = ["--dev-source", f"{directory / 'dev.source'}", "--dev-reference", f"{directory / 'dev.target'}"]
    texts = ["--source", str(source), "--target", str(target), *options]
    train = [*PHRASEBEAM, "train", "--recipe", recipe, *texts, "--output", str(model), "--threads", "1"]
    trained = measured(train)
    test = ["--model", str(model), "--threads", "1", "--output", str(found)]
    translated = measured([*PHRASEBEAM, "translate", *test], directory / "test.source")
    numbers = {
        "processor seconds": round(trained.processor_seconds),
        "seconds of the test set": round(translated.processor_seconds, 1),
        "peak MB": max(trained.peak_bytes, translated.peak_bytes) // 2**20,
    }
    write(directory / f"{recipe}.json", numbers)


def table_rows(run: Run, directory: Path) -> Iterator[dict[str, Any]]:
    """A row for each system that has translated the test set, the neural one first."""
    systems = {"neural": NEURAL} | {recipe: recipe for recipe in recipes(run)}
    done = {name: shown for name, shown in systems.items() if (directory / f"{name}.json").exists()}
    if not done:
        return
    texts = {name: list(read_lines(directory / f"{name}.test")) for name in done}
    paired = "bootstrap" if "neural" in done and len(done) > 1 else None
    options = EvaluationOptions(tokenize=None if run.is_raw else "none", paired=paired)
    results = evaluate_texts(texts, [list(read_lines(directory / "test.target"))], options).results
    n_pairs = sum(1 for _ in read_lines(directory / "train.source"))
    for i, (name, shown) in enumerate(done.items()):
        numbers = json.loads((directory / f"{name}.json").read_text())
        bleu, chrf = results["BLEU"][i], results["chrF2++"][i]
        cells = [run.corpus, n_pairs, shown, f"{bleu.score:.2f}", p_value(bleu), f"{chrf.score:.2f}", p_value(chrf)]
        measures = [numbers[one] for one in ("processor seconds", "seconds of the test set", "peak MB")]
        yield dict(zip(COLUMNS, [*cells, *measures]))


def p_value(result: Any) -> str:
    return "" if result.p_value is None else f"{result.p_value:.3f}"


def by_pairs() -> list[dict[str, Any]]:
    """Rows for further numbers of training pairs, from a page of experiments."""
    with open(ROOT / "docs" / "experiments" / "results" / "quality-by-pairs.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        {"corpus": row["corpus"], "system": TUNED, "pairs": int(row["pairs"]), "chrF++": row["chrF++"]}
        | {"training s": int(row["processor seconds"])}
        for row in rows
    ]


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Draw scores on the test sets by the number of training pairs, and by processor seconds of training."""
    panels = figure.subplots(1, 2, sharey=True)
    colours = {one: f"C{i}" for i, one in enumerate(dict.fromkeys(row["corpus"] for row in rows))}
    for axes, column in zip(panels, ("pairs", "training s")):
        for corpus, system in dict.fromkeys((row["corpus"], row["system"]) for row in rows):
            of_line = [row for row in rows if (row["corpus"], row["system"]) == (corpus, system)]
            points = [(row[column], float(row["chrF++"])) for row in of_line]
            axes.plot(*zip(*points), STYLES[system], color=colours[corpus], label=f"{corpus}, {system}")
        axes.set_xscale("log")
        axes.set_xlabel("training pairs" if column == "pairs" else "processor seconds of training")
    panels[0].set_ylabel("chrF++ of the test set")
    panels[1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


if __name__ == "__main__":
    main()
