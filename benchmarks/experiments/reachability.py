"""The share of a training set that forced decoding reaches, by distortion limit, with and without leave-one-out.

    python -m benchmarks.experiments.reachability DATA [--corpus NAME ...] [--models DIR] [--every K] [--limits 0 2 ...]

The models are trained on the alignments in DATA, and kept in DIR. Shares are of sentence pairs, and of source words.
`+prefix` also counts the longest prefix pairs of at least 5 source words. Every K-th pair is decoded by one thread,
with the default bound on states and without a table limit.
"""

import argparse
import statistics
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.measure import PHRASEBEAM, run, table
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.forced.reachability import Reachability
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.lm.text.corpus import split

CORPORA = {"multi30k": ("de", "en"), "ted": ("de", "en"), "tanaka": ("ja", "en")}
HEADING = (
    "distortion limit",
    "leave-one-out",
    "% reachable",
    "% with prefixes",
    "% of words",
    "% with prefixes",
    "too large",
)
HEADING += ("median derivations", "ms a pair")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--models", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--limits", nargs="+", type=int, default=[0, 2, 4, 6, 8, 10])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for corpus in given.corpus:
            model = (given.models or Path(scratch)) / corpus
            files = train(given.data / corpus, *CORPORA[corpus], model)
            rows = [reach(model, *files, limit, mode, given.every) for limit in given.limits for mode in (False, True)]
            print(f"\n### {corpus}\n\n{table([list(HEADING), *rows])}", flush=True)


def train(directory: Path, source: str, target: str, model: Path) -> tuple[Path, TrainingFiles]:
    """The training data, and the `model` of them, which is trained unless it exists."""
    files = [directory / f"train.{name}" for name in (source, target, f"align.{source}-{target}")]
    if not model.exists():
        options = [f"--{name}={path}" for name, path in zip(("source", "target", "alignment"), files)]
        run([*PHRASEBEAM, "train-model", *options, f"--output={model}"])
    return files[0], TrainingFiles(files[1], files[2])


def reach(model: Path, source: Path, files: TrainingFiles, limit: int, leaves_out: bool, every: int) -> list[str]:
    """One row of the table."""
    decoder = ForcedDecoder.load(model, SearchSettings(table_limit=0, distortion_limit=limit))
    if not leaves_out:
        files = files._replace(alignment=None)
    decoder.force("", "")
    reached, ln_counts, milliseconds = Reachability(), [], []
    pairs = with_references((Input(split(line)) for line in read_lines(source)), files)
    for given, reference in islice(pairs, 0, None, every):
        start = time.thread_time()
        found = decoder.force(given, reference)
        milliseconds.append(1e3 * (time.thread_time() - start))
        reached.add(found)
        if found.status == "reachable":
            ln_counts.append(found.ln_derivations)
    shares = [f"{share:.1f}%" for share in (*reached.all.sentence_shares, *reached.all.word_shares)]
    median = f"e^{statistics.median(ln_counts):.1f}" if ln_counts else ""
    time_of_pair = f"{statistics.fmean(milliseconds[1:]):.1f}"  # without the first pair, for which kernels are compiled
    return [str(limit), "drop" if leaves_out else "", *shares, str(reached.all.too_large), median, time_of_pair]


if __name__ == "__main__":
    main()
