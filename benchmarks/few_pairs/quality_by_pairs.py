"""Quality and cost by number of sentence pairs: train-model on the first pairs of a corpus, tuned, on its test set.

    python -m benchmarks.few_pairs.quality_by_pairs DATA --output DIR [--corpora multi30k ...] [--plot FILE.png]

Words are aligned on these pairs alone. Weights are tuned on the development set by five iterations of corpus-level
MIRA. Seconds are processor time of both commands. A file for each run is kept in DIR, and existing ones are not made
again. The table of results is printed as CSV.
"""

import csv
import json
import resource
import sys
from pathlib import Path
from typing import Any

from benchmarks.corpora import CORPORA, development_of, head
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.plot_option import add_plot_option
from phrasebeam import Decoder, evaluate_texts, train_model, tune
from phrasebeam.base.figures import write_figure
from phrasebeam.base.files import read_lines
from phrasebeam.training.metrics.evaluation import EvaluationOptions

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 0)  # sentence pairs; 0: all
WITH_TEST = tuple(name for name, corpus in CORPORA.items() if corpus.test)
COLUMNS = ["corpus", "pairs", "BLEU", "chrF++", "processor seconds"]


def main() -> None:
    parser = parser_of(__doc__, corpora=WITH_TEST)
    add_plot_option(parser, "BLEU by the number of pairs")
    given = parser.parse_args()
    rows = list[list[Any]]()
    for corpus in given.corpora:
        for size in SIZES:
            path = given.output / f"{corpus}.{size}.json"
            if not path.exists() and not given.tables:
                write(path, measured(given.data / corpus, corpus, size, path.with_suffix("")))
            if path.exists():
                found = json.loads(path.read_text())
                rows.append([corpus, *(found[name] for name in COLUMNS[1:])])
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerows([COLUMNS, *rows])
    if given.plot:
        write_figure(given.plot, 8, 5, lambda figure: draw(figure, rows))


def measured(data: Path, name: str, size: int, work: Path) -> dict[str, Any]:
    """The numbers of one run."""
    corpus = CORPORA[name]
    work.mkdir(parents=True, exist_ok=True)
    languages = corpus.source, corpus.target
    paths = [data / f"train.{language}" for language in languages]
    if size:
        paths = [head(path, size, work) for path in paths]
    begin = seconds()
    train_model(*paths, work / "model", force=True)
    development = development_of(data, corpus)
    tune(work / "model", *development, work / "tuned", method="mira-corpus", iterations=5, nbest=100, force=True)
    spent = seconds() - begin
    source, reference = (list(read_lines(data / f"{corpus.test}.{language}")) for language in languages)
    found = [one.text for one in Decoder.load(work / "tuned").translate_all(source)]
    scores = evaluate_texts({"tuned": found}, [reference], EvaluationOptions(tokenize="none")).results
    n_pairs = sum(1 for _ in read_lines(paths[0]))
    return {
        "pairs": n_pairs,
        "BLEU": round(scores["BLEU"][0].score, 2),
        "chrF++": round(scores["chrF2++"][0].score, 2),
        "processor seconds": round(spent),
    }


def seconds() -> float:
    """Processor seconds of this process and of its children so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def draw(figure: Any, rows: list[list[Any]]) -> None:
    """Draw BLEU by the number of sentence pairs, with a line for each corpus."""
    axes = figure.subplots()
    for corpus in dict.fromkeys(row[0] for row in rows):
        points = [(row[1], row[2]) for row in rows if row[0] == corpus]
        axes.plot(*zip(*points), marker="o", label=f"{corpus}, {CORPORA[corpus].source}-{CORPORA[corpus].target}")
    axes.set_xscale("log")
    sizes = sorted({row[1] for row in rows})
    axes.set_xticks(sizes, [f"{n / 1000:.0f}k" for n in sizes])
    axes.minorticks_off()
    axes.set_xlabel("sentence pairs")
    axes.set_ylabel("BLEU of the test set")
    axes.legend()


if __name__ == "__main__":
    main()
