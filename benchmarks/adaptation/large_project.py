"""A project with many confirmed segments: seconds to open it, translate, learn and undo, and its memory.

    python -m benchmarks.adaptation.large_project DIR [--segments 0 5000 50000]

DIR was made by benchmarks.adaptation.documents: it has a model and its documents. The segments of the project are
random training pairs of the model, with a sixth of the source words replaced by others. Seconds are processor time.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import table
from phrasebeam.api.preprocess import preprocess
from phrasebeam.base.progress import show_progress, stage
from phrasebeam.decoder.adaptation.journal import Journal
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translation_memory.segment import Segment

TRANSLATED, LEARNED = 200, 50  # sentences
NEW_WORDS = 20_000
PAGE = 4096  # bytes
HEADS = ["segments", "opened s", "sentence ms", "learned ms", "undone s", "counts MB", "resident MB"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--languages", nargs=2, default=["en", "es"])
    parser.add_argument("--segments", type=int, nargs="+", default=[0, 5000, 50_000])
    given = parser.parse_args()
    show_progress()
    model, names = given.directory / "model", given.languages
    pairs, work = (
        [
            [line.split() for line in preprocess(model, side, input=given.directory / f"{part}.{name}")]
            for side, name in zip(("source", "target"), names)
        ]
        for part in ("train", "work")
    )
    with tempfile.TemporaryDirectory() as directory:
        rows = [measured(model, pairs, work, n, Path(directory) / f"{n}.journal") for n in given.segments]
    print(table([HEADS, *rows]))


def measured(
    model: Path, pairs: Sequence[list[list[str]]], work: Sequence[list[list[str]]], n: int, path: Path
) -> list[str]:
    """The row of a project of n segments."""
    write_journal(model, pairs, n, path)
    begin = time.process_time()
    decoder = AdaptedDecoder.load(model, journal=path)
    opened = time.process_time() - begin
    sentences = [" ".join(words) for words in work[0][:TRANSLATED]]
    for _ in range(2):  # the first time, pages of the model are read from disk
        begin = time.process_time()
        for sentence in sentences:
            decoder.translate(sentence)
        translated = (time.process_time() - begin) / len(sentences)
    begin = time.process_time()
    for source, target in zip(work[0][:LEARNED], work[1]):
        decoder.confirm(source, target)
    learned = (time.process_time() - begin) / LEARNED
    begin = time.process_time()
    decoder.undo(decoder.segments[-1].number)
    undone = time.process_time() - begin
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6
    counts = decoder.memory.n_bytes / 1e6
    decoder.close()
    values = [opened, 1e3 * translated, 1e3 * learned, undone]
    return [f"{n:,}", *(f"{value:.1f}" for value in values), f"{counts:.0f}", f"{resident:.0f}"]


def write_journal(model: Path, pairs: Sequence[list[list[str]]], n: int, path: Path) -> None:
    """Write the journal of a project of n segments with their alignments."""
    rng, aligner, journal = random.Random(1), AdaptedDecoder.load(model).memory, Journal(path)
    points = dict[int, tuple[tuple[int, int], ...]]()
    with stage("writing the journal", n, "segments") as advance:
        for number in range(1, n + 1):
            k = rng.randrange(len(pairs[0]))
            source, target = list(pairs[0][k]), pairs[1][k]
            if k not in points:
                points[k] = aligner.align(source, target)
            for _ in range(max(1, len(source) // 6)):
                source[rng.randrange(len(source))] = f"w{rng.randrange(NEW_WORDS)}"
            journal.confirm(Segment(number, tuple(source), tuple(target), points[k]))
            advance(1)
    journal.close()


if __name__ == "__main__":
    main()
