"""Whether a folder has the corpora that the experiments read: python -m phrasebeam.check_data DATA [--corpus NAME ...]

For each corpus it says which files are missing, which sides or alignments differ in their numbers of lines, and which
text is not as the published figures need it: tokens with spaces between them, in lower case. The exit status is 1 if
anything is wrong. docs/experiments/data.md says where the corpora come from.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.files import read_lines
from phrasebeam.console.tables import print_table


class MeasuredCorpus(NamedTuple):
    """Languages and names of the files of a corpus; one whose test is "" has no test set of its own."""

    source: str
    target: str
    test: str
    development: str


CORPORA = {
    "multi30k": MeasuredCorpus("de", "en", "test_2016_flickr", "val"),
    "ted": MeasuredCorpus("de", "en", "devtest", "dev"),
    "tanaka": MeasuredCorpus("ja", "en", "", "dev"),
}

PAIRS = {"multi30k": (29_000, 1_014, 1_000), "ted": (25_546, 1_000, 1_500), "tanaka": (50_000, 500, 0)}
SAMPLE = 1000  # lines whose tokens are checked
FEWEST_TOKENIZED = 0.9  # share of the lines ending in a sign that must have a space before it
SIGNS = (".", "?", "!", "\u3002", "\uff1f")  # the last two are Japanese


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    given = parser.parse_args()
    rows, is_sound = [["Corpus", "Training", "Development", "Test", "Found"]], True
    for name in given.corpus:
        findings = list(problems(given.data / name, name, CORPORA[name]))
        is_sound &= not findings
        rows.append([name, *(f"{n:,}" if n else "-" for n in PAIRS[name]), "; ".join(findings) or "as expected"])
    print_table(rows)
    sys.exit(not is_sound)


def problems(folder: Path, name: str, corpus: MeasuredCorpus) -> Iterator[str]:
    """The problems with the files of a corpus, one phrase for each."""
    parts = zip(("train", corpus.development, corpus.test), PAIRS[name])
    for part, expected in ((part, expected) for part, expected in parts if part):
        paths = [folder / f"{part}.{language}" for language in (corpus.source, corpus.target)]
        missing = [path.name for path in paths if not path.exists()]
        if missing:
            yield f"no {' and no '.join(missing)}"
            continue
        counts = [sum(1 for _ in read_lines(path)) for path in paths]
        if counts[0] != counts[1]:
            yield f"{paths[0].name} has {counts[0]:,} lines, {paths[1].name} {counts[1]:,}"
        elif counts[0] != expected:
            yield f"{part} has {counts[0]:,} pairs, the published figures are of {expected:,}"
        yield from (f"{path.name} {found}" for path in paths for found in untokenized(path))
    yield from _wrong_alignment(folder, corpus)


def untokenized(path: Path) -> Iterator[str]:
    """Signs that the first lines of a file are not tokens in lower case, one phrase for each."""
    lines = [line for line in islice(read_lines(path), SAMPLE) if line.strip()]
    ended = [line.rstrip() for line in lines if line.rstrip().endswith(SIGNS)]
    apart = sum(line[-2:-1] == " " for line in ended)
    if ended and apart < FEWEST_TOKENIZED * len(ended):
        yield f"has no space before the last sign in {len(ended) - apart} of {len(ended)} lines: tokenize it"
    n_capitals = sum(line != line.lower() for line in lines)
    if n_capitals > (1 - FEWEST_TOKENIZED) * len(lines):
        yield f"has capital letters in {n_capitals} of {len(lines)} lines: lower-case it"


def _wrong_alignment(folder: Path, corpus: MeasuredCorpus) -> Iterator[str]:
    path, source = folder / f"train.align.{corpus.source}-{corpus.target}", folder / f"train.{corpus.source}"
    if not path.exists():
        yield f"no {path.name}"
    elif source.exists() and (n := sum(1 for _ in read_lines(path))) != (m := sum(1 for _ in read_lines(source))):
        yield f"{path.name} has {n:,} lines, {source.name} {m:,}"


if __name__ == "__main__":
    main()
