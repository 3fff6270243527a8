"""The cost of one very long sentence pair in `train-model`: processor seconds and peak memory by number of words.

    python -m benchmarks.speed.long_pairs [--words 500 1000 2000 4000 8000]

The text has 120 sentence pairs of the generated corpus, and one pair with a single word repeated on either side. With
few pairs eflomal goes over the text many times, so this is the worst case.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.measure import PHRASEBEAM, megabytes, run, table

SENTENCES = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", nargs="+", type=int, default=[500, 1000, 2000, 4000, 8000])
    words = parser.parse_args().words
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([*PHRASEBEAM, "demo-corpus", "--sentences", str(SENTENCES), "--output", str(folder / "short")])
        train(folder, 0)  # compiles kernels
        shortest, rows = train(folder, 0), [["words of the long pair", "processor seconds more", "peak memory"]]
        for n in words:
            longer = train(folder, n)
            more = longer.processor_seconds - shortest.processor_seconds
            rows.append([f"{n:,}", f"{more:.1f}", megabytes(longer.peak_bytes)])
    print(table(rows))


def train(folder: Path, n_words: int):
    """The run of train-model with a pair of `n_words` words added, or without it (0)."""
    sides = {"source": "de", "target": "en"}
    for side, language in sides.items():
        text = (folder / f"short.{language}").read_text()
        (folder / side).write_text(text + (f"{' '.join(['wort'] * n_words)}\n" if n_words else ""))
    options = [f"--{side}={folder / side}" for side in sides]
    return run([*PHRASEBEAM, "train-model", *options, f"--output={folder / 'model'}", "--force"])


if __name__ == "__main__":
    main()
