"""The cost of train-model by the number of sentence pairs: seconds and peak memory, without word alignment.

    python -m benchmarks.speed.learning.model_size SOURCE TARGET ALIGNMENT [--pairs 25000 100000 400000 1000000]

The corpus is repeated as often as needed. In each copy but the first, a tenth of the words on each side are replaced by
other words, the same ones throughout the copy, so that vocabulary and phrases grow with the corpus as in real text.
"""

import argparse
import sys
import tempfile
import zlib
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from benchmarks.measure import PHRASEBEAM, directory_bytes, megabytes, run, table

CHANGED = 10  # one of this many words is replaced


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs=3, help="source, target, and their word alignment")
    parser.add_argument("--pairs", type=int, nargs="+", default=[25_000, 100_000, 400_000, 1_000_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="4G", help="bound given to train-model")
    arguments = parser.parse_args()
    rows = [["sentence pairs", "s", "processor s", "processor us a pair", "peak memory", "model on disk"]]
    for n in arguments.pairs:
        with tempfile.TemporaryDirectory() as directory:
            rows.append(measure(arguments, n, Path(directory)))
        print(" ".join(rows[-1]), file=sys.stderr)
    print(table(rows))


def measure(arguments: argparse.Namespace, n: int, directory: Path) -> list[str]:
    """One row of the table."""
    names = ("source", "target", "alignment")
    for name, path in zip(names, arguments.corpus):
        with open(directory / name, "w", encoding="utf-8") as file:
            file.writelines(islice(varied(path, name != "alignment"), n))
    files = [part for name in names for part in (f"--{name}", f"{directory / name}")]
    limits = ["--threads", f"{arguments.threads}", "--memory", arguments.memory]
    found = run([*PHRASEBEAM, "train-model", *files, *limits, "--output", f"{directory / 'model'}", "--quiet"])
    size = directory_bytes(directory / "model")
    times = (f"{found.seconds:.1f}", f"{found.processor_seconds:.1f}", f"{found.processor_seconds / n * 1e6:.0f}")
    return [f"{n:,}", *times, megabytes(found.peak_bytes), megabytes(size)]


def varied(path: Path, has_words: bool) -> Iterator[str]:
    """The lines of a file, and then changed copies of them without end."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for copy in count():
        for line in lines:
            yield " ".join(_word(word, copy) for word in line.split()) + "\n" if has_words else f"{line}\n"


def _word(word: str, copy: int) -> str:
    is_changed = copy > 0 and zlib.crc32(f"{word} {copy}".encode()) % CHANGED == 0
    return f"{word}~{copy}" if is_changed else word


if __name__ == "__main__":
    main()
