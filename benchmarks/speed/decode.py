"""Our command compared with Moses2: seconds, model score and BLEU, for several limits of the search.

    python -m benchmarks.speed.decode DATA [--models multi30k ted] [--before COMMAND] [--repeat 5]
        [--moses2 PROGRAM] [--probing-table PROGRAM]

Every command gets the same distinct sentences once, the first one alone. The cost is the processor seconds of all its
threads from the answer to the first sentence to the answer to the last: the median of the repeats. In each repeat every
command takes its turn at every setting. COMMAND is the `phrasebeam` of another version.

All decoders search up to distortion limit 6, with 20 target phrases per source phrase, and with the same model and
weights. Only Thot's model differs: it is as similar as its formats allow (decode_thot.py), and Thot runs in this
process. Sizes are those of stacks. In cube pruning they are pop limits, with our defaults for all other limits;
Moses2's stacks then have that size, too, since smaller ones do not make it faster. The second table compares times at
scores that are at least equal.
"""

import argparse
import csv
import shlex
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import sacrebleu

from benchmarks.measure import PHRASEBEAM, checkout_environment, run_after_first, table
from benchmarks.plot_option import add_plot_option
from benchmarks.speed.decode_models import JOBS, Decoded, Job, prepare
from phrasebeam.base.figures import write_figure

OURS, BEFORE = "phrasebeam", "before"
TITLES = {"stack": "stack decoding", "cube": "cube pruning", "monotone": "monotone"}
LIMITS = {
    "stack": (10, 11, 12, 15, 25, 27, 30, 50, 55, 60, 100, 105, 110, 200, 210, 225, 400, 425, 450),
    "cube": (10, 12, 14, 20, 25, 30, 35, 40, 50, 70, 80, 100, 125, 150, 200, 250, 400, 450, 600, 800, 1000, 2000),
}
SIZES = {
    OURS: LIMITS,
    BEFORE: LIMITS,
    "Moses2": {"stack": (10, 25, 50, 100, 200, 400), "cube": (10, 20, 30, 60, 100, 200, 400, 1000, 2000)},
    "Thot": {"stack": (1, 3), "monotone": (1, 5)},
}


class Contestant(Protocol):
    """A decoder."""

    name: str

    def decode(self, algorithm: str, size: int) -> Decoded:
        """Translate all sentences."""


class Ours:
    """A command `phrasebeam translate`."""

    def __init__(self, job: Job, name: str = OURS, command: list[str] = PHRASEBEAM, threads: int = 1):
        self.job, self.name = job, name
        self.command = [*command, "translate", "--model", f"{job.model}", "--threads", f"{threads}", "--quiet"]
        self.environment = checkout_environment() if command is PHRASEBEAM else None  # another version uses its own
        self.scores: dict[tuple[str, int], list[float]] = {}

    def decode(self, algorithm: str, size: int) -> Decoded:
        command = [*self.command, *self._limits(algorithm, size)]
        if (algorithm, size) not in self.scores:  # this run also compiles kernels
            found = run_after_first([*command, "--scores"], self.job.sources, self.environment)
            self.scores[algorithm, size] = [float(line.rpartition("|||")[2]) for line in found.lines]
        found = run_after_first(command, self.job.sources, self.environment)
        return Decoded(found.processor_seconds, found.seconds, found.lines, self.scores[algorithm, size])

    @staticmethod
    def _limits(algorithm: str, size: int) -> list[str]:
        if algorithm == "stack":
            return ["--algorithm", algorithm, "--stack", f"{size}"]
        return ["--algorithm", algorithm, "--pop-limit", f"{size}"]


class Figure(NamedTuple):
    """One decoder at one setting."""

    decoder: str
    algorithm: str
    size: int
    ms: float  # processor milliseconds per sentence, median
    elapsed: float  # wall milliseconds per sentence, median
    spread: float  # (slowest - fastest) / median
    score: float | None
    bleu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--thot", action="store_true", help="Thot, too")
    parser.add_argument("--moses2", type=Path, default=shutil.which("moses2"), help="the program; without it no Moses2")
    parser.add_argument("--probing-table", type=Path, help="the program CreateProbingPT, which makes Moses2's tables")
    parser.add_argument("--searches", nargs="+", choices=LIMITS, default=list(LIMITS))
    parser.add_argument("--sentences", type=int, help="only so many of each test set")
    parser.add_argument("--before", type=shlex.split, help="the command of another version, such as '/old/phrasebeam'")
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="of our command, each measured")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--scratch", type=Path, help="directory for the models; default: they are deleted")
    parser.add_argument("--output", type=Path, help="file for the tables; they are printed too")
    parser.add_argument("--results", type=Path, help="file for the figures as CSV")
    parser.add_argument("--equal-scores", type=Path, help="file for the comparison at equal scores as CSV")
    add_plot_option(parser, "model score against time")
    arguments = parser.parse_args()
    figures, texts = {}, []
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.models:
            job = prepare(name, arguments.data, arguments.scratch or Path(temporary), arguments.sentences)
            contestants = list(enter(job, arguments))
            figures[name] = compare(job, contestants, arguments.searches, arguments.repeat)
            texts.append(f"**{name}**, {len(job.sources)} sentences, {job.n_words()} words\n\n")
            texts[-1] += f"{describe(figures[name])}\n"
            print(texts[-1], flush=True)
            if arguments.output:
                arguments.output.write_text("\n".join(texts))
            for path, rows in ((arguments.results, rows_of), (arguments.equal_scores, at_equal_scores)):
                if path:
                    write_rows(path, {corpus: rows(of_corpus) for corpus, of_corpus in figures.items()})
            if arguments.plot:
                plot(figures, arguments.plot)


