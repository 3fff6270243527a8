"""Reranking with lexical features as in Tan et al. (2013, section 4.2, Table 3): BLEU, features, seconds, memory.

    python -m benchmarks.experiments.reranking DATA --output DIRECTORY [--corpus NAME ...]
        [--method NAME ...] [--tables]

The lists are those of tuning.py's model with dense weights by MERT; DIRECTORY may be the same. The sparse features of
an entry are its pairs of aligned words, the number of target words for each source word (fertility), and its target
bigrams.
"""

import argparse
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpora import CORPORA
from benchmarks.experiments.kept_runs import parser_of, write
from benchmarks.experiments.tuning import SETTINGS, Job, corpus_files, tune
from benchmarks.measure import PHRASEBEAM, megabytes, run, table
from phrasebeam.base.config import parse_config
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.decoder.output.rendering import render_nbest
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.metrics.evaluation import bleu
from phrasebeam.training.nbest.moses_nbest import find_layout
from phrasebeam.training.nbest.nbest_reader import NbestReader

SIZE = 100
METHODS = "mira-chiang", "mira-batch", "mira-corpus"
KINDS = "dense", "sparse"
C = 0.001, 0.01, 0.1, 1.0  # the value that is best on the development set is reported


class Lists(NamedTuple):
    """N-best lists of a set of sentences."""

    path: Path
    reference: Path


def main() -> None:
    given = parser_of(__doc__, corpus=CORPORA, method=METHODS).parse_args()
    if not given.tables:
        for corpus in given.corpus:
            measure(corpus, given)
    for corpus in given.corpus:
        print_table(corpus, given)


def file_of(given: argparse.Namespace, corpus: str, kind: str, method: str, c: float) -> Path:
    return Path(given.output) / f"{corpus}.reranking.{kind}.{method}.{c:g}.run"


def measure(corpus: str, given: argparse.Namespace) -> None:
    """Make all runs that do not exist."""
    first = Job(corpus, "dense", "mert", None, 1)
    if not (given.output / f"{first.name}.json").exists():
        tune(first, given.data, given.output)
    files = corpus_files(corpus, given.data, given.output)
    decoder = Decoder.load(
        given.output / f"{first.name}.model", parse_config(SETTINGS["search"], SearchSettings, "settings")
    )
    for kind in KINDS:
        lists = {}
        for name in ("dev", "test"):
            path = given.output / f"{corpus}.reranking.{kind}.{name}"
            lists[name] = Lists(path, files[f"{name}_target"])
            if not path.exists():
                write_lists(decoder, files[f"{name}_source"], path, kind == "sparse")
        for method in given.method:
            for c in C:
                path = file_of(given, corpus, kind, method, c)
                if not path.exists():
                    write(path, rerank(lists, method, c, path))


def write_lists(decoder: Decoder, source: Path, path: Path, with_sparse: bool) -> None:
    """Translate a file, and write n-best lists in Moses' format."""
    with atomic_file(path) as file:
        for number, line in enumerate(read_lines(source)):
            entries = decoder.nbest(line, SIZE, distinct=True)
            for entry, text in zip(entries, render_nbest(number, entries, False, False).splitlines(), strict=True):
                fields = text.split(" ||| ")
                if with_sparse:
                    fields[2] = " ".join([fields[2], *(f"{name}= {n}" for name, n in lexical(line, entry).items())])
                file.write((" ||| ".join(fields) + "\n").encode())


def lexical(line: str, entry: Translation) -> Counter[str]:
    """The sparse features of an entry, and their values."""
    source, target, points = line.split(), entry.text.split(), entry.alignment
    fertility = Counter(i for i, _ in points)
    pairs = Counter(f"pair_{source[i]}_{target[j]}" for i, j in points)
    bigrams = Counter(f"bigram_{first}_{second}" for first, second in pairwise(target))
    return pairs + bigrams + Counter(f"fertility_{word}_{fertility[i]}" for i, word in enumerate(source))


def rerank(lists: dict[str, Lists], method: str, c: float, path: Path) -> dict[str, Any]:
    """Learn on the development set; return BLEU of both sets with the learned weights, and the cost."""
    weights = path.with_suffix(".weights")
    learning = [f"--train={lists['dev'].path}", f"--reference={lists['dev'].reference}", f"--c={c}"]
    measured = run([*PHRASEBEAM, "rerank", f"--weights={weights}", f"--method={method}", "--threads=1", *learning])
    found: dict[str, Any] = {"processor_seconds": measured.processor_seconds, "peak_bytes": measured.peak_bytes}
    found["features"] = len(find_layout(lists["dev"].path).sparse)
    for name, (nbest, reference) in lists.items():
        printed = run([*PHRASEBEAM, "rerank", f"--weights={weights}", f"--nbest={nbest}"]).output.splitlines()
        decoded = [lines.hypotheses()[begin] for lines in NbestReader(nbest) for begin, _ in lines.lists()]
        found[f"before {name}"] = bleu(decoded, list(read_lines(reference)))[0]
        found[name] = bleu(printed, list(read_lines(reference)))[0]
    weights.unlink()
    return found


def print_table(corpus: str, given: argparse.Namespace) -> None:
    """Print a row for each method and kind of features, with the C that is best on the development set."""
    rows = [["features", "method", "C", "dev", "test", "processor seconds", "peak memory"]]
    for kind in KINDS:
        for method in given.method:
            paths = {c: file_of(given, corpus, kind, method, c) for c in C}
            runs = {c: json.loads(path.read_text()) for c, path in paths.items() if path.exists()}
            if not runs:
                continue
            c = max(runs, key=lambda c: runs[c]["dev"])
            found = runs[c]
            if len(rows) == 1:
                rows.append(
                    ["not reranked", "", "", *(f"{found[f'before {name}']:.2f}" for name in ("dev", "test")), "", ""]
                )
            names = "dense" if kind == "dense" else f"and {found['features']:,} sparse"
            cost = [f"{found['processor_seconds']:.0f}", megabytes(found["peak_bytes"])]
            rows.append([names, method, f"{c:g}", *(f"{found[name]:.2f}" for name in ("dev", "test")), *cost])
    print(f"\n### {corpus}\n\n{table(rows)}", flush=True)


if __name__ == "__main__":
    main()
