"""Files with the numbers behind Figures 8, 9, 10 and 12 and Table 4: a row for each corpus, search, run and seed.

The pages of experiments include them by benchmarks/tables.py.
"""

import argparse
import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.experiments.maxforce.learning import file_of, variant, with_search
from benchmarks.experiments.maxforce.runs import PEAK
from phrasebeam.base.files import atomic_file

SHOWN = [1, 2, 3, 5, 7, 9, 11, PEAK]  # iterations
CORPORA = {"multi30k": "Multi30k", "ted": "TED", "tanaka": "Tanaka"}
Run = dict[str, Any]  # the numbers of a run, as learning.py writes them
Cells = dict[str, str]


class Figure(NamedTuple):
    """The runs that a figure compares, and the columns of its file."""

    column: str  # name of the column that tells the runs apart, such as "update"
    runs: Mapping[str, str]  # names of runs in runs.py, by the value in that column
    cells: Callable[[Run], Cells]  # the other columns, from the numbers of a run


def write_figures(given: argparse.Namespace) -> None:
    """Write a file for each figure that has runs with the options of the command, and print its path."""
    for name, figure in FIGURES.items():
        rows = rows_of(figure, given)
        if rows:
            write_rows(Path(given.output) / name, rows)


def write_rows(path: Path, rows: Sequence[Cells]) -> None:
    """Write a file of results, and print its path."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_file(path) as file:
        file.write(text.getvalue().encode())
    print(f"\n{path}: {len(rows)} runs", flush=True)


def rows_of(figure: Figure, given: argparse.Namespace) -> list[Cells]:
    """The rows of all runs that exist."""
    rows = []
    for corpus, search, (value, run), seed in product(given.corpus, given.search, figure.runs.items(), given.seed):
        path = file_of(given.output, corpus, run + variant(with_search(given, search)), seed)
        if path.exists():
            names = {"corpus": CORPORA[corpus], "search": search, figure.column: value, "seed": str(seed)}
            rows.append(names | figure.cells(json.loads(path.read_text())))
    return rows


def curve(run: Run) -> Cells:
    """BLEU on the development set by iteration, with the weights as they were learned."""
    return {str(i): f"{run['epochs'][i]['score']:.2f}" for i in SHOWN if i < len(run["epochs"])}


def invalid(run: Run) -> Cells:
    """Invalid updates, in percent of the updates, by iteration."""
    return {str(i): share_of_invalid(run["epochs"][i]) for i in SHOWN if i < len(run["epochs"])}


def share_of_invalid(iteration: dict[str, Any]) -> str:
    """The percentage of an iteration's updates whose y-good derivation already had the higher score."""
    return f"{100 * iteration['invalid'] / max(1, iteration['updates']):.0f}"


def first_and_last_invalid(run: Run) -> Cells:
    """Invalid updates in the first and in the last iteration, in percent."""
    first, last = run["epochs"][1], run["epochs"][-1]
    return {"% invalid, first": share_of_invalid(first), "% invalid, last": share_of_invalid(last)}


def ends(run: Run) -> Cells:
    """BLEU on both sets with the last weights: alone, and tuned for the search that learned them and for ours."""
    return {
        f"{name}, {title}": f"{run.get(f'{kind}_{name}', run[f'tuned_{name}']):.2f}"
        for kind, title in (("alone", "alone"), ("tuned", "tuned"), ("usual", "our search"))
        for name in ("dev", "test")
    }


def size(run: Run) -> Cells:
    """The number of sparse features with weights at the end."""
    return {"sparse features": str(run["epochs"][-1]["features"])}


FIGURES = {
    "yu2013-figure-8.csv": Figure(
        "update",
        {update: f"figure 8, {update}" for update in ("max-violation", "early", "standard", "local")},
        lambda run: curve(run) | first_and_last_invalid(run) | ends(run),
    ),
    "yu2013-figure-9.csv": Figure(
        "beam",
        {"beam 3": "figure 9, beam 3", "beam 10": "figure 9, beam 10", "beam 30": "figure 8, standard"},
        invalid,
    ),
    "yu2013-figure-10.csv": Figure(
        "mini-batch",
        {f"{number} sentence{'s' * (number > 1)}": f"figure 10, batch {number}" for number in (1, 4, 24)},
        lambda run: curve(run) | ends(run),
    ),
    "yu2013-figure-12.csv": Figure(
        "features",
        {
            "dense features": "figure 12, dense",
            "rule ids": "figure 12, rule ids",
            "+ word edges": "figure 12, word edges",
            "+ non-local features": "figure 8, max-violation",
        },
        lambda run: size(run) | curve(run) | ends(run),
    ),
}