def enter(job: Job, arguments: argparse.Namespace) -> Iterator[Contestant]:
    """Our decoders, and the other decoders that are installed."""
    for threads in arguments.threads:
        yield Ours(job, OURS if threads == 1 else f"{OURS}, {threads} threads", PHRASEBEAM, threads)
    if arguments.before:
        yield Ours(job, BEFORE, arguments.before)
    if arguments.moses2:
        from benchmarks.moses.moses2 import Moses2
        from benchmarks.moses.probing_table import with_probing_table

        tables = arguments.probing_table
        yield Moses2(job._replace(moses=with_probing_table(job.moses, tables)) if tables else job, arguments.moses2)
    if arguments.thot:
        from benchmarks.speed.decode_thot import Thot

        yield Thot(job)


def compare(job: Job, contestants: list[Contestant], searches: list[str], repeat: int) -> list[Figure]:
    runs: dict[tuple[str, str, int], list[Decoded]] = {}
    for number in range(repeat):
        for contestant in contestants:
            for algorithm, sizes in SIZES.get(contestant.name, LIMITS).items():
                for size in sizes if algorithm in searches else ():
                    found = contestant.decode(algorithm, size)
                    runs.setdefault((contestant.name, algorithm, size), []).append(found)
        print(f"{job.name}: {number + 1} of {repeat}", file=sys.stderr)
    figures = []
    for key, all_found in runs.items():
        last, times = all_found[-1], [1000 * one.seconds / len(job.sources) for one in all_found]
        ms, elapsed = statistics.median(times), statistics.median(one.elapsed for one in all_found)
        score = statistics.fmean(last.scores) if last.scores else None
        found = (1000 * elapsed / len(job.sources), (max(times) - min(times)) / ms, score)
        figures.append(Figure(*key, ms, *found, bleu(last.texts, job.references)))
    return figures


def bleu(found: list[str], references: list[str]) -> float:
    return sacrebleu.corpus_bleu(found, [references], tokenize="none", lowercase=True, force=True).score


def describe(figures: list[Figure]) -> str:
    """Two tables in Markdown: all figures, and those at equal scores."""
    return f"{table(rows_of(figures))}\n\n{table(at_equal_scores(figures))}"


def write_rows(path: Path, of_corpora: dict[str, list[list[str]]]) -> None:
    """Write tables with equal headings as one CSV file, with the name of the corpus first."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        output = csv.writer(file, lineterminator="\n")
        for number, (corpus, (heading, *rows)) in enumerate(of_corpora.items()):
            output.writerows([] if number else [["corpus", *heading]])
            output.writerows([corpus, *row] for row in rows)


def rows_of(figures: list[Figure]) -> list[list[str]]:
    """All figures, below their heading."""
    rows = [["decoder", "search", "size", "processor ms", "elapsed ms", "spread, %", "average model score", "BLEU"]]
    for one in figures:
        score = "" if one.score is None else f"{one.score:.4f}"
        figures_of_one = f"{one.ms:.3f}", f"{one.elapsed:.3f}", f"{100 * one.spread:.0f}", score, f"{one.bleu:.2f}"
        rows.append([one.decoder, TITLES[one.algorithm], f"{one.size}", *figures_of_one])
    return rows


def at_equal_scores(figures: list[Figure]) -> list[list[str]]:
    """For each setting of another decoder: our least time with at least its score, and the ratio of the times.

    Scores are compared to four decimals, since Moses2 writes six digits of the score of a sentence.
    """
    rows = [["decoder", "search", "its size", "its ms", "our size", "our ms", "ratio"]]
    for peer in figures:
        ours = [one for one in figures if one.decoder == OURS and one.algorithm == peer.algorithm]
        reached = [one for one in ours if one.score and peer.score and round(one.score, 4) >= round(peer.score, 4)]
        if peer.decoder.startswith(OURS) or not reached:
            continue
        best = min(reached, key=lambda one: one.ms)
        title = TITLES[peer.algorithm]
        rows.append([peer.decoder, title, f"{peer.size}", f"{peer.ms:.3f}", f"{best.size}", f"{best.ms:.3f}"])
        rows[-1].append(f"{peer.ms / best.ms:.2f}")
    return rows


def plot(figures: dict[str, list[Figure]], path: Path) -> None:
    """Draw a panel for each model and search: average model score against milliseconds per sentence."""
    names = dict.fromkeys(one.decoder for of_model in figures.values() for one in of_model)
    colours = {one: f"C{i}" for i, one in enumerate(names)}
    shown = [(name, kind) for name, of_model in figures.items() for kind in dict.fromkeys(one[1] for one in of_model)]

    def draw(figure: Any) -> None:
        for panel, (name, algorithm) in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown):
            scored = [one for one in figures[name] if one.algorithm == algorithm and one.score is not None]
            for decoder in dict.fromkeys(one.decoder for one in scored):
                points = [one for one in scored if one.decoder == decoder]
                ms, scores = [one.ms for one in points], [one.score for one in points]
                panel.plot(ms, scores, marker="o", color=colours[decoder], label=decoder)
            panel.set(title=f"{name}, {TITLES[algorithm]}", xscale="log", xlabel="milliseconds per sentence")
            panel.legend(fontsize="x-small", loc="lower right")
        figure.axes[0].set_ylabel("average model score")

    write_figure(path, 4 * len(shown), 4, draw)


if __name__ == "__main__":
    main()
