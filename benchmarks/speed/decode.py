"""What a decoder finds in how much time: words per second, average model score and BLEU over the limits of the search.

    python -m benchmarks.speed.decode DATA [--models multi30k ted] [--peers moses2 thot] [--sentences 300] [--repeat 3]

Every decoder translates with one thread, and what counts is processor time without loading and compilation: the median
of the repeats, in each of which every decoder takes its turn at every setting. All search up to distortion limit 6 with
20 target phrases for each source phrase; ours and Moses2 hold the same model and weights, Thot one as near as its
formats allow (decode_thot.py). Sizes are those of stacks; in cube pruning they are pop limits: our stacks hold two
fifths of that, with a beam threshold of 0.001, and Moses2's as many, since fewer do not make it faster.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import sacrebleu

from benchmarks.measure import table
from benchmarks.speed.decode_models import JOBS, Job, n_copies, prepare
from phrasebeam.base.figures import check_figure_file, write_figure
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder

OURS = "phrasebeam"
SIZES = {
    OURS: {"stack": (10, 25, 50, 100, 200, 400), "cube": (15, 25, 45, 70, 100, 150, 250, 400, 600, 1000, 2000)},
    "moses2": {"stack": (10, 25, 50, 100, 200, 400), "cube": (10, 20, 30, 60, 100, 200, 400, 1000, 2000)},
    "thot": {"stack": (1, 3), "monotone": (1, 5)},
}


class Contestant(Protocol):
    """A decoder with its model loaded."""

    name: str

    def decode(self, algorithm: str, size: int) -> tuple[float, list[str], list[float] | None]:
        """(processor seconds for all sentences, translations, model scores if they can be compared)."""


class Ours:
    """Our decoder, in this process."""

    name = OURS

    def __init__(self, job: Job):
        self.job, self.model = job, open_model(job.model)
        for algorithm in SIZES[OURS]:  # compile
            self._decoder(algorithm, 100).translate(job.sources[0])

    def _decoder(self, algorithm: str, size: int) -> Decoder:
        limits = {"stack": size}
        if algorithm == "cube":
            limits = {"stack": max(size * 2 // 5, 1), "pop_limit": size, "beam_threshold": 0.001}
        return Decoder(self.model, SearchSettings.model_validate({"algorithm": algorithm, **limits}))

    def decode(self, algorithm: str, size: int) -> tuple[float, list[str], list[float]]:
        decoder, copies = self._decoder(algorithm, size), n_copies(algorithm, size)
        begin = time.process_time()
        for _ in range(copies):
            found = []
            for source in self.job.sources:
                translation = decoder.translate(source)
                found.append((translation.text, translation.score))
        seconds = (time.process_time() - begin) / copies
        texts, scores = map(list, zip(*found))
        return seconds, texts, scores


class Figure(NamedTuple):
    """One decoder at one setting."""

    decoder: str
    algorithm: str
    size: int
    seconds: float  # median
    spread: float  # (slowest - fastest) / median
    score: float | None
    bleu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--peers", nargs="*", choices=list(SIZES)[1:], default=list(SIZES)[1:])
    parser.add_argument("--moses2", type=Path, default=shutil.which("moses2"), help="the program; without it no Moses2")
    parser.add_argument("--sentences", type=int, help="only so many of each test set")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scratch", type=Path, help="directory for the models; default: they are deleted")
    parser.add_argument("--output", type=Path, help="file for the tables; they are printed too")
    parser.add_argument("--plot", type=Path, help="image of model score against time; needs the extra `plots`")
    arguments = parser.parse_args()
    if arguments.plot:
        check_figure_file(arguments.plot)
    figures, texts = {}, []
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.models:
            job = prepare(name, arguments.data, arguments.scratch or Path(temporary), arguments.sentences)
            contestants = list(enter(job, arguments.peers, arguments.moses2))
            figures[name] = compare(job, contestants, arguments.repeat)
            texts.append(f"**{name}**, {len(job.sources)} sentences, {job.n_words()} words\n\n")
            texts[-1] += f"{describe(figures[name], job)}\n"
            print(texts[-1], flush=True)
            if arguments.output:
                arguments.output.write_text("\n".join(texts))
            if arguments.plot:
                plot(figures, arguments.plot, len(job.sources))


def enter(job: Job, peers: list[str], moses2: Path | None) -> Iterator[Contestant]:
    """Ours and the peers that are there."""
    yield Ours(job)
    if "moses2" in peers and moses2:
        from benchmarks.moses.moses2 import Moses2

        yield Moses2(job, moses2)
    if "thot" in peers:
        from benchmarks.speed.decode_thot import Thot

        yield Thot(job)


def compare(job: Job, contestants: list[Contestant], repeat: int) -> list[Figure]:
    runs: dict[tuple[str, str, int], list[float]] = {}
    quality: dict[tuple[str, str, int], tuple[float | None, float]] = {}
    for number in range(repeat):
        for contestant in contestants:
            for algorithm, sizes in SIZES[contestant.name].items():
                for size in sizes:
                    key = contestant.name, algorithm, size
                    seconds, found, scores = contestant.decode(algorithm, size)
                    runs.setdefault(key, []).append(seconds)
                    quality[key] = statistics.fmean(scores) if scores else None, bleu(found, job.references)
        print(f"{job.name}: {number + 1} of {repeat}", file=sys.stderr)
    figures = []
    for key, times in runs.items():
        median = statistics.median(times)
        figures.append(Figure(*key, median, (max(times) - min(times)) / median, *quality[key]))
    return figures


def bleu(found: list[str], references: list[str]) -> float:
    return sacrebleu.corpus_bleu(found, [references], tokenize="none", lowercase=True, force=True).score


def describe(figures: list[Figure], job: Job) -> str:
    """A table in Markdown."""
    rows = [["decoder", "search", "size", "words/s", "spread", "ms/sentence", "average model score", "BLEU"]]
    for figure in figures:
        speed = f"{job.n_words() / figure.seconds:,.0f}", f"{100 * figure.spread:.0f} %"
        score = "" if figure.score is None else f"{figure.score:.4f}"
        time_each = f"{1000 * figure.seconds / len(job.sources):.2f}"
        rows.append([*figure[:2], f"{figure.size}", *speed, time_each, score, f"{figure.bleu:.2f}"])
    return table(rows)


def plot(figures: dict[str, list[Figure]], path: Path, n_sentences: int) -> None:
    """A panel for each model: average model score against milliseconds for a sentence."""

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(figures), squeeze=False)[0]
        for panel, (name, of_model) in zip(panels, figures.items()):
            for kind in dict.fromkeys(one[:2] for one in of_model if one.score is not None):
                points = [one for one in of_model if one[:2] == kind]
                times = [1000 * one.seconds / n_sentences for one in points]
                panel.plot(times, [one.score for one in points], marker="o", label=", ".join(kind))
            panel.set(title=name, xscale="log", xlabel="milliseconds per sentence", ylabel="average model score")
            panel.legend()

    write_figure(path, 6 * len(figures), 5, draw)


if __name__ == "__main__":
    main()
